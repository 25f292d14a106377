// Reductions over a repeat, a block, a pair, or a whole tensor.
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

// The best lane of those that are on; of several the first.
template <typename Order>
ASCENDC_INLINE uint32_t BestLane(const Lanes &lanes, const float *values)
{
    uint32_t best = lanes.start[0];
    for (uint32_t run = 0; run < lanes.runs; ++run) {
        for (uint32_t lane = lanes.start[run]; lane < uint32_t{lanes.start[run]} + lanes.length[run]; ++lane) {
            best = Order::Better(values[lane], values[best]) ? lane : best;
        }
    }
    return best;
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
                              const uint32_t best = BestLane<Order>(lanes, values);
                              uint8_t *to = ReduceTarget(name, dst, i * step, unit, unit);
                              if (onlyIndex) {
                                  __builtin_memcpy(to, &best, sizeof(best));
                                  return;
                              }
                              const bool valueFirst = order != ReduceOrder::ORDER_INDEX_VALUE;
                              PutFloat<T>(to + (valueFirst ? 0 : sizeof(T)), values[best]);
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

// ---- One result for everything ----

template <typename T>
ASCENDC_INLINE void CheckWork(const char *name, const LocalTensor<T> &work)
{
    work.Use(Memory::UB, 0, kBlockBytes, name, "work");
}

template <typename T>
ASCENDC_INLINE float RoundOne(float value)
{
    return static_cast<float>(T(value));
}

template <typename T>
ASCENDC_INLINE void PutSum(const char *name, const LocalTensor<T> &dst, float sum)
{
    PutFloat<T>(ReduceTarget(name, dst, 0, sizeof(T), sizeof(T)), sum);
    ThisCore().accumulator = FloatBits(sum);
}

// Count form: the repeats' sums are added one after the other.
template <typename T, bool isSetMask = true>
inline void ReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &work, const int32_t count)
{
    CheckWork("ReduceSum", work);
    auto &core = ThisCore();
    if (isSetMask) {
        core.maskLow = static_cast<uint64_t>(count < 0 ? 0 : count);
        core.maskHigh = 0;
        core.counterMode = 1;
    }
    bool any = false;
    float sum = 0.0f;
    ForRepeats<false>("ReduceSum", src, uint64_t{0}, 1, 1, 8, 0.0f, false, [&](uint32_t, const Lanes &, const float *values) {
        float part;
        SumTree<T, LanesPerRepeat<T>(), 1>(values, &part);
        sum = any ? RoundOne<T>(sum + part) : part;
        any = true;
    });
    if (any) {
        PutSum("ReduceSum", dst, sum);
    }
    AfterCountForm();
}

// Mask form: the repeats' sums form a tree of repeats again, until one is left.
template <typename T, typename Mask>
ASCENDC_INLINE void ReduceSumRepeats(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &work, Mask mask,
                                     int32_t repeat, int32_t srcRepStride)
{
    constexpr uint32_t lanes = LanesPerRepeat<T>();
    const auto sums = static_cast<uint32_t>(repeat < 0 ? 0 : repeat);
    const uint64_t bytes = AlignUp<uint64_t>(uint64_t{sums} * sizeof(T), kBlockBytes);
    T *room = work.Use(Memory::UB, bytes, kBlockBytes, "ReduceSum", "work");
    ForRepeats<true>("ReduceSum", src, mask, repeat, 1, srcRepStride, 0.0f, false,
                     [&](uint32_t i, const Lanes &, const float *values) {
                         float part;
                         SumTree<T, lanes, 1>(values, &part);
                         room[i] = T(part);
                     });
    uint32_t left = sums;
    while (left > 1) {
        const uint32_t next = CeilDiv(left, lanes);
        for (uint32_t group = 0; group < next; ++group) {
            float values[lanes];
            for (uint32_t i = 0; i < lanes; ++i) {
                values[i] = group * lanes + i < left ? static_cast<float>(room[group * lanes + i]) : 0.0f;
            }
            float part;
            SumTree<T, lanes, 1>(values, &part);
            room[group] = T(part);
        }
        left = next;
    }
    if (left == 1) {
        PutSum("ReduceSum", dst, static_cast<float>(room[0]));
    }
}
template <typename T>
inline void ReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &work, const int32_t mask,
                      const int32_t repeatTimes, const int32_t srcRepStride)
{
    ReduceSumRepeats(dst, src, work, static_cast<uint64_t>(mask), repeatTimes, srcRepStride);
}
template <typename T>
inline void ReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &work, const uint64_t mask[],
                      const int32_t repeatTimes, const int32_t srcRepStride)
{
    ReduceSumRepeats(dst, src, work, mask, repeatTimes, srcRepStride);
}

