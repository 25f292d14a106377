// The vector mask register: which lanes of a repeat an instruction works on.
#pragma once

#include "tensor.h"

ASCENDC_BEGIN

// Normal mode: the mask selects lanes of each repeat. Counter mode: it is the number of elements of the whole instruction.
inline void SetMaskCount()
{
    ThisCore().counterMode = 1;
}
inline void SetMaskNorm()
{
    ThisCore().counterMode = 0;
}

template <typename T, MaskMode mode = MaskMode::NORMAL>
inline void SetVectorMask(const uint64_t maskHigh, const uint64_t maskLow)
{
    ThisCore().maskHigh = maskHigh;
    ThisCore().maskLow = maskLow;
}

// The first `lanes` lanes, of at most 128.
ASCENDC_INLINE void SetMaskLanes(uint64_t lanes)
{
    auto &core = ThisCore();
    core.maskLow = lanes >= 64 ? ~uint64_t{0} : (uint64_t{1} << lanes) - 1;
    core.maskHigh = lanes >= 128 ? ~uint64_t{0} : lanes <= 64 ? 0 : (uint64_t{1} << (lanes - 64)) - 1;
}

template <typename T, MaskMode mode = MaskMode::NORMAL>
inline void SetVectorMask(int32_t len)
{
    if constexpr (mode == MaskMode::COUNTER) {
        ThisCore().maskHigh = 0;
        ThisCore().maskLow = static_cast<uint64_t>(len);
    } else {
        SetMaskLanes(static_cast<uint64_t>(len));
    }
}

inline void ResetMask()
{
    ThisCore().maskHigh = ThisCore().maskLow = ~uint64_t{0};
}

// Which lanes of one repeat take part, as runs of neighbours.
struct Lanes {
    uint32_t runs = 0;
    uint32_t last = 0;      // one more than the highest lane
    uint8_t start[64];
    uint8_t length[64];

    ASCENDC_INLINE void Prefix(uint32_t lanes)
    {
        runs = lanes == 0 ? 0 : 1;
        last = lanes;
        start[0] = 0;
        length[0] = static_cast<uint8_t>(lanes);
    }
    void Bits(uint64_t low, uint64_t high)
    {
        runs = 0;
        last = 0;
        for (uint32_t lane = 0; lane < 128;) {
            const uint64_t rest = lane < 64 ? low >> lane : high >> (lane - 64);
            if (rest == 0) {
                lane = lane < 64 ? 64 : 128;
                continue;
            }
            const uint32_t first = lane + static_cast<uint32_t>(__builtin_ctzll(rest));
            uint32_t end = first;
            while (end < 128 && (((end < 64 ? low >> end : high >> (end - 64)) & 1) != 0)) {
                ++end;
            }
            start[runs] = static_cast<uint8_t>(first);
            length[runs] = static_cast<uint8_t>(end - first);
            ++runs;
            last = end;
            lane = end;
        }
    }
    // Splits runs at the borders of blocks of `block` lanes, for operands whose blocks are not neighbours.
    void SplitAt(uint32_t block, Lanes &split) const
    {
        split.runs = 0;
        split.last = last;
        for (uint32_t run = 0; run < runs; ++run) {
            uint32_t first = start[run];
            const uint32_t end = first + length[run];
            while (first < end) {
                const uint32_t border = (first / block + 1) * block;
                const uint32_t stop = border < end ? border : end;
                split.start[split.runs] = static_cast<uint8_t>(first);
                split.length[split.runs] = static_cast<uint8_t>(stop - first);
                ++split.runs;
                first = stop;
            }
        }
    }
};

// How often an instruction repeats and on which lanes; `tail` is a last, shorter repeat of counter mode.
struct MaskedRepeats {
    Lanes lanes;
    uint32_t repeats;
    uint32_t tail;
};

// lanesPerRepeat is a template argument so that its divisions cost nothing.
template <uint32_t lanesPerRepeat>
ASCENDC_INLINE void FromCounter(MaskedRepeats &result, uint64_t elements)
{
    result.lanes.Prefix(lanesPerRepeat);
    result.repeats = static_cast<uint32_t>(elements / lanesPerRepeat);
    result.tail = static_cast<uint32_t>(elements % lanesPerRepeat);
}

template <uint32_t lanesPerRepeat>
ASCENDC_INLINE void FromRegister(MaskedRepeats &result, uint32_t repeats, const char *instruction)
{
    const auto &core = ThisCore();
    if (core.counterMode != 0) {
        FromCounter<lanesPerRepeat>(result, core.maskLow);
        return;
    }
    result.repeats = repeats;
    result.tail = 0;
    uint64_t low = core.maskLow;
    uint64_t high = core.maskHigh;
    if constexpr (lanesPerRepeat <= 64) {
        high = 0;   // 32-bit types only look at the low word
        low = lanesPerRepeat == 64 ? low : low & ((uint64_t{1} << (lanesPerRepeat % 64)) - 1);
    }
    (void)instruction;
    if (low == ~uint64_t{0} && (lanesPerRepeat <= 64 || high == ~uint64_t{0})) {
        result.lanes.Prefix(lanesPerRepeat);
    } else {
        result.lanes.Bits(low, high);
    }
}

// mask as a number: the first `mask` lanes.
template <uint32_t lanesPerRepeat, bool isSetMask>
ASCENDC_INLINE void ResolveMask(MaskedRepeats &result, uint64_t mask, uint32_t repeats, const char *instruction)
{
    auto &core = ThisCore();
    if constexpr (!isSetMask) {
        FromRegister<lanesPerRepeat>(result, repeats, instruction);
    } else if (ASCENDC_UNLIKELY(core.counterMode != 0)) {
        core.maskLow = mask;
        core.maskHigh = 0;
        FromCounter<lanesPerRepeat>(result, mask);
    } else {
        if (ASCENDC_UNLIKELY(mask > lanesPerRepeat)) {
            ::ascendc::Fail("%s: mask %llu selects more than the %u lanes of a repeat", instruction,
                            static_cast<unsigned long long>(mask), lanesPerRepeat);
        }
        SetMaskLanes(mask);
        result.lanes.Prefix(static_cast<uint32_t>(mask));
        result.repeats = repeats;
        result.tail = 0;
    }
}

// mask as bits, the low word first.
template <uint32_t lanesPerRepeat, bool isSetMask>
ASCENDC_INLINE void ResolveMask(MaskedRepeats &result, const uint64_t *mask, uint32_t repeats, const char *instruction)
{
    auto &core = ThisCore();
    if constexpr (isSetMask) {
        if (ASCENDC_UNLIKELY(core.counterMode == 0 && lanesPerRepeat <= 64 && mask[1] != 0)) {
            ::ascendc::Fail("%s: mask word 1 is 0x%llx, but a repeat has only %u lanes", instruction,
                            static_cast<unsigned long long>(mask[1]), lanesPerRepeat);
        }
        core.maskLow = mask[0];
        core.maskHigh = mask[1];
    }
    FromRegister<lanesPerRepeat>(result, repeats, instruction);
}

// The count form of an instruction leaves normal mode with all lanes on behind it.
ASCENDC_INLINE void AfterCountForm()
{
    auto &core = ThisCore();
    core.counterMode = 0;
    core.maskLow = core.maskHigh = ~uint64_t{0};
}

ASCENDC_END
