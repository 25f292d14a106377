"""Runs the small HcPre operators, compares with the reference and saves all results: hc_parts_case.py OUT.npz

The emulator reads its environment once per process, so a test of that environment needs a process for each
setting.
"""

import itertools
import sys

import ml_dtypes
import numpy as np

import aclnn_py as aclnn
from aclnn_py import reference
from aclnn_py.testing import compare

DTYPES = (np.float32, np.float16, ml_dtypes.bfloat16)


def saved(array):
    return array.view(np.uint16) if array.itemsize == 2 else array  # np.savez does not know bfloat16


def main(path):
    rng = np.random.default_rng(9)
    results = {}

    def keep(name, tensors, expected, rtol, atol):
        for part, (tensor, wanted) in enumerate(zip(tensors, expected, strict=True)):
            array = tensor.numpy()
            found = compare(array, wanted, rtol, atol, ulps=1 if array.itemsize == 2 else 0)
            assert found.passed, f"{name} {part}: {found}"
            results[f"{name} {part}"] = saved(array)

    for tokens, d in ((1, 4096), (3, 7168), (33, 100), (130, 64)):
        for dtype in DTYPES:
            x = rng.uniform(-1, 1, (tokens, 4, d)).astype(dtype)
            expected = reference.hc_pre_inv_rms(x, dtype=np.float64)
            keep(
                f"inv_rms {tokens} {d} {np.dtype(dtype)}", [aclnn.ops.hc_pre_inv_rms(x)], [expected], 1e-5, 0
            )
        shapes = ((tokens, 24), (tokens, 1), (3,), (24,))
        case = [rng.uniform(-2, 2, s).astype(np.float32) for s in shapes]
        case.append(rng.uniform(-2, 2, (tokens, 4, d)).astype(ml_dtypes.bfloat16))
        expected = reference.hc_pre_sinkhorn(*case, dtype=np.float64)
        keep(f"sinkhorn {tokens} {d}", aclnn.ops.hc_pre_sinkhorn(*case), expected, 1e-5, 1e-5)
    for (tokens, d), x_dtype, post_dtype in itertools.product(((2, 4096), (130, 60)), DTYPES, DTYPES):
        case = [rng.uniform(-10, 10, s).astype(x_dtype) for s in ((tokens, d), (tokens, 4, d))]
        case += [rng.uniform(-10, 10, s).astype(post_dtype) for s in ((tokens, 4), (tokens, 4, 4))]
        expected = reference.hc_post(*case, dtype=np.float64)
        name = f"post {tokens} {d} {np.dtype(x_dtype)} {np.dtype(post_dtype)}"
        keep(name, [aclnn.ops.hc_post(*case)], [expected], 0, 1e-3)
    np.savez(path, soc=np.array(aclnn.info().soc), **results)


if __name__ == "__main__":
    main(sys.argv[1])
