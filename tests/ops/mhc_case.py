"""Runs MhcPost, MhcPostBackward and MhcSinkhorn and prints a digest of each result's bytes.

The emulator reads its environment once per process, so a test of that environment needs a process for each
setting.
"""

import hashlib
import os

import ml_dtypes
import numpy as np

import aclnn_py as aclnn

rng = np.random.default_rng(4)
results = {}
for tokens, tail in ((1, 128), (5, 2560), (41, 256), (333, 128)):
    x = rng.standard_normal((tokens, 4, tail), np.float32).astype(ml_dtypes.bfloat16)
    case = (
        rng.standard_normal((tokens, 4, 4), np.float32),
        rng.standard_normal((tokens, tail), np.float32).astype(ml_dtypes.bfloat16),
        rng.standard_normal((tokens, 4), np.float32),
    )
    results[f"post {tokens}"] = aclnn.ops.mhc_post(x, *case)
    for name, tensor in aclnn.ops.mhc_post_backward(x, x, *case)._asdict().items():
        results[f"{name} {tokens}"] = tensor
    if "950" in os.environ.get("ACLEMU_SOC", ""):
        for name, tensor in aclnn.ops.mhc_sinkhorn(case[0], need_backward=True)._asdict().items():
            results[f"{name} {tokens}"] = tensor
for name, tensor in results.items():
    print(name, hashlib.sha256(tensor.numpy().tobytes()).hexdigest())
