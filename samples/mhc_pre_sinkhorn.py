"""Calls aclnnMhcPreSinkhorn for bs 2, seq_len 128, n 4, c 4096 in BF16 and checks the eight outputs.

    python mhc_pre_sinkhorn.py                    prints a summary; exit code 1 if an output is wrong
    python mhc_pre_sinkhorn.py --digest           prints a line per output, as c/mhc_pre_sinkhorn.cpp does
    python mhc_pre_sinkhorn.py --save-input FILE  also keeps the inputs; both programs read --input FILE

FILE holds the raw little-endian values of x (bfloat16), phi, alpha and bias (float32), one after the other,
without a header.
"""

import argparse
import sys
import time
from pathlib import Path

import ml_dtypes
import numpy as np

import aclnn_py as aclnn
from aclnn_py.reference import mhc_pre_sinkhorn as reference
from aclnn_py.testing import check_mhc_pre_sinkhorn

BS, SEQ_LEN, N, C = 2, 128, 4, 4096
MIX = N * N + 2 * N
NUM_ITERS = 20
HC_EPS = NORM_EPS = 1e-6
F32, BF16 = np.dtype("<f4"), np.dtype(ml_dtypes.bfloat16)

INPUTS = {
    "x": ((BS, SEQ_LEN, N, C), BF16),
    "phi": ((MIX, N * C), F32),
    "alpha": ((3,), F32),
    "bias": ((MIX,), F32),
}
OUTPUTS = {
    "hin": ((BS, SEQ_LEN, C), BF16),
    "hPost": ((BS, SEQ_LEN, N), F32),
    "hRes": ((BS, SEQ_LEN, N * N), F32),
    "hPre": ((BS, SEQ_LEN, N), F32),
    "hcBeforeNorm": ((BS, SEQ_LEN, MIX), F32),
    "invRms": ((BS, SEQ_LEN, 1), F32),
    "sumOut": ((2 * NUM_ITERS, BS, SEQ_LEN, N), F32),
    "normOut": ((2 * NUM_ITERS, BS, SEQ_LEN, N, N), F32),
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
    (x_shape, _), (phi_shape, _), (alpha_shape, _), (bias_shape, _) = INPUTS.values()
    # Four uniform numbers add up to nearly a normal one; 37837 is the standard deviation of the sum.
    sums = mixed(0, int(np.prod(x_shape))).view(np.uint16).reshape(-1, 4).sum(axis=1, dtype=np.uint64)
    x = (sums.astype(F32) - F32.type(131070)) / F32.type(37837)
    return (
        x.astype(BF16).reshape(x_shape),
        uniform(1, phi_shape) / F32.type(128),  # 1 / sqrt(n * c)
        1 + uniform(2, alpha_shape) / 2,
        uniform(3, bias_shape),
    )


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
    parser.add_argument("--input", type=Path, metavar="FILE", help="read the inputs instead of making them")
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

    inputs = read_input(options.input) if options.input else make_input()
    if options.save_input:
        options.save_input.write_bytes(b"".join(array.tobytes() for array in inputs))

    tensors = [aclnn.tensor(array) for array in inputs]
    outputs = {name: aclnn.empty(shape, dtype) for name, (shape, dtype) in OUTPUTS.items()}
    op = aclnn.op("aclnnMhcPreSinkhorn")

    def call():
        op(*tensors, N, NUM_ITERS, HC_EPS, NORM_EPS, True, *outputs.values())
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
    report = check_mhc_pre_sinkhorn(
        list(results.values()),
        reference(*inputs, num_iters=NUM_ITERS, hc_eps=HC_EPS, norm_eps=NORM_EPS, need_backward=True),
    )
    print(f"\n{'output':14}{'shape':22}{'max abs error':>15}{'max rel error':>15}")
    for (name, array), found in zip(results.items(), report, strict=True):
        verdict = "" if found.passed else f"  {found.bad} of {found.size} outside the tolerance"
        print(f"{name:14}{list(array.shape)!s:22}{found.max_abs:15.2e}{found.max_rel:15.2e}{verdict}")
    matrix = results["hRes"].reshape(-1, N, N)
    for what, axis in (("row", 2), ("column", 1)):
        sums = matrix.sum(axis)
        print(f"hRes {what} sums {sums.min():.7f} to {sums.max():.7f}")
    if not all(found.passed for found in report):
        sys.exit(1)


if __name__ == "__main__":
    main()
