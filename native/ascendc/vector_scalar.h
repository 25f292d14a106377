// A source and a scalar: Adds Muls Maxs Mins ShiftLeft ShiftRight, Axpy, and Duplicate.
#pragma once

#include "vector_unary.h"

ASCENDC_BEGIN

// The scalar in the type the lanes are computed in.
template <typename T>
using Computed = std::conditional_t<kIsHalf<T>, float, T>;

template <typename Op, typename T>
struct WithScalar {
    template <typename U>
    static constexpr bool kSupports = Op::template kSupports<U>;
    Computed<T> scalar;
    Computed<T> operator()(Computed<T> a) const { return Op{}(a, scalar); }
};
struct AddsOp : AddOp {};
struct MulsOp : MulOp {};
struct MaxsOp : MaxOp {};
struct MinsOp : MinOp {};
struct ShiftLeftOp {
    template <typename T>
    static constexpr bool kSupports = kOneOf<T, int16_t, uint16_t, int32_t, uint32_t>;
    template <typename T>
    T operator()(T a, T by) const
    {
        using U = std::make_unsigned_t<T>;
        return static_cast<U>(by) >= 8 * sizeof(T) ? T(0) : static_cast<T>(static_cast<U>(a) << by);
    }
};
// Arithmetic for signed types, logical for unsigned ones.
struct ShiftRightOp {
    template <typename T>
    static constexpr bool kSupports = kOneOf<T, int16_t, uint16_t, int32_t, uint32_t>;
    template <typename T>
    T operator()(T a, T by) const
    {
        using U = std::make_unsigned_t<T>;
        const T most = static_cast<T>(8 * sizeof(T) - 1);
        if (static_cast<U>(by) > static_cast<U>(most)) {
            return a < T(0) ? static_cast<T>(-1) : T(0);
        }
        return static_cast<T>(a >> by);
    }
};

// dst = op(src, scalar). The forms with U are for a scalar whose type is given apart.
#define ASCENDC_SCALAR(Name)                                                                                               \
    template <typename T, bool isSetMask = true>                                                                           \
    inline void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalarValue, uint64_t mask[],          \
                     const RepeatTimes repeatTimes, const UnaryRepeatParams &repeatParams)                                 \
    {                                                                                                                      \
        UnaryRepeats<isSetMask>(#Name, WithScalar<Name##Op, T>{scalarValue}, dst, src, static_cast<const uint64_t *>(mask), \
                                repeatTimes, repeatParams);                                                                \
    }                                                                                                                      \
    template <typename T, bool isSetMask = true>                                                                           \
    inline void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalarValue, uint64_t mask,            \
                     const RepeatTimes repeatTimes, const UnaryRepeatParams &repeatParams)                                 \
    {                                                                                                                      \
        UnaryRepeats<isSetMask>(#Name, WithScalar<Name##Op, T>{scalarValue}, dst, src, mask, repeatTimes, repeatParams);   \
    }                                                                                                                      \
    template <typename T, bool isSetMask = true>                                                                           \
    inline void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalarValue, const int32_t &count)     \
    {                                                                                                                      \
        UnaryCount(#Name, WithScalar<Name##Op, T>{scalarValue}, dst, src, count);                                          \
    }

ASCENDC_SCALAR(Adds)
ASCENDC_SCALAR(Muls)
ASCENDC_SCALAR(Maxs)
ASCENDC_SCALAR(Mins)
ASCENDC_SCALAR(ShiftLeft)
ASCENDC_SCALAR(ShiftRight)
#undef ASCENDC_SCALAR

// dst = src * scalar + dst
template <bool isSetMask, typename Mask, typename T, typename U>
ASCENDC_INLINE void AxpyRepeats(const LocalTensor<T> &dst, const LocalTensor<U> &src, float scalar, Mask mask, RepeatTimes repeat,
                                const UnaryRepeatParams &p)
{
    static_assert(kMulAddTypes<T, U>, "Axpy does not exist for these dtypes");
    const auto op = [scalar](float a, float d) { return __builtin_fmaf(a, scalar, d); };
    WalkRepeats<isSetMask>(
        "Axpy", mask, repeat, [op](auto n, T *d, const U *a) { Lanewise(op, n, d, a, const_cast<const T *>(d)); },
        Walk<T>{dst, "dst", p.dstBlkStride, p.dstRepStride}, Walk<const U>{src, "src", p.srcBlkStride, p.srcRepStride});
}
template <typename T, typename U, bool isSetMask = true>
inline void Axpy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const U &scalarValue, uint64_t mask,
                 const RepeatTimes repeatTimes, const UnaryRepeatParams &repeatParams)
{
    AxpyRepeats<isSetMask>(dst, src, scalarValue, mask, repeatTimes, repeatParams);
}
template <typename T, typename U, bool isSetMask = true>
inline void Axpy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const U &scalarValue, uint64_t mask[],
                 const RepeatTimes repeatTimes, const UnaryRepeatParams &repeatParams)
{
    AxpyRepeats<isSetMask>(dst, src, scalarValue, static_cast<const uint64_t *>(mask), repeatTimes, repeatParams);
}
template <typename T, typename U>
inline void Axpy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const U &scalarValue, const int32_t &count)
{
    static_assert(kMulAddTypes<T, U>, "Axpy does not exist for these dtypes");
    const float scalar = scalarValue;
    const auto op = [scalar](float a, float d) { return __builtin_fmaf(a, scalar, d); };
    WalkCount(
        "Axpy", count, [op](auto n, T *d, const U *a) { Lanewise(op, n, d, a, const_cast<const T *>(d)); },
        Walk<T>{dst, "dst", 1, 8}, Walk<const U>{src, "src", 1, 8});
}

