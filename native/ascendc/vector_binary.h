// Two sources: Add Sub Mul Div Max Min And Or MulAddDst.
#pragma once

#include "vector_lanes.h"

ASCENDC_BEGIN

struct BinaryRepeatParams {
    BinaryRepeatParams() {}
    BinaryRepeatParams(const uint8_t dstBlkStrideIn, const uint8_t src0BlkStrideIn, const uint8_t src1BlkStrideIn,
                       const uint8_t dstRepStrideIn, const uint8_t src0RepStrideIn, const uint8_t src1RepStrideIn)
        : dstBlkStride(dstBlkStrideIn), src0BlkStride(src0BlkStrideIn), src1BlkStride(src1BlkStrideIn),
          dstRepStride(dstRepStrideIn), src0RepStride(src0RepStrideIn), src1RepStride(src1RepStrideIn)
    {
    }
    uint32_t blockNumber = DEFAULT_BLK_NUM;
    uint8_t dstBlkStride = DEFAULT_BLK_STRIDE;
    uint8_t src0BlkStride = DEFAULT_BLK_STRIDE;
    uint8_t src1BlkStride = DEFAULT_BLK_STRIDE;
    uint8_t dstRepStride = DEFAULT_REPEAT_STRIDE;
    uint8_t src0RepStride = DEFAULT_REPEAT_STRIDE;
    uint8_t src1RepStride = DEFAULT_REPEAT_STRIDE;
    bool repeatStrideMode = false;
    bool strideSizeMode = false;
};

template <typename T, typename... U>
constexpr bool kOneOf = (std::is_same_v<T, U> || ...);

// Integers wrap around.
template <typename T>
using Wrapping = std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::enable_if<true, T>>;

struct AddOp {
    template <typename T>
    static constexpr bool kSupports = kOneOf<T, half, float, int16_t, int32_t>;
    template <typename T>
    T operator()(T a, T b) const
    {
        using W = typename Wrapping<T>::type;
        return static_cast<T>(static_cast<W>(a) + static_cast<W>(b));
    }
};
struct SubOp {
    template <typename T>
    static constexpr bool kSupports = kOneOf<T, half, float, int16_t, int32_t>;
    template <typename T>
    T operator()(T a, T b) const
    {
        using W = typename Wrapping<T>::type;
        return static_cast<T>(static_cast<W>(a) - static_cast<W>(b));
    }
};
struct MulOp {
    template <typename T>
    static constexpr bool kSupports = kOneOf<T, half, float, int16_t, int32_t>;
    template <typename T>
    T operator()(T a, T b) const
    {
        if constexpr (std::is_integral_v<T>) {
            return static_cast<T>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b));
        } else {
            return a * b;
        }
    }
};
struct DivOp {
    template <typename T>
    static constexpr bool kSupports = kOneOf<T, half, float>;
    template <typename T>
    T operator()(T a, T b) const
    {
        return a / b;
    }
};
struct MaxOp {
    template <typename T>
    static constexpr bool kSupports = kOneOf<T, half, float, int16_t, int32_t>;
    template <typename T>
    T operator()(T a, T b) const
    {
        return a > b ? a : b;
    }
};
struct MinOp {
    template <typename T>
    static constexpr bool kSupports = kOneOf<T, half, float, int16_t, int32_t>;
    template <typename T>
    T operator()(T a, T b) const
    {
        return a < b ? a : b;
    }
};
struct AndOp {
    template <typename T>
    static constexpr bool kSupports = kOneOf<T, int16_t, uint16_t>;
    template <typename T>
    T operator()(T a, T b) const
    {
        return static_cast<T>(a & b);
    }
};
struct OrOp {
    template <typename T>
    static constexpr bool kSupports = kOneOf<T, int16_t, uint16_t>;
    template <typename T>
    T operator()(T a, T b) const
    {
        return static_cast<T>(a | b);
    }
};

template <bool isSetMask, typename Op, typename Mask, typename T>
ASCENDC_INLINE void BinaryRepeats(const char *name, const LocalTensor<T> &dst, const LocalTensor<T> &src0,
                                  const LocalTensor<T> &src1, Mask mask, RepeatTimes repeat, const BinaryRepeatParams &p)
{
    static_assert(Op::template kSupports<T>, "the instruction does not exist for this dtype");
    WalkRepeats<isSetMask>(
        name, mask, repeat, [](auto n, T *d, const T *a, const T *b) { Lanewise(Op{}, n, d, a, b); },
        Walk<T>{dst, "dst", p.dstBlkStride, p.dstRepStride}, Walk<const T>{src0, "src0", p.src0BlkStride, p.src0RepStride},
        Walk<const T>{src1, "src1", p.src1BlkStride, p.src1RepStride});
}

