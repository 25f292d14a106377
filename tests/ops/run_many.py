"""Calls MhcPreSinkhorn many times, telling every 2000 what is alive: run_many.py EMULATOR_ROOT TIMES

In a process of its own, where nothing else grows or shrinks.
"""

import ctypes
import gc
import json
import os
import sys
from pathlib import Path

import numpy as np

import aclnn_py as aclnn
from aclnn_py.testing import cases

root, times = Path(sys.argv[1]), int(sys.argv[2])
live_objects = ctypes.CDLL(str(root / "lib64" / "libascendcl.so")).aclemuLiveObjects
live_objects.argtypes, live_objects.restype = [ctypes.c_char_p], ctypes.c_int64
inputs = [aclnn.tensor(array) for array in cases.random_case((1, 2), 128, np.float16)]


for done in range(1, times + 1):
    aclnn.ops.mhc_pre_sinkhorn(*inputs, need_backward=True)
    if done % 100 == 0:  # else how far the calls run ahead of the stream decides what is resident
        aclnn.synchronize()
    if done % 2000:
        continue
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    kinds = ("tensor", "executor", "stream", "context", "device_memory")
    objects = {kind: live_objects(kind.encode()) for kind in kinds}
    print(json.dumps({"resident": pages * os.sysconf("SC_PAGE_SIZE"), "objects": objects}))
