"""Runs MhcPreSinkhornBackward and prints a digest of each result's bytes.

The emulator reads its environment once per process, so a test of that environment needs a process for each
setting.
"""

import hashlib
import os

import ml_dtypes
import numpy as np

import aclnn_py as aclnn
from aclnn_py.testing import backward_case, cases

for tokens, tail, key in ((1, 128, 1), (5, 384, 0), (130, 256, 0), (130, 256, 1)):
    os.environ["ACLEMU_TILING_KEY"] = str(key)
    for dtype in (np.float16, ml_dtypes.bfloat16):
        case = backward_case(cases.random_case((1, tokens), tail, dtype, seed=tokens))
        for _ in range(2):  # and again: results repeat bit for bit
            for name, tensor in aclnn.ops.mhc_pre_sinkhorn_backward(*case)._asdict().items():
                digest = hashlib.sha256(tensor.numpy().tobytes()).hexdigest()
                print(tokens, tail, key, np.dtype(dtype), name, digest)
