// How an instruction walks its operands: repeats of 8 blocks of 32 bytes, each operand with strides of its own.
#pragma once

#include "vector_mask.h"

ASCENDC_BEGIN

constexpr uint32_t kBlockBytes = 32;
constexpr uint32_t kBlocksPerRepeat = 8;

template <uint32_t count>
using Count = std::integral_constant<uint32_t, count>;

// Lanes of a repeat follow the widest operand.
template <typename... T>
constexpr uint32_t LanesPerRepeat()
{
    size_t widest = 1;
    ((widest = sizeof(T) > widest ? sizeof(T) : widest), ...);
    return static_cast<uint32_t>(ONE_REPEAT_BYTE_SIZE / widest);
}

// One operand: its strides are in blocks.
template <typename T>
struct Walk {
    static constexpr uint32_t kPerBlock = kBlockBytes / sizeof(T);
    const LocalTensor<std::remove_const_t<T>> &tensor;
    const char *name;
    uint32_t blockStride;
    uint32_t repeatStride;
    T *base = nullptr;

    ASCENDC_INLINE T *At(uint32_t repeat, uint32_t lane) const
    {
        return base + (size_t{repeat} * repeatStride + size_t{lane / kPerBlock} * blockStride) * kPerBlock + lane % kPerBlock;
    }
    // Bytes from the start of the tensor that `repeats` repeats up to lane `last` touch.
    ASCENDC_INLINE uint64_t Extent(uint32_t repeats, uint32_t last) const
    {
        const uint32_t blocks = (last + kPerBlock - 1) / kPerBlock;
        const uint32_t inLast = last - (blocks - 1) * kPerBlock;
        const uint32_t tail = blockStride == 0 && blocks > 1 ? kBlockBytes : inLast * static_cast<uint32_t>(sizeof(T));
        return (uint64_t{repeats - 1} * repeatStride + uint64_t{blocks - 1} * blockStride) * kBlockBytes + tail;
    }
    ASCENDC_INLINE void Check(const char *instruction, uint64_t bytes)
    {
        base = tensor.Use(Memory::UB, bytes, kBlockBytes, instruction, name);
    }
};

// The blocks of one operand in one repeat.
template <typename T>
struct BlockWalk {
    T *first;
    size_t step;   // elements
};

// An instruction may work in place, or move data towards lower addresses. Where dst would overwrite what is still to be read,
// the chip's result depends on its timing.
template <typename D, typename S>
ASCENDC_INLINE void CheckOverlap(const char *instruction, const D *dst, const S *src, const char *name, uint32_t count)
{
    const auto distance = reinterpret_cast<intptr_t>(dst) - reinterpret_cast<intptr_t>(src);
    bool bad = distance > 0 && distance < static_cast<intptr_t>(count * sizeof(S));
    if constexpr (sizeof(D) > sizeof(S)) {
        bad = bad || (distance <= 0 && -distance < static_cast<intptr_t>(count * sizeof(D)));
    }
    if (ASCENDC_UNLIKELY(bad)) {
        ::ascendc::FailOverlap(instruction, name, distance, count * sizeof(S));
    }
}

// repeatTimes: 8 bits on the chip, where 256 would silently become 0.
class RepeatTimes {
public:
    template <typename T, typename = std::enable_if_t<std::is_integral_v<T> || std::is_enum_v<T>>>
    RepeatTimes(T value) : value_(static_cast<int64_t>(value))
    {
    }
    ASCENDC_INLINE uint32_t Get(const char *instruction) const
    {
        if (ASCENDC_UNLIKELY(value_ < 0 || value_ > MAX_REPEAT_TIMES)) {
            ::ascendc::Fail("%s: repeat %lld is not in [0, %d]", instruction, static_cast<long long>(value_), MAX_REPEAT_TIMES);
        }
        return static_cast<uint32_t>(value_);
    }

private:
    int64_t value_;
};

