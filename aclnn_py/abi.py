"""The one table of the ACL functions that the package calls: library, header, result and argument types.

Facts, not policy: every function has `restype` and `argtypes`, so a 64-bit handle can never pass as a C int.
`acl.<name>` binds a function at its first use.
"""

from __future__ import annotations

import re
from ctypes import (
    POINTER,
    c_bool,
    c_char_p,
    c_double,
    c_float,
    c_int,
    c_int8,
    c_int16,
    c_int32,
    c_int64,
    c_size_t,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
)
from typing import Any, NamedTuple

# C types by the names in CANN's headers. Opaque handles are void*; C enums are 32-bit ints there.
BY_VALUE: dict[str, type] = {
    "bool": c_bool,
    "int8_t": c_int8,
    "uint8_t": c_uint8,
    "int16_t": c_int16,
    "uint16_t": c_uint16,
    "int32_t": c_int32,
    "int": c_int,
    "uint32_t": c_uint32,
    "int64_t": c_int64,
    "uint64_t": c_uint64,
    "size_t": c_size_t,
    "float": c_float,
    "double": c_double,
    "aclError": c_int,
    "aclnnStatus": c_int32,
    "aclDataType": c_int,
    "aclFormat": c_int,
    "aclrtMemMallocPolicy": c_int,
    "aclrtMemcpyKind": c_int,
    "aclrtMemAttr": c_int,
    "aclrtContext": c_void_p,
    "aclrtStream": c_void_p,
    "aclrtEvent": c_void_p,
}
_POINTED = {"int32_t", "uint32_t", "uint64_t", "int64_t", "size_t", "float", "bool"}


def ctype(text: str) -> Any:
    """The ctypes type of a C type as the table writes it, None for void. Unknown pointers are void*."""
    words = re.sub(r"\bconst\b|\s", "", text)
    if words == "void":
        return None
    if words == "char*":
        return c_char_p
    if words.endswith("*"):
        pointed = words[:-1]
        if pointed in _POINTED:
            return POINTER(BY_VALUE[pointed])
        if pointed in ("aclrtStreamStatus", "aclrtEventRecordedStatus", "aclDataType", "aclFormat"):
            return POINTER(c_int)
        if pointed.endswith("*") or BY_VALUE.get(pointed) is c_void_p:
            return POINTER(c_void_p)
        return c_void_p
    return BY_VALUE[words]


class Function(NamedTuple):
    """One row: the core library that exports it, the header that declares it, result and argument types."""

    library: str  # "runtime" (libacl_rt.so or libascendcl.so) or "nnopbase"
    header: str
    result: str
    arguments: tuple[str, ...]

    @property
    def restype(self) -> Any:
        return ctype(self.result)

    @property
    def argtypes(self) -> list[Any]:
        return [ctype(a) for a in self.arguments]


