// half and bfloat16_t, and conversion of whole arrays.
#pragma once

#include "base.h"

ASCENDC_BEGIN

ASCENDC_INLINE uint32_t FloatBits(float value)
{
    uint32_t bits;
    __builtin_memcpy(&bits, &value, 4);
    return bits;
}
ASCENDC_INLINE float BitsFloat(uint32_t bits)
{
    float value;
    __builtin_memcpy(&value, &bits, 4);
    return value;
}

// binary16 -> binary32, exact. Written without branches so that loops over it vectorise.
ASCENDC_INLINE float HalfBitsToFloat(uint16_t bits)
{
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
    const uint32_t magnitude = static_cast<uint32_t>(bits & 0x7fffu) << 13;
    // Scaling by 2^112 moves the exponent and normalises subnormals; inf and NaN need the top exponent.
    const float scaled = BitsFloat(magnitude) * BitsFloat((254u - 15u) << 23);
    const uint32_t special = magnitude >= (0x7c00u << 13) ? 0x7f800000u : 0u;
    return BitsFloat(FloatBits(scaled) | special | sign);
}

// binary32 -> binary16, round to nearest, ties to even.
ASCENDC_INLINE uint16_t FloatToHalfBits(float value)
{
    const uint32_t bits = FloatBits(value);
    const uint32_t sign = bits & 0x80000000u;
    const uint32_t magnitude = bits ^ sign;
    // Normal range: add the rounding bias, then re-bias the exponent.
    const uint32_t odd = (magnitude >> 13) & 1u;
    const uint32_t normal = (magnitude + 0xfffu + odd - ((127u - 15u) << 23)) >> 13;
    // Subnormal range: the addition of 0.5 lets the adder round.
    const uint32_t subnormal = FloatBits(BitsFloat(magnitude) + 0.5f) - 0x3f000000u;
    uint32_t result = magnitude < (113u << 23) ? subnormal : normal;
    result = magnitude >= (143u << 23) ? 0x7c00u : result;      // 65536 and more; 65520 rounds there through `normal`
    result = magnitude > 0x7f800000u ? 0x7e00u | ((magnitude >> 13) & 0x3ffu) : result;
    return static_cast<uint16_t>(result | (sign >> 16));
}

// binary32 -> bfloat16, round to nearest, ties to even.
ASCENDC_INLINE uint16_t FloatToBfloatBits(float value)
{
    const uint32_t bits = FloatBits(value);
    const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    const uint32_t nan = (bits >> 16) | 0x40u;
    return static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
}

class half {
public:
    half() = default;
    static half FromBits(uint16_t bits)
    {
        half value;
        value.bits_ = bits;
        return value;
    }
    uint16_t Bits() const { return bits_; }
    template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
    half(T value) : bits_(FloatToHalfBits(static_cast<float>(value)))
    {
    }
    operator float() const { return HalfBitsToFloat(bits_); }
    half &operator+=(half other) { return *this = half(float(*this) + float(other)); }
    half &operator-=(half other) { return *this = half(float(*this) - float(other)); }
    half &operator*=(half other) { return *this = half(float(*this) * float(other)); }
    half &operator/=(half other) { return *this = half(float(*this) / float(other)); }

private:
    uint16_t bits_;
};

class bfloat16_t {
public:
    bfloat16_t() = default;
    static bfloat16_t FromBits(uint16_t bits)
    {
        bfloat16_t value;
        value.bits_ = bits;
        return value;
    }
    uint16_t Bits() const { return bits_; }
    template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
    bfloat16_t(T value) : bits_(FloatToBfloatBits(static_cast<float>(value)))
    {
    }
    operator float() const { return BitsFloat(static_cast<uint32_t>(bits_) << 16); }

private:
    uint16_t bits_;
};
static_assert(sizeof(half) == 2 && sizeof(bfloat16_t) == 2);
static_assert(std::is_trivially_copyable_v<half> && std::is_trivially_copyable_v<bfloat16_t>);

ASCENDC_INLINE float ToFloat(const bfloat16_t &value)
{
    return static_cast<float>(value);
}
ASCENDC_INLINE bfloat16_t ToBfloat16(const float &value)
{
    return bfloat16_t(value);
}

#if defined(__F16C__)
typedef short HalfLanes __attribute__((vector_size(16)));
typedef float FloatLanes __attribute__((vector_size(32)));
#endif

// dst may be the start of src (narrowing) but not lie further inside it.
ASCENDC_INLINE void Widen(float *dst, const half *src, uint32_t count)
{
    const auto *bits = reinterpret_cast<const uint16_t *>(src);
    uint32_t i = 0;
#if defined(__F16C__)
    for (; i + 8 <= count; i += 8) {
        HalfLanes packed;
        __builtin_memcpy(&packed, bits + i, sizeof(packed));
        const FloatLanes wide = __builtin_ia32_vcvtph2ps256(packed);
        __builtin_memcpy(dst + i, &wide, sizeof(wide));
    }
#elif defined(__ARM_FP16_FORMAT_IEEE)
    const auto *native = reinterpret_cast<const __fp16 *>(src);
#pragma GCC ivdep
    for (; i < count; ++i) {
        dst[i] = native[i];
    }
#endif
#pragma GCC ivdep
    for (; i < count; ++i) {
        dst[i] = HalfBitsToFloat(bits[i]);
    }
}

ASCENDC_INLINE void Widen(float *dst, const bfloat16_t *src, uint32_t count)
{
    const auto *bits = reinterpret_cast<const uint16_t *>(src);
#pragma GCC ivdep
    for (uint32_t i = 0; i < count; ++i) {
        dst[i] = BitsFloat(static_cast<uint32_t>(bits[i]) << 16);
    }
}

ASCENDC_INLINE void Narrow(half *dst, const float *src, uint32_t count)
{
    auto *bits = reinterpret_cast<uint16_t *>(dst);
    uint32_t i = 0;
#if defined(__F16C__)
    for (; i + 8 <= count; i += 8) {
        FloatLanes wide;
        __builtin_memcpy(&wide, src + i, sizeof(wide));
        const HalfLanes packed = __builtin_ia32_vcvtps2ph256(wide, 0);
        __builtin_memcpy(bits + i, &packed, sizeof(packed));
    }
#elif defined(__ARM_FP16_FORMAT_IEEE)
    auto *native = reinterpret_cast<__fp16 *>(dst);
#pragma GCC ivdep
    for (; i < count; ++i) {
        native[i] = static_cast<__fp16>(src[i]);
    }
#endif
#pragma GCC ivdep
    for (; i < count; ++i) {
        bits[i] = FloatToHalfBits(src[i]);
    }
}

ASCENDC_INLINE void Narrow(bfloat16_t *dst, const float *src, uint32_t count)
{
    auto *bits = reinterpret_cast<uint16_t *>(dst);
#pragma GCC ivdep
    for (uint32_t i = 0; i < count; ++i) {
        bits[i] = FloatToBfloatBits(src[i]);
    }
}

ASCENDC_END

using half = AscendC::half;
using bfloat16_t = AscendC::bfloat16_t;
