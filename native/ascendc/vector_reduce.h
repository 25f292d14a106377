// Reductions over a repeat, a block or a pair.
//
// Sums are binary trees over neighbours in the dtype of the operand: ((x0+x1)+(x2+x3))+...; lanes that are off count as 0.
#pragma once

#include "vector_binary.h"

ASCENDC_BEGIN

// One repeat of a source as floats, with `neutral` where lanes are off.
template <typename T>
struct RepeatValues {
    static constexpr uint32_t kLanes = LanesPerRepeat<T>();
    float value[kLanes];

    void Load(const Walk<const T> &src, const Lanes &lanes, uint32_t repeat, float neutral)
    {
        if (lanes.runs == 1 && lanes.length[0] == kLanes && src.blockStride == 1) {
            Copy(0, src.At(repeat, 0), kLanes);
            return;
        }
        for (float &lane : value) {
            lane = neutral;
        }
        constexpr uint32_t perBlock = Walk<const T>::kPerBlock;
        for (uint32_t run = 0; run < lanes.runs; ++run) {
            uint32_t lane = lanes.start[run];
            const uint32_t end = lane + lanes.length[run];
            while (lane < end) {
                const uint32_t border = (lane / perBlock + 1) * perBlock;
                const uint32_t stop = border < end ? border : end;
                Copy(lane, src.At(repeat, lane), stop - lane);
                lane = stop;
            }
        }
    }

private:
    ASCENDC_INLINE void Copy(uint32_t lane, const T *from, uint32_t count)
    {
        if constexpr (kIsHalf<T>) {
            Widen(value + lane, from, count);
        } else {
            __builtin_memcpy(value + lane, from, count * sizeof(T));
        }
    }
};

template <typename T>
ASCENDC_INLINE void RoundTo(float *values, uint32_t count)
{
    if constexpr (kIsHalf<T>) {
        half rounded[kChunk];
        Narrow(rounded, values, count);
        Widen(values, rounded, count);
    } else {
        (void)values;
        (void)count;
    }
}

// Sums neighbours until `groups` values are left.
template <typename T, uint32_t count, uint32_t groups>
ASCENDC_INLINE void SumTree(const float *in, float *out)
{
    if constexpr (count == groups) {
        __builtin_memcpy(out, in, groups * sizeof(float));
    } else {
        float level[count / 2];
        for (uint32_t i = 0; i < count / 2; ++i) {
            level[i] = in[2 * i] + in[2 * i + 1];
        }
        RoundTo<T>(level, count / 2);
        SumTree<T, count / 2, groups>(level, out);
    }
}

// Calls body(repeat, values) for each repeat. Normal mode only has one kind of repeat; counter mode may end with a shorter one.
template <bool isSetMask, typename T, typename Mask, typename Body>
ASCENDC_INLINE void ForRepeats(const char *instruction, const LocalTensor<T> &src, Mask mask, int32_t repeat, int32_t blockStride,
                               int32_t repeatStride, float neutral, bool limited, Body &&body)
{
    static_assert(kOneOf<T, half, float>, "the reduction does not exist for this dtype");
    NeedVectorCore(instruction);
    if (ASCENDC_UNLIKELY(repeat < 0 || (limited && repeat > MAX_REPEAT_TIMES))) {
        ::ascendc::Fail("%s: repeat %d is not in [0, %d]", instruction, repeat, MAX_REPEAT_TIMES);
    }
    if (ASCENDC_UNLIKELY(blockStride < 0 || blockStride > 65535 || repeatStride < 0 || repeatStride > 65535)) {
        ::ascendc::Fail("%s: block stride %d and repeat stride %d of src must be in [0, 65535]", instruction, blockStride,
                        repeatStride);
    }
    MaskedRepeats plan;
    ResolveMask<LanesPerRepeat<T>(), isSetMask>(plan, mask, static_cast<uint32_t>(repeat), instruction);
    Walk<const T> walk{src, "src", static_cast<uint32_t>(blockStride), static_cast<uint32_t>(repeatStride)};
    RepeatValues<T> values;
    if (plan.repeats != 0 && plan.lanes.runs != 0) {
        walk.Check(instruction, walk.Extent(plan.repeats, plan.lanes.last));
        for (uint32_t i = 0; i < plan.repeats; ++i) {
            values.Load(walk, plan.lanes, i, neutral);
            body(i, plan.lanes, values.value);
        }
    }
    if (plan.tail != 0) {
        plan.lanes.Prefix(plan.tail);
        walk.Check(instruction, walk.Extent(plan.repeats + 1, plan.lanes.last));
        values.Load(walk, plan.lanes, plan.repeats, neutral);
        body(plan.repeats, plan.lanes, values.value);
    }
}

