// One source: Exp Ln Sqrt Rsqrt Reciprocal Abs Relu Not, and with a scalar: Adds Muls Maxs Mins ShiftLeft ShiftRight Axpy.
#pragma once

#include "vector_binary.h"

ASCENDC_BEGIN

struct UnaryRepeatParams {
    UnaryRepeatParams() {}
    UnaryRepeatParams(const uint16_t dstBlkStrideIn, const uint16_t srcBlkStrideIn, const uint8_t dstRepStrideIn,
                      const uint8_t srcRepStrideIn)
        : dstBlkStride(dstBlkStrideIn), srcBlkStride(srcBlkStrideIn), dstRepStride(dstRepStrideIn), srcRepStride(srcRepStrideIn)
    {
    }
    uint32_t blockNumber = DEFAULT_BLK_NUM;
    uint16_t dstBlkStride = DEFAULT_BLK_STRIDE;
    uint16_t srcBlkStride = DEFAULT_BLK_STRIDE;
    uint8_t dstRepStride = DEFAULT_REPEAT_STRIDE;
    uint8_t srcRepStride = DEFAULT_REPEAT_STRIDE;
    bool repeatStrideMode = false;
    bool strideSizeMode = false;
    bool halfBlock = false;
};

// The chip's accuracy of the transcendental ones is not modelled: the host's libm is.
struct ExpOp {
    template <typename T>
    static constexpr bool kSupports = kOneOf<T, half, float>;
    float operator()(float a) const { return __builtin_expf(a); }
};
struct LnOp {
    template <typename T>
    static constexpr bool kSupports = kOneOf<T, half, float>;
    float operator()(float a) const { return __builtin_logf(a); }
};
struct SqrtOp {
    template <typename T>
    static constexpr bool kSupports = kOneOf<T, half, float>;
    float operator()(float a) const { return __builtin_sqrtf(a); }
};
struct RsqrtOp {
    template <typename T>
    static constexpr bool kSupports = kOneOf<T, half, float>;
    float operator()(float a) const { return 1.0f / __builtin_sqrtf(a); }
};
struct ReciprocalOp {
    template <typename T>
    static constexpr bool kSupports = kOneOf<T, half, float>;
    float operator()(float a) const { return 1.0f / a; }
};
struct AbsOp {
    template <typename T>
    static constexpr bool kSupports = kOneOf<T, half, float>;
    float operator()(float a) const { return __builtin_fabsf(a); }
};
struct ReluOp {
    template <typename T>
    static constexpr bool kSupports = kOneOf<T, half, float, int32_t>;
    template <typename T>
    T operator()(T a) const
    {
        return a < T(0) ? T(0) : a;
    }
};
struct NotOp {
    template <typename T>
    static constexpr bool kSupports = kOneOf<T, int16_t, uint16_t>;
    template <typename T>
    T operator()(T a) const
    {
        return static_cast<T>(~a);
    }
};

template <bool isSetMask, typename Op, typename Mask, typename T>
ASCENDC_INLINE void UnaryRepeats(const char *name, Op op, const LocalTensor<T> &dst, const LocalTensor<T> &src, Mask mask,
                                 RepeatTimes repeat, const UnaryRepeatParams &p)
{
    static_assert(Op::template kSupports<T>, "the instruction does not exist for this dtype");
    WalkRepeats<isSetMask>(
        name, mask, repeat, [op](auto n, T *d, const T *a) { Lanewise(op, n, d, a); },
        Walk<T>{dst, "dst", p.dstBlkStride, p.dstRepStride}, Walk<const T>{src, "src", p.srcBlkStride, p.srcRepStride});
}

template <typename Op, typename T>
ASCENDC_INLINE void UnaryCount(const char *name, Op op, const LocalTensor<T> &dst, const LocalTensor<T> &src, int32_t count)
{
    static_assert(Op::template kSupports<T>, "the instruction does not exist for this dtype");
    WalkCount(
        name, count, [op](auto n, T *d, const T *a) { Lanewise(op, n, d, a); }, Walk<T>{dst, "dst", 1, 8},
        Walk<const T>{src, "src", 1, 8});
}

// dst = op(src)
#define ASCENDC_UNARY(Name)                                                                                               \
    template <typename T, bool isSetMask = true>                                                                          \
    inline void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint64_t mask[], const RepeatTimes repeatTimes, \
                     const UnaryRepeatParams &repeatParams)                                                               \
    {                                                                                                                     \
        UnaryRepeats<isSetMask>(#Name, Name##Op{}, dst, src, static_cast<const uint64_t *>(mask), repeatTimes,            \
                                repeatParams);                                                                            \
    }                                                                                                                     \
    template <typename T, bool isSetMask = true>                                                                          \
    inline void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint64_t mask, const RepeatTimes repeatTimes,  \
                     const UnaryRepeatParams &repeatParams)                                                               \
    {                                                                                                                     \
        UnaryRepeats<isSetMask>(#Name, Name##Op{}, dst, src, mask, repeatTimes, repeatParams);                            \
    }                                                                                                                     \
    template <typename T>                                                                                                 \
    inline void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t &count)                          \
    {                                                                                                                     \
        UnaryCount(#Name, Name##Op{}, dst, src, count);                                                                   \
    }

ASCENDC_UNARY(Exp)
ASCENDC_UNARY(Ln)
ASCENDC_UNARY(Sqrt)
ASCENDC_UNARY(Rsqrt)
ASCENDC_UNARY(Reciprocal)
ASCENDC_UNARY(Abs)
ASCENDC_UNARY(Relu)
ASCENDC_UNARY(Not)
#undef ASCENDC_UNARY

ASCENDC_END
