// GatherMask: the elements whose bit is set, next to each other.
#pragma once

#include "vector_binary.h"

ASCENDC_BEGIN

struct GatherMaskParams {
    GatherMaskParams() {}
    GatherMaskParams(const uint8_t src0BlockStrideIn, const uint16_t repeatTimesIn, const uint16_t src0RepeatStrideIn,
                     const uint8_t src1RepeatStrideIn)
        : src0BlockStride(src0BlockStrideIn), repeatTimes(repeatTimesIn), src0RepeatStride(src0RepeatStrideIn),
          src1RepeatStride(src1RepeatStrideIn)
    {
    }
    uint8_t src0BlockStride = DEFAULT_BLK_STRIDE;
    uint16_t repeatTimes = 0;
    uint16_t src0RepeatStride = DEFAULT_REPEAT_STRIDE;
    uint8_t src1RepeatStride = DEFAULT_REPEAT_STRIDE;
};

enum class GatherMaskMode : uint8_t { VERSION_V1 = 0, VERSION_V2 = 1 };
constexpr GatherMaskMode defaultGatherMaskMode = GatherMaskMode::VERSION_V1;

// The bits of one repeat start at bit 0 of its part of the pattern.
template <typename T, typename U, GatherMaskMode mode = defaultGatherMaskMode>
inline void GatherMask(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<U> &src1Pattern,
                       const bool reduceMode, const uint32_t mask, const GatherMaskParams &gatherMaskParams, uint64_t &rsvdCnt)
{
    static_assert((sizeof(T) == 2 && std::is_same_v<U, uint16_t>) || (sizeof(T) == 4 && std::is_same_v<U, uint32_t>),
                  "GatherMask takes 16 or 32-bit elements, and a pattern of as many bits, unsigned");
    NeedVectorCore("GatherMask");
    const auto &p = gatherMaskParams;
    constexpr uint32_t perBlock = kBlockBytes / sizeof(T);
    // reduceMode: `mask` elements a repeat; otherwise whole repeats of 256 bytes.
    const uint32_t elements = reduceMode ? mask : ONE_REPEAT_BYTE_SIZE / sizeof(T);
    rsvdCnt = 0;
    if (elements == 0 || p.repeatTimes == 0) {
        return;
    }
    const uint64_t blocks = CeilDiv(elements, perBlock);
    const uint64_t last = uint64_t{p.repeatTimes - 1u};
    const uint64_t srcBytes = (last * p.src0RepeatStride + (blocks - 1) * p.src0BlockStride + 1) * kBlockBytes;
    const uint64_t bitBytes = last * p.src1RepeatStride * kBlockBytes + CeilDiv<uint64_t>(elements, 8 * sizeof(U)) * sizeof(U);
    const T *from = src0.Use(Memory::UB, srcBytes, kBlockBytes, "GatherMask", "src0");
    auto *bits = reinterpret_cast<const uint8_t *>(src1Pattern.Use(Memory::UB, bitBytes, kBlockBytes, "GatherMask", "src1Pattern"));
    const uint64_t room = dst.GetSize();
    T *to = dst.Use(Memory::UB, 0, kBlockBytes, "GatherMask", "dst");
    for (uint32_t repeat = 0; repeat < p.repeatTimes; ++repeat) {
        const T *in = from + size_t{repeat} * p.src0RepeatStride * perBlock;
        const uint8_t *row = bits + size_t{repeat} * p.src1RepeatStride * kBlockBytes;
        for (uint32_t i = 0; i < elements; ++i) {
            if ((row[i / 8] >> (i % 8) & 1u) == 0) {
                continue;
            }
            if (ASCENDC_UNLIKELY(rsvdCnt == room)) {
                ::ascendc::Fail("GatherMask: more elements are kept than dst has room for, %u", static_cast<uint32_t>(room));
            }
            to[rsvdCnt++] = in[size_t{i / perBlock} * p.src0BlockStride * perBlock + i % perBlock];
        }
    }
    AfterCountForm();
}

ASCENDC_END