_BLOCKS = {
    ("runtime", "acl/acl_rt.h"): """
        aclError aclInit(const char*)
        aclError aclFinalize()
        aclError aclFinalizeReference(uint64_t*)
        const char* aclGetRecentErrMsg()
        aclError aclrtGetVersion(int32_t*, int32_t*, int32_t*)
        aclError aclrtSetDevice(int32_t)
        aclError aclrtResetDevice(int32_t)
        aclError aclrtGetDevice(int32_t*)
        aclError aclrtGetDeviceCount(uint32_t*)
        aclError aclrtCreateStream(aclrtStream*)
        aclError aclrtDestroyStream(aclrtStream)
        aclError aclrtSynchronizeStream(aclrtStream)
        aclError aclrtSynchronizeStreamWithTimeout(aclrtStream, int32_t)
        aclError aclrtStreamQuery(aclrtStream, aclrtStreamStatus*)
        aclError aclrtMalloc(void**, size_t, aclrtMemMallocPolicy)
        aclError aclrtFree(void*)
        aclError aclrtMemcpy(void*, size_t, const void*, size_t, aclrtMemcpyKind)
        aclError aclrtMemset(void*, size_t, int32_t, size_t)
        aclError aclrtMemcpyAsync(void*, size_t, const void*, size_t, aclrtMemcpyKind, aclrtStream)
        aclError aclrtCreateEvent(aclrtEvent*)
        aclError aclrtDestroyEvent(aclrtEvent)
        aclError aclrtRecordEvent(aclrtEvent, aclrtStream)
        aclError aclrtQueryEventStatus(aclrtEvent, aclrtEventRecordedStatus*)
        aclError aclrtSynchronizeEventWithTimeout(aclrtEvent, int32_t)
        aclError aclrtEventElapsedTime(float*, aclrtEvent, aclrtEvent)
        aclError aclrtStreamWaitEvent(aclrtStream, aclrtEvent)
    """,
    ("runtime", "acl/acl_base_rt.h"): """
        const char* aclrtGetSocName()
    """,
    ("nnopbase", "aclnn/acl_meta.h"): """
        aclTensor* aclCreateTensor(const int64_t*, uint64_t, aclDataType, const int64_t*, int64_t, \
            aclFormat, const int64_t*, uint64_t, void*)
        aclScalar* aclCreateScalar(void*, aclDataType)
        aclIntArray* aclCreateIntArray(const int64_t*, uint64_t)
        aclFloatArray* aclCreateFloatArray(const float*, uint64_t)
        aclBoolArray* aclCreateBoolArray(const bool*, uint64_t)
        aclTensorList* aclCreateTensorList(const aclTensor*const*, uint64_t)
        aclScalarList* aclCreateScalarList(const aclScalar*const*, uint64_t)
        aclnnStatus aclDestroyTensor(const aclTensor*)
        aclnnStatus aclDestroyScalar(const aclScalar*)
        aclnnStatus aclDestroyIntArray(const aclIntArray*)
        aclnnStatus aclDestroyFloatArray(const aclFloatArray*)
        aclnnStatus aclDestroyBoolArray(const aclBoolArray*)
        aclnnStatus aclDestroyTensorList(const aclTensorList*)
        aclnnStatus aclDestroyScalarList(const aclScalarList*)
        aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor*)
        aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor*)
        aclnnStatus aclSetRawTensorAddr(aclTensor*, void*)
        aclnnStatus aclSetTensorAddr(aclOpExecutor*, size_t, aclTensor*, void*)
        aclnnStatus AclSetTensorAddr(aclOpExecutor*, size_t, aclTensor*, void*)
        aclnnStatus aclSetDynamicTensorAddr(aclOpExecutor*, size_t, size_t, aclTensorList*, void*)
        aclnnStatus AclSetDynamicTensorAddr(aclOpExecutor*, size_t, size_t, aclTensorList*, void*)
    """,
}


def _read(blocks: dict[tuple[str, str], str]) -> dict[str, Function]:
    found = {}
    for (library, header), text in blocks.items():
        for line in text.split("\n"):
            if not line.strip():
                continue
            left, _, right = line.strip().rstrip(")").partition("(")
            result, _, name = left.rpartition(" ")
            arguments = tuple(a.strip() for a in right.split(",") if a.strip())
            found[name] = Function(library, header, result, arguments)
    return found


FUNCTIONS = _read(_BLOCKS)


class _Acl:
    """The bound functions as attributes. AttributeError for a name outside the table."""

    def __getattr__(self, name: str) -> Any:
        from . import libraries

        row = FUNCTIONS.get(name)
        if row is None:
            raise AttributeError(f"{name} is not in the table of aclnn_py.abi")
        function = libraries.core_function(row.library, name)
        function.restype = row.restype
        function.argtypes = row.argtypes
        setattr(self, name, function)
        return function

    def has(self, name: str) -> bool:
        """Whether the loaded libraries export `name`; older CANN releases lack some functions."""
        from .status import LibraryNotFound

        try:
            getattr(self, name)
        except LibraryNotFound:
            return False
        return True


acl = _Acl()
