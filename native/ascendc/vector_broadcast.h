// Brcb.
#pragma once

#include "vector_walk.h"

ASCENDC_BEGIN

struct BrcbRepeatParams {
    BrcbRepeatParams() {}
    BrcbRepeatParams(const uint16_t dstBlkStrideIn, const uint16_t dstRepStrideIn)
        : dstBlkStride(dstBlkStrideIn), dstRepStride(dstRepStrideIn)
    {
    }
    uint32_t blockNumber = DEFAULT_BLK_NUM;
    uint16_t dstBlkStride = DEFAULT_BLK_STRIDE;
    uint16_t dstRepStride = DEFAULT_REPEAT_STRIDE;
};

// Each repeat takes the next 8 elements and fills one block of 32 bytes with each.
template <typename T>
inline void Brcb(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const RepeatTimes repeatTimes,
                 const BrcbRepeatParams &repeatParams)
{
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "Brcb does not exist for this dtype");
    NeedVectorCore("Brcb");
    const uint32_t repeats = repeatTimes.Get("Brcb");
    if (repeats == 0) {
        return;
    }
    constexpr uint32_t perBlock = kBlockBytes / sizeof(T);
    const uint64_t blockStride = repeatParams.dstBlkStride == 0 ? 1 : repeatParams.dstBlkStride;
    const uint64_t extent = (uint64_t{repeats - 1} * repeatParams.dstRepStride + (kBlocksPerRepeat - 1) * blockStride + 1) * kBlockBytes;
    const T *from = src0.Use(Memory::UB, uint64_t{repeats} * kBlocksPerRepeat * sizeof(T), kBlockBytes, "Brcb", "src0");
    T *to = dst.Use(Memory::UB, extent, kBlockBytes, "Brcb", "dst");
    for (uint32_t repeat = 0; repeat < repeats; ++repeat) {
        for (uint32_t block = 0; block < kBlocksPerRepeat; ++block) {
            const T value = from[repeat * kBlocksPerRepeat + block];
            T *out = to + (uint64_t{repeat} * repeatParams.dstRepStride + block * blockStride) * perBlock;
            for (uint32_t i = 0; i < perBlock; ++i) {
                out[i] = value;
            }
        }
    }
}

ASCENDC_END