// A reduction's destination is not walked in blocks: its elements follow at `stride` bytes.
template <typename T>
ASCENDC_INLINE uint8_t *ReduceTarget(const char *instruction, const LocalTensor<T> &dst, uint64_t offset, uint32_t bytes,
                                     uint32_t alignment)
{
    return reinterpret_cast<uint8_t *>(dst.Use(Memory::UB, offset + bytes, alignment, instruction, "dst")) + offset;
}

template <typename T>
ASCENDC_INLINE void PutFloat(uint8_t *to, float value)
{
    const T result(value);
    __builtin_memcpy(to, &result, sizeof(T));
}

ASCENDC_INLINE uint64_t CheckedStride(const char *instruction, int32_t stride)
{
    if (ASCENDC_UNLIKELY(stride < 0 || stride > 65535)) {
        ::ascendc::Fail("%s: repeat stride %d of dst must be in [0, 65535]", instruction, stride);
    }
    return static_cast<uint64_t>(stride);
}

// ---- One result per repeat ----

// dstRepStride in elements
template <bool isSetMask, typename T, typename Mask>
ASCENDC_INLINE void WholeSum(const char *name, const LocalTensor<T> &dst, const LocalTensor<T> &src, Mask mask, int32_t repeat,
                             int32_t dstRepStride, int32_t srcBlkStride, int32_t srcRepStride)
{
    const uint64_t step = CheckedStride(name, dstRepStride) * sizeof(T);
    ForRepeats<isSetMask>(name, src, mask, repeat, srcBlkStride, srcRepStride, 0.0f, true,
                          [&](uint32_t i, const Lanes &, const float *values) {
                              float sum;
                              SumTree<T, LanesPerRepeat<T>(), 1>(values, &sum);
                              PutFloat<T>(ReduceTarget(name, dst, i * step, sizeof(T), sizeof(T)), sum);
                          });
}
template <typename T, bool isSetMask = true>
inline void WholeReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint64_t mask[], const int32_t repeatTimes,
                           const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride)
{
    WholeSum<isSetMask>("WholeReduceSum", dst, src, mask, repeatTimes, dstRepStride, srcBlkStride, srcRepStride);
}
template <typename T, bool isSetMask = true>
inline void WholeReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t mask, const int32_t repeatTimes,
                           const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride)
{
    WholeSum<isSetMask>("WholeReduceSum", dst, src, static_cast<uint64_t>(mask), repeatTimes, dstRepStride, srcBlkStride,
                        srcRepStride);
}
template <typename T, bool isSetMask = true>
inline void RepeatReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t repeat,
                            const int32_t elemsInOneRepeat, const int32_t dstBlkStride, const int32_t srcBlkStride,
                            const int32_t dstRepStride, const int32_t srcRepStride)
{
    (void)dstBlkStride;   // has no effect: a repeat gives one element
    WholeSum<isSetMask>("RepeatReduceSum", dst, src, static_cast<uint64_t>(elemsInOneRepeat), repeat, dstRepStride, srcBlkStride,
                        srcRepStride);
}

struct Greater {
    static constexpr float kNeutral = -std::numeric_limits<float>::infinity();
    static bool Better(float a, float b) { return a > b; }
};
struct Less {
    static constexpr float kNeutral = std::numeric_limits<float>::infinity();
    static bool Better(float a, float b) { return a < b; }
};

