"""Runs a few cases of MhcPreV2 on the SoC of this process, checks them and prints a digest of their bits."""

import hashlib
import os

import ml_dtypes
import numpy as np

import aclnn_py as aclnn
from aclnn_py.reference import mhc_pre as reference
from aclnn_py.testing import check_mhc_pre
from aclnn_py.testing.mhc_pre import mhc_pre_case

ON_950 = "950" in os.environ.get("ACLEMU_SOC", "")

for n in (4, 6, 8) if ON_950 else (4,):
    for tokens in (1, 3, 130):
        for key in (0, 1):
            os.environ["ACLEMU_TILING_KEY"] = str(key)
            dtype = (np.float16, ml_dtypes.bfloat16)[(tokens + key) % 2]
            case = mhc_pre_case((tokens,), 144 if ON_950 else 256, dtype, n=n, scales=2 + tokens % 2, seed=n)
            mode = int(ON_950 and tokens > 1)
            results = [
                tensor and tensor.numpy()
                for tensor in aclnn.ops.mhc_pre_v2(*case, op_impl_mode=mode, need_optional=True)
            ]
            report = check_mhc_pre(results, reference(*case, op_impl_mode=mode, need_optional=True))
            assert all(found.passed for found in report), "\n".join(map(str, report))
            bits = b"".join(a.tobytes() for a in results if a is not None)
            print(f"n {n} T {tokens} key {key} {hashlib.sha256(bits).hexdigest()}")
