"""A worker thread that talks to the runtime on its own, as a C extension would."""

import ctypes
from concurrent.futures import ThreadPoolExecutor

import aclnn_py as aclnn
from aclnn_py.status import check

aclnn.Device(0).use()
runtime = ctypes.CDLL(str(aclnn.which("aclrtMalloc").library))


def take(size: int) -> int:
    address = ctypes.c_void_p()
    check(runtime.aclrtMalloc(ctypes.byref(address), ctypes.c_size_t(size), 0), "aclrtMalloc")
    check(runtime.aclrtFree(address), "aclrtFree")
    return size


with ThreadPoolExecutor(2) as pool:
    print(list(pool.map(take, (1024, 4096))))
