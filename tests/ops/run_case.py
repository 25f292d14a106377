"""Runs one MhcPreSinkhorn case and saves its outputs: run_case.py OUT.npz [TOKENS ...]

The emulator reads its environment once per process, so a test of that environment needs a process for each
setting.
"""

import sys

import ml_dtypes
import numpy as np

import aclnn_py as aclnn
from aclnn_py.testing import cases

path, *tokens = sys.argv[1:]
arrays = {}
for count in map(int, tokens):
    for dtype in (np.float16, ml_dtypes.bfloat16):
        case = cases.random_case((1, count), 256, dtype, seed=count)
        result = aclnn.ops.mhc_pre_sinkhorn(*case, need_backward=True)
        for name, tensor in result._asdict().items():
            array = tensor.numpy()
            # np.savez does not know bfloat16.
            bits = array.view(np.uint16) if array.itemsize == 2 else array
            arrays[f"{count} {np.dtype(dtype)} {name}"] = bits
np.savez(path, **arrays)
