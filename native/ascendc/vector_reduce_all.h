// Reductions over everything: ReduceSum, ReduceMax, ReduceMin, and the registers that hold their last result.
#pragma once

#include "vector_reduce.h"

ASCENDC_BEGIN

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
        const float value = BestValue<Order, LanesPerRepeat<T>()>(values);
        if (!any || Order::Better(value, best)) {
            best = value;
            index = calIndex ? i * LanesPerRepeat<T>() + LaneOf(lanes, values, value) : 0;
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
