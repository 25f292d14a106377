// Compare, Compares and CompareScalar: one bit per element.
#pragma once

#include "vector_binary.h"

ASCENDC_BEGIN

template <typename T>
using Compared = std::conditional_t<kIsHalf<T>, float, T>;

template <CMPMODE mode, typename T>
ASCENDC_INLINE bool Holds(T a, T b)
{
    if constexpr (mode == CMPMODE::LT) {
        return a < b;
    } else if constexpr (mode == CMPMODE::GT) {
        return a > b;
    } else if constexpr (mode == CMPMODE::EQ) {
        return a == b;
    } else if constexpr (mode == CMPMODE::LE) {
        return a <= b;
    } else if constexpr (mode == CMPMODE::GE) {
        return a >= b;
    } else {
        return a != b;
    }
}

// Bit i % 8 of byte i / 8 says whether element i compares so. step: 0 for a scalar b.
template <CMPMODE mode, typename T>
inline void CompareRun(uint8_t *dst, const T *a, const T *b, uint32_t step, uint32_t count)
{
    for (uint32_t byte = 0; byte < count / 8; ++byte) {
        uint8_t bits = 0;
        for (uint32_t bit = 0; bit < 8; ++bit) {
            const uint32_t i = byte * 8 + bit;
            bits = static_cast<uint8_t>(bits | (Holds<mode, Compared<T>>(a[i], b[i * step]) ? 1u : 0u) << bit);
        }
        dst[byte] = bits;
    }
}

template <typename T>
ASCENDC_INLINE void CompareByMode(CMPMODE mode, uint8_t *dst, const T *a, const T *b, uint32_t step, uint32_t count)
{
    switch (mode) {
        case CMPMODE::LT: return CompareRun<CMPMODE::LT>(dst, a, b, step, count);
        case CMPMODE::GT: return CompareRun<CMPMODE::GT>(dst, a, b, step, count);
        case CMPMODE::EQ: return CompareRun<CMPMODE::EQ>(dst, a, b, step, count);
        case CMPMODE::LE: return CompareRun<CMPMODE::LE>(dst, a, b, step, count);
        case CMPMODE::GE: return CompareRun<CMPMODE::GE>(dst, a, b, step, count);
        default: return CompareRun<CMPMODE::NE>(dst, a, b, step, count);
    }
}

template <typename T, typename U>
ASCENDC_INLINE uint8_t *CheckCompare(const char *name, const LocalTensor<U> &dst, CMPMODE mode, uint32_t count)
{
    static_assert(kOneOf<T, half, float, int32_t> && std::is_same_v<U, uint8_t>, "the comparison does not exist for this dtype");
    NeedVectorCore(name);
    if (ASCENDC_UNLIKELY((std::is_same_v<T, int32_t>) && mode != CMPMODE::EQ)) {
        ::ascendc::Fail("%s: int32_t can only be compared with EQ on this chip", name);
    }
    if (ASCENDC_UNLIKELY(uint64_t{count} * sizeof(T) % ONE_REPEAT_BYTE_SIZE != 0)) {
        ::ascendc::Fail("%s: %u elements of %u bytes are not whole repeats of 256 bytes", name, count,
                        static_cast<uint32_t>(sizeof(T)));
    }
    return dst.Use(Memory::UB, count / 8, kBlockBytes, name, "dst");
}

template <typename T, typename U>
inline void Compare(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, CMPMODE cmpMode,
                    uint32_t count)
{
    uint8_t *bits = CheckCompare<T>("Compare", dst, cmpMode, count);
    const T *a = src0.Use(Memory::UB, uint64_t{count} * sizeof(T), kBlockBytes, "Compare", "src0");
    const T *b = src1.Use(Memory::UB, uint64_t{count} * sizeof(T), kBlockBytes, "Compare", "src1");
    CompareByMode(cmpMode, bits, a, b, 1, count);
    AfterCountForm();
}

template <typename T, typename U>
ASCENDC_INLINE void CompareWithScalar(const char *name, const LocalTensor<U> &dst, const LocalTensor<T> &src0, T scalar, CMPMODE cmpMode,
                                      uint32_t count)
{
    uint8_t *bits = CheckCompare<T>(name, dst, cmpMode, count);
    const T *a = src0.Use(Memory::UB, uint64_t{count} * sizeof(T), kBlockBytes, name, "src0");
    CompareByMode(cmpMode, bits, a, &scalar, 0, count);
    AfterCountForm();
}
template <typename T, typename U>
inline void Compares(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const T src1Scalar, CMPMODE cmpMode, uint32_t count)
{
    CompareWithScalar("Compares", dst, src0, src1Scalar, cmpMode, count);
}
// The older name.
template <typename T, typename U>
inline void CompareScalar(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const T src1Scalar, CMPMODE cmpMode,
                          uint32_t count)
{
    CompareWithScalar("CompareScalar", dst, src0, src1Scalar, cmpMode, count);
}

ASCENDC_END