// The best value; lanes that are off hold the neutral one. NaN never is the best.
template <typename Order, uint32_t count>
ASCENDC_INLINE float BestValue(const float *values)
{
    float best[16];
    for (uint32_t i = 0; i < 16; ++i) {
        best[i] = values[i];
    }
    for (uint32_t first = 16; first < count; first += 16) {
        for (uint32_t i = 0; i < 16; ++i) {
            best[i] = Order::Better(values[first + i], best[i]) ? values[first + i] : best[i];
        }
    }
    float result = best[0];
    for (uint32_t i = 1; i < 16; ++i) {
        result = Order::Better(best[i], result) || result != result ? best[i] : result;
    }
    return result;
}

// The first of the lanes that are on and hold `best`.
ASCENDC_INLINE uint32_t LaneOf(const Lanes &lanes, const float *values, float best)
{
    for (uint32_t run = 0; run < lanes.runs; ++run) {
        for (uint32_t lane = lanes.start[run]; lane < uint32_t{lanes.start[run]} + lanes.length[run]; ++lane) {
            if (values[lane] == best) {
                return lane;
            }
        }
    }
    return lanes.start[0];
}

// An index takes the place of an element, as an integer of its size.
template <typename T>
ASCENDC_INLINE void PutIndex(uint8_t *to, uint32_t index)
{
    __builtin_memcpy(to, &index, sizeof(T));   // the low half on the little-endian processors we run on
}

template <typename Order, bool isSetMask, typename T, typename Mask>
ASCENDC_INLINE void WholeBest(const char *name, const LocalTensor<T> &dst, const LocalTensor<T> &src, Mask mask, int32_t repeat,
                              int32_t dstRepStride, int32_t srcBlkStride, int32_t srcRepStride, ReduceOrder order)
{
    const bool onlyValue = order == ReduceOrder::ORDER_ONLY_VALUE;
    const bool onlyIndex = order == ReduceOrder::ORDER_ONLY_INDEX;
    const uint32_t unit = onlyValue ? sizeof(T) : onlyIndex ? sizeof(uint32_t) : 2 * sizeof(T);
    const uint64_t step = CheckedStride(name, dstRepStride) * unit;
    ForRepeats<isSetMask>(name, src, mask, repeat, srcBlkStride, srcRepStride, Order::kNeutral, true,
                          [&](uint32_t i, const Lanes &lanes, const float *values) {
                              const float value = BestValue<Order, LanesPerRepeat<T>()>(values);
                              const uint32_t best = onlyValue ? 0 : LaneOf(lanes, values, value);
                              uint8_t *to = ReduceTarget(name, dst, i * step, unit, unit);
                              if (onlyIndex) {
                                  __builtin_memcpy(to, &best, sizeof(best));
                                  return;
                              }
                              const bool valueFirst = order != ReduceOrder::ORDER_INDEX_VALUE;
                              PutFloat<T>(to + (valueFirst ? 0 : sizeof(T)), value);
                              if (!onlyValue) {
                                  PutIndex<T>(to + (valueFirst ? sizeof(T) : 0), best);
                              }
                          });
}

#define ASCENDC_WHOLE_BEST(Name, Order)                                                                                      \
    template <typename T, bool isSetMask = true>                                                                             \
    inline void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint64_t mask[], const int32_t repeatTimes, \
                     const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,                     \
                     ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX)                                                     \
    {                                                                                                                        \
        WholeBest<Order, isSetMask>(#Name, dst, src, mask, repeatTimes, dstRepStride, srcBlkStride, srcRepStride, order);    \
    }                                                                                                                        \
    template <typename T, bool isSetMask = true>                                                                             \
    inline void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t mask, const int32_t repeatTimes,    \
                     const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,                     \
                     ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX)                                                     \
    {                                                                                                                        \
        WholeBest<Order, isSetMask>(#Name, dst, src, static_cast<uint64_t>(mask), repeatTimes, dstRepStride, srcBlkStride,   \
                                    srcRepStride, order);                                                                    \
    }
