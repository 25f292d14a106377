"""Calls aclnnMhcPreV2 for T 2048, n 4, D 2560 in FP16 and HF32 mode and checks the six outputs.

    python mhc_pre_v2.py                    prints a summary; exit code 1 if an output is wrong
    python mhc_pre_v2.py --v1               calls aclnnMhcPre, the first version, which multiplies in FP32
    python mhc_pre_v2.py --ones             all inputs 1, as the published example of the operator means to
    python mhc_pre_v2.py --digest           prints a line per output, as c/mhc_pre_v2.cpp does
    python mhc_pre_v2.py --save-input FILE  also keeps the inputs; both programs read --input FILE

FILE holds the raw little-endian values of x (float16), phi, alpha, bias and gamma (float32), one after the
other, without a header. HF32 needs an Ascend 950: the emulator is one unless ACLEMU_SOC says otherwise.
"""

import argparse
import os
import sys
import time
from pathlib import Path

import numpy as np

import aclnn_py as aclnn
from aclnn_py.reference import mhc_pre as reference
from aclnn_py.testing import check_mhc_pre

T, N, D = 2048, 4, 2560
ROWS = N * N + 2 * N  # of phi
HF32 = 1
NORM_EPS = HC_EPS = 1e-6
F16, F32 = np.dtype("<f2"), np.dtype("<f4")

INPUTS = {
    "x": ((T, N, D), F16),
    "phi": ((ROWS, N * D), F32),
    "alpha": ((3,), F32),
    "bias": ((ROWS,), F32),
    "gamma": ((N, D), F32),
}
OUTPUTS = {
    "hIn": ((T, D), F16),
    "hPost": ((T, N), F32),
    "hRes": ((T, N, N), F32),
    "invRms": ((T,), F32),
    "hMix": ((T, ROWS), F32),
    "hPre": ((T, N), F32),
}


def mixed(which, count):
    """64 well mixed bits for each element of input number `which`, the same in C++."""
    z = (np.arange(1, count + 1, dtype=np.uint64) + np.uint64(which << 40)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def uniform(which, shape):
    """In [-1, 1), exact in float32."""
    bits = mixed(which, int(np.prod(shape))) >> np.uint64(40)
    return (bits.astype(F32) / F32.type(2**23) - F32.type(1)).reshape(shape)


def make_input():
    (x_shape, _), (phi_shape, _), (alpha_shape, _), (bias_shape, _), (gamma_shape, _) = INPUTS.values()
    # Four uniform numbers add up to nearly a normal one; 37837 is the standard deviation of the sum.
    sums = mixed(0, int(np.prod(x_shape))).view(np.uint16).reshape(-1, 4).sum(axis=1, dtype=np.uint64)
    x = (sums.astype(F32) - F32.type(131070)) / F32.type(37837)
    return (
        x.astype(F16).reshape(x_shape),
        uniform(1, phi_shape) / F32.type(128),
        1 + uniform(2, alpha_shape) / 2,
        uniform(3, bias_shape),
        1 + uniform(4, gamma_shape) / 2,
    )


def make_ones():
    return tuple(np.ones(shape, dtype) for shape, dtype in INPUTS.values())


def read_input(path):
    data = path.read_bytes()
    sizes = [int(np.prod(shape)) * dtype.itemsize for shape, dtype in INPUTS.values()]
    if len(data) != sum(sizes):
        sys.exit(f"{path} must hold exactly {sum(sizes)} bytes, it has {len(data)}")
    offsets = np.cumsum([0, *sizes])
    return tuple(
        np.frombuffer(data, dtype, int(np.prod(shape)), int(start)).reshape(shape)
        for (shape, dtype), start in zip(INPUTS.values(), offsets, strict=False)
    )


def digest(name, array, first):
    """One line: name, shape, the first values, and the float64 sum of all in order."""
    values = array.astype(np.float64).ravel()
    shown = "".join(f" {value:.9g}" for value in values[:first])
    return f"{name} {list(array.shape)}{shown} sum {np.cumsum(values)[-1]:.17g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--v1", action="store_true", help="call aclnnMhcPre, which has no HF32 mode")
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--input", type=Path, metavar="FILE", help="read the inputs instead of making them")
    source.add_argument("--ones", action="store_true", help="all inputs 1")
    parser.add_argument("--save-input", type=Path, metavar="FILE", help="write the inputs")
    parser.add_argument(
        "--digest", action="store_true", help="print a line per output instead of the summary"
    )
    parser.add_argument(
        "--print", type=int, default=4, metavar="N", help="values per digest line (default 4)"
    )
    options = parser.parse_args()
    if options.print < 0:
        parser.error("--print must not be negative")

    os.environ.setdefault("ACLEMU_SOC", "Ascend950PR_9579")  # for the emulator; a device does not look
    inputs = make_ones() if options.ones else read_input(options.input) if options.input else make_input()
    if options.save_input:
        options.save_input.write_bytes(b"".join(array.tobytes() for array in inputs))

    tensors = [aclnn.tensor(array) for array in inputs]
    outputs = {name: aclnn.empty(shape, dtype) for name, (shape, dtype) in OUTPUTS.items()}
    op = aclnn.op("aclnnMhcPre" if options.v1 else "aclnnMhcPreV2")
    attributes = (NORM_EPS, HC_EPS) if options.v1 else (NORM_EPS, HC_EPS, HF32)

    def call():
        op(*tensors, *attributes, *outputs.values())
        aclnn.synchronize()

    call()
    results = {name: tensor.numpy() for name, tensor in outputs.items()}
    if options.digest:
        for name, array in results.items():
            print(digest(name, array, options.print))
        return

    times = []
    for _ in range(5):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)

    print(aclnn.info())
    print(f"x {list(inputs[0].shape)} {inputs[0].dtype}, a warm call takes {np.median(times) * 1e3:.1f} ms")
    mode = 0 if options.v1 else HF32
    expected = reference(*inputs, norm_eps=NORM_EPS, hc_eps=HC_EPS, op_impl_mode=mode, need_optional=True)
    report = check_mhc_pre(list(results.values()), expected, hf32=mode == HF32)
    print(f"\n{'output':14}{'shape':22}{'max abs error':>15}{'max rel error':>15}")
    for (name, array), found in zip(results.items(), report, strict=True):
        verdict = "" if found.passed else f"  {found.bad} of {found.size} outside the tolerance"
        print(f"{name:14}{list(array.shape)!s:22}{found.max_abs:15.2e}{found.max_rel:15.2e}{verdict}")
    if not all(found.passed for found in report):
        sys.exit(1)


if __name__ == "__main__":
    main()