// dst = scalar
template <typename T>
constexpr bool kDuplicateTypes = kOneOf<T, half, bfloat16_t, int16_t, uint16_t, int32_t, uint32_t, float>;

template <typename N, typename T>
ASCENDC_INLINE void Fill(N n, T *dst, T value)
{
    for (uint32_t i = 0; i < n; ++i) {
        dst[i] = value;
    }
}
template <typename T, bool isSetMask = true>
inline void Duplicate(const LocalTensor<T> &dst, const T &scalarValue, uint64_t mask, const RepeatTimes repeatTimes,
                      const uint16_t dstBlockStride, const uint8_t dstRepeatStride)
{
    static_assert(kDuplicateTypes<T>, "Duplicate does not exist for this dtype");
    const T value = scalarValue;
    WalkRepeats<isSetMask>(
        "Duplicate", mask, repeatTimes, [value](auto n, T *d) { Fill(n, d, value); },
        Walk<T>{dst, "dst", dstBlockStride, dstRepeatStride});
}
template <typename T, bool isSetMask = true>
inline void Duplicate(const LocalTensor<T> &dst, const T &scalarValue, uint64_t mask[], const RepeatTimes repeatTimes,
                      const uint16_t dstBlockStride, const uint8_t dstRepeatStride)
{
    static_assert(kDuplicateTypes<T>, "Duplicate does not exist for this dtype");
    const T value = scalarValue;
    WalkRepeats<isSetMask>(
        "Duplicate", static_cast<const uint64_t *>(mask), repeatTimes, [value](auto n, T *d) { Fill(n, d, value); },
        Walk<T>{dst, "dst", dstBlockStride, dstRepeatStride});
}
template <typename T>
inline void Duplicate(const LocalTensor<T> &dst, const T &scalarValue, const int32_t &count)
{
    static_assert(kDuplicateTypes<T>, "Duplicate does not exist for this dtype");
    const T value = scalarValue;
    WalkCount(
        "Duplicate", count, [value](auto n, T *d) { Fill(n, d, value); }, Walk<T>{dst, "dst", 1, 8});
}

ASCENDC_END
