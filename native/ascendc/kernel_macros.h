// Tiling and entry macros. On the device the operator compiler generates these.
#pragma once

#include "sync.h"

#define TILING_KEY_VAR (::AscendC::ThisCore().tilingKey)
#define TILING_KEY_IS(k) (TILING_KEY_VAR == static_cast<uint64_t>(k))

#define REGISTER_TILING_DEFAULT(tilingStruct) using AscendCDefaultTiling [[maybe_unused]] = tilingStruct
#define REGISTER_TILING_FOR_TILINGKEY(expression, tilingStruct) using AscendCKeyTiling [[maybe_unused]] = tilingStruct

// A copy of the tiling struct; `tiling` points to it in global memory.
#define GET_TILING_DATA_WITH_STRUCT(tilingStruct, tilingData, tiling) \
    tilingStruct tilingData;                                          \
    ::AscendC::CopyTiling(&tilingData, tiling, sizeof(tilingStruct))
#define GET_TILING_DATA(tilingData, tiling) GET_TILING_DATA_WITH_STRUCT(AscendCDefaultTiling, tilingData, tiling)

#define KERNEL_TASK_TYPE_DEFAULT(type) static_assert(::AscendC::type <= ::AscendC::KERNEL_TYPE_MAX)
#define KERNEL_TASK_TYPE(key, type) static_assert(::AscendC::type <= ::AscendC::KERNEL_TYPE_MAX)

#define g_coreType (::AscendC::ThisCore().aic != 0 ? ::AscendC::AIC : ::AscendC::AIV)

ASCENDC_BEGIN

constexpr int32_t MIX = 0;
constexpr int32_t AIC = 1;
constexpr int32_t AIV = 2;

enum KernelMetaType {
    KERNEL_TYPE_AIV_ONLY, KERNEL_TYPE_AIC_ONLY, KERNEL_TYPE_MIX_AIV_HARD_SYNC, KERNEL_TYPE_MIX_AIC_HARD_SYNC,
    KERNEL_TYPE_MIX_AIV_1_0, KERNEL_TYPE_MIX_AIC_1_0, KERNEL_TYPE_MIX_AIC_1_1, KERNEL_TYPE_MIX_AIC_1_2, KERNEL_TYPE_AICORE,
    KERNEL_TYPE_VECTORCORE, KERNEL_TYPE_MIX_AICORE, KERNEL_TYPE_MIX_VECTOR_CORE, KERNEL_TYPE_MAX,
};

inline void CopyTiling(void *target, const uint8_t *tiling, size_t bytes)
{
    if (ASCENDC_UNLIKELY(tiling == nullptr)) {
        ::ascendc::Fail("GET_TILING_DATA: the tiling pointer is null");
    }
    __builtin_memcpy(target, tiling, bytes);
}

// The part of the workspace that belongs to the kernel. The twin keeps nothing in front of it.
inline __gm__ uint8_t *GetUserWorkspace(GM_ADDR workspace)
{
    return workspace;
}
inline __gm__ uint8_t *GetSysWorkSpacePtr()
{
    return ThisCore().sysWorkspace;
}
inline void SetSysWorkSpacePtr(__gm__ uint8_t *workspace)
{
    ThisCore().sysWorkspace = workspace;
}
inline void SetSysWorkspace(GM_ADDR workspace)
{
    if (ThisCore().sysWorkspace == nullptr) {
        ThisCore().sysWorkspace = workspace;
    }
}

ASCENDC_END

using AscendC::GetSysWorkSpacePtr;
using AscendC::SetSysWorkSpacePtr;
