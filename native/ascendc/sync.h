// Core identity, pipes, events, cross-core flags.
//
// A core runs its program in order, so pipe barriers and events have nothing to do; what would hang the chip is still refused.
#pragma once

#include "base.h"

// True on a cube or vector core. In CANN these expand so that `if ASCEND_IS_AIC {` works without parentheses.
#define ASCEND_IS_AIC (::AscendC::ThisCore().aic != 0)
#define ASCEND_IS_AIV (::AscendC::ThisCore().aic == 0)
#define ASCEND_IS_NOT_AIC (::AscendC::ThisCore().aic == 0)
#define ASCEND_IS_NOT_AIV (::AscendC::ThisCore().aic != 0)

ASCENDC_BEGIN

inline int64_t GetBlockIdx()
{
    return ThisCore().blockIdx;
}
inline int64_t GetBlockNum()
{
    return ThisCore().blockNum;
}
inline int64_t GetSubBlockIdx()
{
    return ThisCore().subBlock;
}
inline int64_t GetTaskRation()
{
    return ThisCore().ratio;
}
inline int64_t GetSubBlockNum()
{
    return ThisCore().aic != 0 ? 1 : ThisCore().ratio;
}

template <pipe_t pipe>
inline void PipeBarrier()
{
    if constexpr (pipe == PIPE_S) {
        if (ThisCore().npuArch == 2201) {
            ::ascendc::Fail("PipeBarrier: PIPE_S is not allowed on this chip");
        }
    }
}

template <HardEvent event>
inline void SetFlag(int32_t eventID)
{
    if (ASCENDC_UNLIKELY(eventID < 0 || eventID >= static_cast<int32_t>(::ascendc::kEventIds))) {
        ::ascendc::Fail("SetFlag: event id %d does not exist, there are 0 to %u", eventID, ::ascendc::kEventIds - 1);
    }
    uint8_t &set = ThisCore().eventSet[static_cast<uint32_t>(event)][eventID];
    set = set == 255 ? set : static_cast<uint8_t>(set + 1);
}

template <HardEvent event>
inline void WaitFlag(int32_t eventID)
{
    if (ASCENDC_UNLIKELY(eventID < 0 || eventID >= static_cast<int32_t>(::ascendc::kEventIds))) {
        ::ascendc::Fail("WaitFlag: event id %d does not exist, there are 0 to %u", eventID, ::ascendc::kEventIds - 1);
    }
    uint8_t &set = ThisCore().eventSet[static_cast<uint32_t>(event)][eventID];
    if (ASCENDC_UNLIKELY(set == 0)) {
        if (ThisCore().unwinding != 0) {
            return;
        }
        ::ascendc::FailTimeout("WaitFlag: event id %d of HardEvent %u was never set: the core would wait for ever", eventID,
                               static_cast<uint32_t>(event));
    }
    --set;
}

template <MemDsbT arg0>
inline void DataSyncBarrier()
{
}

template <uint8_t modeId, pipe_t pipe>
inline void CrossCoreSetFlag(uint16_t flagId)
{
    ::ascendc::SetCrossCoreFlag(modeId, flagId);
}

template <uint8_t modeId = 0, pipe_t pipe = PIPE_S>
inline void CrossCoreWaitFlag(uint16_t flagId)
{
    ::ascendc::WaitCrossCoreFlag(modeId, flagId);
}

// SyncAll is made of cross-core flags, as on the chip, so it takes these ids from the kernel.
constexpr uint16_t SYNC_AIC_FLAG = 11;
constexpr uint16_t SYNC_AIV_FLAG = 12;
constexpr uint16_t SYNC_AIC_AIV_FLAG = 13;
constexpr uint16_t SYNC_AIV_ONLY_ALL = 14;

// isAIVOnly: all cores of this kind meet; else all AIC and AIV cores of a MIX kernel do.
template <bool isAIVOnly = true>
inline void SyncAll()
{
    if constexpr (isAIVOnly) {
        CrossCoreSetFlag<0, PIPE_MTE3>(SYNC_AIV_ONLY_ALL);
        CrossCoreWaitFlag<0>(SYNC_AIV_ONLY_ALL);
    } else {
        if ASCEND_IS_AIC {
            CrossCoreWaitFlag<2>(SYNC_AIV_FLAG);
            CrossCoreSetFlag<0, PIPE_FIX>(SYNC_AIC_FLAG);
            CrossCoreWaitFlag<0>(SYNC_AIC_FLAG);
            CrossCoreSetFlag<2, PIPE_MTE3>(SYNC_AIC_AIV_FLAG);
        } else {
            CrossCoreSetFlag<2, PIPE_MTE3>(SYNC_AIV_FLAG);
            CrossCoreWaitFlag<2>(SYNC_AIC_AIV_FLAG);
        }
    }
}

ASCENDC_END