ASCENDC_WHOLE_BEST(WholeReduceMax, Greater)
ASCENDC_WHOLE_BEST(WholeReduceMin, Less)
#undef ASCENDC_WHOLE_BEST

// ---- One result per block or pair; where every lane of it is off, dst keeps its old value ----

template <uint32_t group, typename T, bool isSetMask, typename Mask, typename Body>
ASCENDC_INLINE void GroupReduce(const char *name, const LocalTensor<T> &dst, const LocalTensor<T> &src, Mask mask, int32_t repeat,
                                int32_t dstRepStride, int32_t srcBlkStride, int32_t srcRepStride, float neutral, Body &&body)
{
    constexpr uint32_t groups = LanesPerRepeat<T>() / group;
    constexpr uint32_t alignment = groups * sizeof(T) < kBlockBytes ? groups * sizeof(T) : kBlockBytes;
    const uint64_t step = CheckedStride(name, dstRepStride) * groups * sizeof(T);
    ForRepeats<isSetMask>(name, src, mask, repeat, srcBlkStride, srcRepStride, neutral, true,
                          [&](uint32_t i, const Lanes &lanes, const float *values) {
                              float result[groups];
                              body(values, result);
                              for (uint32_t run = 0; run < lanes.runs; ++run) {
                                  const uint32_t first = lanes.start[run] / group;
                                  const uint32_t last = (uint32_t{lanes.start[run]} + lanes.length[run] - 1) / group;
                                  uint8_t *to = ReduceTarget(name, dst, i * step, (last + 1) * sizeof(T), alignment);
                                  for (uint32_t g = first; g <= last; ++g) {
                                      PutFloat<T>(to + g * sizeof(T), result[g]);
                                  }
                              }
                          });
}

template <typename T, typename Order>
ASCENDC_INLINE void BestOfBlocks(const float *values, float *result)
{
    constexpr uint32_t perBlock = kBlockBytes / sizeof(T);
    for (uint32_t block = 0; block < kBlocksPerRepeat; ++block) {
        float best = values[block * perBlock];
        for (uint32_t i = 1; i < perBlock; ++i) {
            const float other = values[block * perBlock + i];
            best = Order::Better(other, best) ? other : best;
        }
        result[block] = best;
    }
}

#define ASCENDC_GROUP_REDUCE(Name, group, neutral, body)                                                                     \
    template <typename T, bool isSetMask = true>                                                                             \
    inline void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t repeat, const int32_t mask,         \
                     const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride)                     \
    {                                                                                                                        \
        GroupReduce<group, T, isSetMask>(#Name, dst, src, static_cast<uint64_t>(mask), repeat, dstRepStride, srcBlkStride,   \
                                         srcRepStride, neutral, [](const float *in, float *out) { body; });                  \
    }                                                                                                                        \
    template <typename T, bool isSetMask = true>                                                                             \
    inline void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t repeat, const uint64_t mask[],      \
                     const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride)                     \
    {                                                                                                                        \
        GroupReduce<group, T, isSetMask>(#Name, dst, src, mask, repeat, dstRepStride, srcBlkStride, srcRepStride, neutral,   \
                                         [](const float *in, float *out) { body; });                                         \
    }
ASCENDC_GROUP_REDUCE(BlockReduceSum, kBlockBytes / sizeof(T), 0.0f, (SumTree<T, LanesPerRepeat<T>(), kBlocksPerRepeat>(in, out)))
ASCENDC_GROUP_REDUCE(BlockReduceMax, kBlockBytes / sizeof(T), Greater::kNeutral, (BestOfBlocks<T, Greater>(in, out)))
ASCENDC_GROUP_REDUCE(BlockReduceMin, kBlockBytes / sizeof(T), Less::kNeutral, (BestOfBlocks<T, Less>(in, out)))
ASCENDC_GROUP_REDUCE(PairReduceSum, 2, 0.0f, (SumTree<T, LanesPerRepeat<T>(), LanesPerRepeat<T>() / 2>(in, out)))
#undef ASCENDC_GROUP_REDUCE

ASCENDC_END