// The best element and, on request, its index: that of a lane counts all lanes of the repeats before.
template <typename Order, typename T, typename Mask>
ASCENDC_INLINE void BestOfAll(const char *name, const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &work,
                              Mask mask, int32_t repeat, int32_t srcRepStride, bool calIndex, bool fromRegister)
{
    CheckWork(name, work);
    bool any = false;
    float best = 0.0f;
    uint32_t index = 0;
    const auto visit = [&](uint32_t i, const Lanes &lanes, const float *values) {
        const uint32_t lane = BestLane<Order>(lanes, values);
        if (!any || Order::Better(values[lane], best)) {
            best = values[lane];
            index = i * LanesPerRepeat<T>() + lane;
        }
        any = true;
    };
    if (fromRegister) {
        ForRepeats<false>(name, src, mask, repeat, 1, srcRepStride, Order::kNeutral, false, visit);
    } else {
        ForRepeats<true>(name, src, mask, repeat, 1, srcRepStride, Order::kNeutral, false, visit);
    }
    if (!any) {
        return;
    }
    uint8_t *to = ReduceTarget(name, dst, 0, (calIndex ? 2 : 1) * sizeof(T), calIndex ? 2 * sizeof(T) : sizeof(T));
    PutFloat<T>(to, best);
    if (calIndex) {
        PutIndex<T>(to + sizeof(T), index);
    }
    ThisCore().reduceValue = FloatBits(best);
    ThisCore().reduceIndex = index;
}

#define ASCENDC_BEST_OF_ALL(Name, Order)                                                                                   \
    template <typename T>                                                                                                  \
    inline void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &work, const int32_t mask, \
                     const int32_t repeatTimes, const int32_t srcRepStride, bool calIndex = 0)                             \
    {                                                                                                                      \
        BestOfAll<Order>(#Name, dst, src, work, static_cast<uint64_t>(mask), repeatTimes, srcRepStride, calIndex, false);  \
    }                                                                                                                      \
    template <typename T>                                                                                                  \
    inline void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &work,                     \
                     const uint64_t mask[], const int32_t repeatTimes, const int32_t srcRepStride, bool calIndex = 0)      \
    {                                                                                                                      \
        BestOfAll<Order>(#Name, dst, src, work, mask, repeatTimes, srcRepStride, calIndex, false);                         \
    }                                                                                                                      \
    template <typename T>                                                                                                  \
    inline void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &work, const int32_t count, \
                     bool calIndex = 0)                                                                                    \
    {                                                                                                                      \
        auto &core = ThisCore();                                                                                           \
        core.counterMode = 1;                                                                                              \
        core.maskLow = static_cast<uint64_t>(count < 0 ? 0 : count);                                                       \
        core.maskHigh = 0;                                                                                                 \
        BestOfAll<Order>(#Name, dst, src, work, uint64_t{0}, 1, 8, calIndex, true);                                        \
        AfterCountForm();                                                                                                  \
    }
ASCENDC_BEST_OF_ALL(ReduceMax, Greater)
ASCENDC_BEST_OF_ALL(ReduceMin, Less)
#undef ASCENDC_BEST_OF_ALL

// The result of the last ReduceSum in count form.
template <typename T>
inline T GetAccVal()
{
    return T(BitsFloat(ThisCore().accumulator));
}
// The result of the last ReduceMax or ReduceMin.
template <typename T>
inline void GetReduceMaxMinCount(T &maxMinValue)
{
    maxMinValue = T(BitsFloat(ThisCore().reduceValue));
}
template <typename T>
inline void GetReduceMaxMinCount(T &maxMinValue, T &maxMinIndex)
{
    GetReduceMaxMinCount(maxMinValue);
    PutIndex<T>(reinterpret_cast<uint8_t *>(&maxMinIndex), ThisCore().reduceIndex);
}

ASCENDC_END