template <typename Op, typename T>
ASCENDC_INLINE void BinaryCount(const char *name, const LocalTensor<T> &dst, const LocalTensor<T> &src0,
                                const LocalTensor<T> &src1, int32_t count)
{
    static_assert(Op::template kSupports<T>, "the instruction does not exist for this dtype");
    WalkCount(
        name, count, [](auto n, T *d, const T *a, const T *b) { Lanewise(Op{}, n, d, a, b); }, Walk<T>{dst, "dst", 1, 8},
        Walk<const T>{src0, "src0", 1, 8}, Walk<const T>{src1, "src1", 1, 8});
}

// dst = src0 op src1, in the three forms every one of these instructions has.
#define ASCENDC_BINARY(Name)                                                                                             \
    template <typename T, bool isSetMask = true>                                                                         \
    inline void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, uint64_t mask[], \
                     const RepeatTimes repeatTimes, const BinaryRepeatParams &repeatParams)                              \
    {                                                                                                                    \
        BinaryRepeats<isSetMask, Name##Op>(#Name, dst, src0, src1, static_cast<const uint64_t *>(mask), repeatTimes,     \
                                           repeatParams);                                                                \
    }                                                                                                                    \
    template <typename T, bool isSetMask = true>                                                                         \
    inline void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, uint64_t mask,   \
                     const RepeatTimes repeatTimes, const BinaryRepeatParams &repeatParams)                              \
    {                                                                                                                    \
        BinaryRepeats<isSetMask, Name##Op>(#Name, dst, src0, src1, mask, repeatTimes, repeatParams);                     \
    }                                                                                                                    \
    template <typename T>                                                                                                \
    inline void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,                  \
                     const int32_t &count)                                                                               \
    {                                                                                                                    \
        BinaryCount<Name##Op>(#Name, dst, src0, src1, count);                                                            \
    }

ASCENDC_BINARY(Add)
ASCENDC_BINARY(Sub)
ASCENDC_BINARY(Mul)
ASCENDC_BINARY(Div)
ASCENDC_BINARY(Max)
ASCENDC_BINARY(Min)
ASCENDC_BINARY(And)
ASCENDC_BINARY(Or)
#undef ASCENDC_BINARY

// a * b + c with one rounding; whether the chip rounds once or twice is not documented.
struct FusedOp {
    float operator()(float a, float b, float c) const { return __builtin_fmaf(a, b, c); }
};

template <typename T, typename U>
constexpr bool kMulAddTypes = (kOneOf<T, half, float> && std::is_same_v<T, U>) || (std::is_same_v<T, float> && kIsHalf<U>);

// dst = src0 * src1 + dst
template <bool isSetMask, typename Mask, typename T, typename U>
ASCENDC_INLINE void MulAddDstRepeats(const LocalTensor<T> &dst, const LocalTensor<U> &src0, const LocalTensor<U> &src1, Mask mask,
                                     RepeatTimes repeat, const BinaryRepeatParams &p)
{
    static_assert(kMulAddTypes<T, U>, "MulAddDst does not exist for these dtypes");
    WalkRepeats<isSetMask>(
        "MulAddDst", mask, repeat, [](auto n, T *d, const U *a, const U *b) { Lanewise(FusedOp{}, n, d, a, b, const_cast<const T *>(d)); },
        Walk<T>{dst, "dst", p.dstBlkStride, p.dstRepStride}, Walk<const U>{src0, "src0", p.src0BlkStride, p.src0RepStride},
        Walk<const U>{src1, "src1", p.src1BlkStride, p.src1RepStride});
}
template <typename T, typename U, bool isSetMask = true>
inline void MulAddDst(const LocalTensor<T> &dst, const LocalTensor<U> &src0, const LocalTensor<U> &src1, const uint64_t mask[],
                      const RepeatTimes repeatTimes, const BinaryRepeatParams &repeatParams)
{
    MulAddDstRepeats<isSetMask>(dst, src0, src1, mask, repeatTimes, repeatParams);
}
template <typename T, typename U, bool isSetMask = true>
inline void MulAddDst(const LocalTensor<T> &dst, const LocalTensor<U> &src0, const LocalTensor<U> &src1, uint64_t mask,
                      const RepeatTimes repeatTimes, const BinaryRepeatParams &repeatParams)
{
    MulAddDstRepeats<isSetMask>(dst, src0, src1, mask, repeatTimes, repeatParams);
}
template <typename T, typename U>
inline void MulAddDst(const LocalTensor<T> &dst, const LocalTensor<U> &src0, const LocalTensor<U> &src1, const int32_t &count)
{
    static_assert(kMulAddTypes<T, U>, "MulAddDst does not exist for these dtypes");
    WalkCount(
        "MulAddDst", count, [](auto n, T *d, const U *a, const U *b) { Lanewise(FusedOp{}, n, d, a, b, const_cast<const T *>(d)); },
        Walk<T>{dst, "dst", 1, 8}, Walk<const U>{src0, "src0", 1, 8}, Walk<const U>{src1, "src1", 1, 8});
}

ASCENDC_END
