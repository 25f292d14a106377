"""What the sample programs share with c/sample.h: inputs that C++ can make as well, and digests."""

import ml_dtypes
import numpy as np

F32, BF16 = np.dtype("<f4"), np.dtype(ml_dtypes.bfloat16)


def mixed(which, count):
    """64 well mixed bits for each element of input number `which`, the same in C++."""
    z = (np.arange(1, count + 1, dtype=np.uint64) + np.uint64(which << 40)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def uniform(which, shape, dtype=F32, scale=1.0):
    """In [-scale, scale), exact in float32 for a power of two, then rounded to `dtype`."""
    bits = mixed(which, int(np.prod(shape))) >> np.uint64(40)
    values = (bits.astype(F32) / F32.type(2**23) - F32.type(1)) * F32.type(scale)
    return values.astype(dtype).reshape(shape)


def digest(name, array, first=4):
    """One line: name, shape, the first values, and the float64 sum of all in order."""
    values = array.astype(np.float64).ravel()
    shown = "".join(f" {value:.9g}" for value in values[:first])
    return f"{name} {list(array.shape)}{shown} sum {np.cumsum(values)[-1]:.17g}"