// Calls body(n, dst, sources...) for runs of n neighbouring elements. n is a Count when it is the lanes of a whole block.
template <typename Body, typename D, typename... S>
void WalkLanes(const char *instruction, const Lanes &lanes, uint32_t repeats, uint32_t firstRepeat, Body body, Walk<D> dst,
               Walk<S>... src)
{
    if (repeats == 0 || lanes.runs == 0) {
        return;
    }
    dst.Check(instruction, dst.Extent(firstRepeat + repeats, lanes.last));
    (src.Check(instruction, src.Extent(firstRepeat + repeats, lanes.last)), ...);
    const bool neighbours = dst.blockStride == 1 && ((src.blockStride == 1) && ...);
    if (neighbours && lanes.runs == 1) {
        const uint32_t length = lanes.length[0];
        const uint32_t start = lanes.start[0];
        // Repeats that follow each other directly are one long run.
        if (start == 0 && dst.repeatStride * dst.kPerBlock == length && ((src.repeatStride * src.kPerBlock == length) && ...)) {
            const uint32_t count = length * repeats;
            (CheckOverlap(instruction, dst.At(firstRepeat, 0), src.At(firstRepeat, 0), src.name, count), ...);
            body(count, dst.At(firstRepeat, 0), src.At(firstRepeat, 0)...);
            return;
        }
        (CheckOverlap(instruction, dst.At(firstRepeat, start), src.At(firstRepeat, start), src.name, length), ...);
        for (uint32_t repeat = firstRepeat; repeat < firstRepeat + repeats; ++repeat) {
            body(length, dst.At(repeat, start), src.At(repeat, start)...);
        }
        return;
    }
    constexpr uint32_t repeatLanes = LanesPerRepeat<D, S...>();
    constexpr uint32_t blockLanes = repeatLanes / kBlocksPerRepeat;
    constexpr bool sameWidth = ((sizeof(D) == sizeof(S)) && ...);
    if (sameWidth && lanes.runs == 1 && lanes.length[0] == repeatLanes) {
        (CheckOverlap(instruction, dst.At(firstRepeat, 0), src.At(firstRepeat, 0), src.name, blockLanes), ...);
        const auto blocks = [&body](D *to, size_t toStep, auto... from) {
            for (uint32_t block = 0; block < kBlocksPerRepeat; ++block) {
                body(Count<blockLanes>(), to + block * toStep, (from.first + block * from.step)...);
            }
        };
        for (uint32_t repeat = firstRepeat; repeat < firstRepeat + repeats; ++repeat) {
            blocks(dst.At(repeat, 0), size_t{dst.blockStride} * blockLanes,
                   BlockWalk<S>{src.At(repeat, 0), size_t{src.blockStride} * blockLanes}...);
        }
        return;
    }
    Lanes split;
    const Lanes *runs = &lanes;
    if (!neighbours) {
        lanes.SplitAt(blockLanes, split);
        runs = &split;
    }
    (CheckOverlap(instruction, dst.At(firstRepeat, runs->start[0]), src.At(firstRepeat, runs->start[0]), src.name,
                  runs->length[0]),
     ...);
    for (uint32_t repeat = firstRepeat; repeat < firstRepeat + repeats; ++repeat) {
        for (uint32_t run = 0; run < runs->runs; ++run) {
            const uint32_t start = runs->start[run];
            if (runs->length[run] == blockLanes) {
                body(Count<blockLanes>(), dst.At(repeat, start), src.At(repeat, start)...);
            } else {
                body(uint32_t{runs->length[run]}, dst.At(repeat, start), src.At(repeat, start)...);
            }
        }
    }
}

// (mask, repeat) form. Mask is a number or a pointer to two words.
template <bool isSetMask, typename Mask, typename Body, typename D, typename... S>
void WalkRepeats(const char *instruction, Mask mask, RepeatTimes repeats, Body &&body, Walk<D> dst, Walk<S>... src)
{
    NeedVectorCore(instruction);
    if (ASCENDC_UNLIKELY(dst.blockStride == 0)) {
        ::ascendc::Fail("%s: the block stride of dst is 0", instruction);
    }
    MaskedRepeats plan;
    ResolveMask<LanesPerRepeat<D, S...>(), isSetMask>(plan, mask, repeats.Get(instruction), instruction);
    WalkLanes(instruction, plan.lanes, plan.repeats, 0, body, dst, src...);
    if (plan.tail != 0) {
        plan.lanes.Prefix(plan.tail);
        WalkLanes(instruction, plan.lanes, 1, plan.repeats, body, dst, src...);
    }
}

// Count form: the first `count` elements.
template <typename Body, typename D, typename... S>
ASCENDC_INLINE void WalkCount(const char *instruction, int64_t count, Body &&body, Walk<D> dst, Walk<S>... src)
{
    NeedVectorCore(instruction);
    if (ASCENDC_UNLIKELY(count < 0)) {
        ::ascendc::Fail("%s: count %lld is negative", instruction, static_cast<long long>(count));
    }
    const auto n = static_cast<uint32_t>(count);
    if (ASCENDC_LIKELY(n != 0)) {
        dst.Check(instruction, uint64_t{n} * sizeof(D));
        (src.Check(instruction, uint64_t{n} * sizeof(S)), ...);
        (CheckOverlap(instruction, dst.base, src.base, src.name, n), ...);
        body(n, dst.base, src.base...);
    }
    AfterCountForm();
}

ASCENDC_END
