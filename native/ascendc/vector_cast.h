// Cast between dtypes.
//
// Overflow of float -> half and bfloat16 gives infinity, as in the chip's default INF/NAN mode; integers saturate, NaN gives 0.
#pragma once

#include "vector_unary.h"

ASCENDC_BEGIN

constexpr uint32_t RoundBit(RoundMode mode)
{
    return 1u << static_cast<uint32_t>(mode);
}
constexpr uint32_t kExact = RoundBit(RoundMode::CAST_NONE);
constexpr uint32_t kRounding = RoundBit(RoundMode::CAST_RINT) | RoundBit(RoundMode::CAST_FLOOR) | RoundBit(RoundMode::CAST_CEIL) |
                               RoundBit(RoundMode::CAST_ROUND) | RoundBit(RoundMode::CAST_TRUNC);

// The round modes of a pair of dtypes, 0 if the chip cannot cast it.
template <typename D, typename S>
constexpr uint32_t CastModes()
{
    if constexpr (std::is_same_v<S, half>) {
        return std::is_same_v<D, float> ? kExact
               : kOneOf<D, int16_t, int32_t> ? kRounding
               : kOneOf<D, int8_t, uint8_t> ? kRounding | kExact
                                            : 0;
    } else if constexpr (std::is_same_v<S, float>) {
        return std::is_same_v<D, half> ? kRounding | kExact | RoundBit(RoundMode::CAST_ODD)
               : kOneOf<D, bfloat16_t, float, int16_t, int32_t, int64_t> ? kRounding
                                                                        : 0;
    } else if constexpr (std::is_same_v<S, bfloat16_t>) {
        return std::is_same_v<D, float> ? kExact : std::is_same_v<D, int32_t> ? kRounding : 0;
    } else if constexpr (kOneOf<S, int8_t, uint8_t>) {
        return std::is_same_v<D, half> ? kExact : 0;
    } else if constexpr (std::is_same_v<S, int16_t>) {
        return std::is_same_v<D, half> ? kRounding | kExact : std::is_same_v<D, float> ? kExact : 0;
    } else if constexpr (std::is_same_v<S, int32_t>) {
        return std::is_same_v<D, float> ? kRounding | kExact
               : kOneOf<D, int16_t, int64_t> ? kExact
               : std::is_same_v<D, half> ? ~0u
                                         : 0;
    } else if constexpr (std::is_same_v<S, int64_t>) {
        return std::is_same_v<D, int32_t> ? kExact : std::is_same_v<D, float> ? kRounding : 0;
    } else {
        return 0;
    }
}

// float -> integral float
template <RoundMode mode>
ASCENDC_INLINE float RoundToIntegral(float x)
{
    if constexpr (mode == RoundMode::CAST_FLOOR) {
        return __builtin_floorf(x);
    } else if constexpr (mode == RoundMode::CAST_CEIL) {
        return __builtin_ceilf(x);
    } else if constexpr (mode == RoundMode::CAST_TRUNC) {
        return __builtin_truncf(x);
    } else if constexpr (mode == RoundMode::CAST_ROUND) {
        // Half away from zero. x - trunc(x) is exact.
        const float whole = __builtin_truncf(x);
        const float away = whole + __builtin_copysignf(1.0f, x);
        return __builtin_fabsf(x - whole) >= 0.5f ? away : __builtin_copysignf(whole, x);
    } else {
        return __builtin_rintf(x);
    }
}

// integral float -> integer
template <typename D>
ASCENDC_INLINE D SaturateFloat(float x)
{
    constexpr D low = std::numeric_limits<D>::min();
    constexpr D high = std::numeric_limits<D>::max();
    constexpr float limit = static_cast<float>(uint64_t{1} << (8 * sizeof(D) - (std::is_signed_v<D> ? 1 : 0)) / 2) *
                            static_cast<float>(uint64_t{1} << (8 * sizeof(D) - (std::is_signed_v<D> ? 1 : 0) -
                                                               (8 * sizeof(D) - (std::is_signed_v<D> ? 1 : 0)) / 2));
    const bool tooHigh = x >= limit;
    const bool tooLow = x < static_cast<float>(low);
    const bool fits = !tooHigh && !tooLow && x == x;
    const D value = static_cast<D>(fits ? x : 0.0f);
    return tooHigh ? high : tooLow ? low : value;
}

// One step of the 16-bit formats: bits without the sign grow with the magnitude.
template <typename D, RoundMode mode>
ASCENDC_INLINE D NarrowOne(float x)
{
    D nearest(x);
    if constexpr (mode == RoundMode::CAST_RINT || mode == RoundMode::CAST_NONE) {
        return nearest;
    } else {
        const double value = x;
        const uint16_t bits = nearest.Bits();
        const uint16_t sign = bits & 0x8000u;
        uint16_t toward = bits & 0x7fffu;      // the neighbour nearer to zero
        const double magnitude = __builtin_fabs(value);
        if (value != value || magnitude == static_cast<double>(std::numeric_limits<float>::infinity())) {
            return nearest;
        }
        const auto asDouble = [](uint16_t pattern) { return static_cast<double>(static_cast<float>(D::FromBits(pattern))); };
        if (asDouble(toward) > magnitude) {
            --toward;
        }
        const double below = asDouble(toward);
        if (below != magnitude) {
            const auto away = static_cast<uint16_t>(toward + 1);
            const double above = asDouble(away);
            bool up = false;
            if constexpr (mode == RoundMode::CAST_FLOOR) {
                up = sign != 0;
            } else if constexpr (mode == RoundMode::CAST_CEIL) {
                up = sign == 0;
            } else if constexpr (mode == RoundMode::CAST_ROUND) {
                // The step past the largest finite number leads to infinity, half a step before where it would lie.
                const double next = above > 1e39 ? below + (below - asDouble(static_cast<uint16_t>(toward - 1))) : above;
                up = magnitude - below >= next - magnitude;
            } else if constexpr (mode == RoundMode::CAST_ODD) {
                up = (toward & 1u) == 0;
            }
            toward = up ? away : toward;
        }
        return D::FromBits(static_cast<uint16_t>(toward | sign));
    }
}

// binary32 -> binary16, nearest, ties away from zero: NarrowOne without branches, so that loops over it vectorise.
ASCENDC_INLINE uint16_t FloatToHalfBitsAway(float value)
{
    const uint32_t bits = FloatBits(value);
    const uint32_t sign = bits & 0x80000000u;
    const uint32_t magnitude = bits ^ sign;
    const uint32_t normal = (magnitude + 0x1000u - ((127u - 15u) << 23)) >> 13;
    // Subnormals are steps of 2^-24. What is cut off is exact.
    const float scaled = BitsFloat(magnitude) * 16777216.0f;
    const float steps = scaled < 1024.0f ? scaled : 1024.0f;
    const auto whole = static_cast<int32_t>(steps);
    const auto subnormal = static_cast<uint32_t>(whole) + (steps - static_cast<float>(whole) >= 0.5f ? 1u : 0u);
    uint32_t result = magnitude < (113u << 23) ? subnormal : normal;
    result = magnitude >= (143u << 23) ? 0x7c00u : result;
    result = magnitude > 0x7f800000u ? 0x7e00u | ((magnitude >> 13) & 0x3ffu) : result;
    return static_cast<uint16_t>(result | (sign >> 16));
}

// integer -> float
template <RoundMode mode, typename S>
ASCENDC_INLINE float IntegerToFloat(S x)
{
    const auto nearest = static_cast<float>(x);
    if constexpr (mode == RoundMode::CAST_RINT || mode == RoundMode::CAST_NONE || sizeof(S) <= 2) {
        return nearest;
    } else {
        // Compare in a type that holds both exactly.
        const auto exact = static_cast<long double>(x);
        float toward = nearest;
        if (__builtin_fabsl(static_cast<long double>(nearest)) > __builtin_fabsl(exact)) {
            toward = BitsFloat(FloatBits(nearest) - 1);
        }
        if (static_cast<long double>(toward) == exact) {
            return toward;
        }
        const float away = BitsFloat(FloatBits(toward) + 1);
        if constexpr (mode == RoundMode::CAST_FLOOR) {
            return x < 0 ? away : toward;
        } else if constexpr (mode == RoundMode::CAST_CEIL) {
            return x < 0 ? toward : away;
        } else if constexpr (mode == RoundMode::CAST_ROUND) {
            const auto down = __builtin_fabsl(exact - static_cast<long double>(toward));
            const auto up = __builtin_fabsl(static_cast<long double>(away) - exact);
            return down >= up ? away : toward;
        } else {
            return toward;
        }
    }
}

template <typename D, typename S, RoundMode mode>
ASCENDC_INLINE D CastOne(S x)
{
    if constexpr (std::is_integral_v<S> && std::is_integral_v<D>) {
        constexpr int64_t low = std::numeric_limits<D>::min();
        constexpr int64_t high = std::numeric_limits<D>::max();
        return static_cast<D>(x < low ? low : x > high ? high : x);
    } else if constexpr (std::is_integral_v<S> && std::is_same_v<D, float>) {
        return IntegerToFloat<mode>(x);
    } else if constexpr (std::is_integral_v<S>) {
        return NarrowOne<D, mode>(static_cast<float>(x));   // at most 16 bits: exact in float
    } else if constexpr (std::is_integral_v<D>) {
        return SaturateFloat<D>(RoundToIntegral<mode>(static_cast<float>(x)));
    } else if constexpr (std::is_same_v<D, float> && std::is_same_v<S, float>) {
        return RoundToIntegral<mode>(x);
    } else if constexpr (std::is_same_v<D, float>) {
        return static_cast<float>(x);
    } else {
        return NarrowOne<D, mode>(x);
    }
}

template <RoundMode mode, typename N, typename D, typename S>
ASCENDC_INLINE void CastRun(N n, D *dst, const S *src)
{
    constexpr bool nearest = mode == RoundMode::CAST_RINT || mode == RoundMode::CAST_NONE;
    if constexpr (std::is_same_v<D, float> && kOneOf<S, half, bfloat16_t>) {
        Widen(dst, src, n);
    } else if constexpr (kOneOf<D, half, bfloat16_t> && std::is_same_v<S, float> && nearest) {
        Narrow(dst, src, n);
    } else if constexpr (std::is_same_v<D, half> && std::is_same_v<S, float> && mode == RoundMode::CAST_ROUND) {
        auto *bits = reinterpret_cast<uint16_t *>(dst);
#pragma GCC ivdep
        for (uint32_t i = 0; i < n; ++i) {
            bits[i] = FloatToHalfBitsAway(src[i]);
        }
    } else if constexpr (kOneOf<S, half, bfloat16_t>) {
        float room[kChunk];
        for (uint32_t done = 0; done < n; done += kChunk) {
            const uint32_t count = n - done < kChunk ? n - done : kChunk;
            Widen(room, src + done, count);
            for (uint32_t i = 0; i < count; ++i) {
                dst[done + i] = CastOne<D, float, mode>(room[i]);
            }
        }
    } else {
        for (uint32_t i = 0; i < n; ++i) {
            dst[i] = CastOne<D, S, mode>(src[i]);
        }
    }
}

// int32 -> half multiplies by the scale of SetDeqScale.
inline void SetDeqScale(half scale)
{
    ThisCore().deqScale = scale;
}

template <typename N, typename D, typename S>
ASCENDC_INLINE void CastRunByMode(RoundMode mode, N n, D *dst, const S *src)
{
    if constexpr (std::is_same_v<D, half> && std::is_same_v<S, int32_t>) {
        const float scale = ThisCore().deqScale;
        for (uint32_t i = 0; i < n; ++i) {
            dst[i] = half(static_cast<float>(src[i]) * scale);
        }
    } else if constexpr (CastModes<D, S>() == kExact) {
        CastRun<RoundMode::CAST_NONE>(n, dst, src);
    } else {
        switch (mode) {
            case RoundMode::CAST_FLOOR: return CastRun<RoundMode::CAST_FLOOR>(n, dst, src);
            case RoundMode::CAST_CEIL: return CastRun<RoundMode::CAST_CEIL>(n, dst, src);
            case RoundMode::CAST_ROUND: return CastRun<RoundMode::CAST_ROUND>(n, dst, src);
            case RoundMode::CAST_TRUNC: return CastRun<RoundMode::CAST_TRUNC>(n, dst, src);
            case RoundMode::CAST_ODD:
                if constexpr ((CastModes<D, S>() & RoundBit(RoundMode::CAST_ODD)) != 0) {
                    return CastRun<RoundMode::CAST_ODD>(n, dst, src);
                }
                break;
            default: break;
        }
        CastRun<RoundMode::CAST_RINT>(n, dst, src);
    }
}

template <typename D, typename S>
ASCENDC_INLINE void CheckCast(RoundMode mode)
{
    static_assert(CastModes<D, S>() != 0, "Cast does not exist for these dtypes on this chip");
    if (ASCENDC_UNLIKELY((CastModes<D, S>() & RoundBit(mode)) == 0)) {
        ::ascendc::Fail("Cast: round mode %u does not exist for these dtypes (allowed: bits of 0x%x)", static_cast<uint32_t>(mode),
                        CastModes<D, S>());
    }
}

template <bool isSetMask, typename Mask, typename D, typename S>
ASCENDC_INLINE void CastRepeats(const LocalTensor<D> &dst, const LocalTensor<S> &src, RoundMode mode, Mask mask,
                                RepeatTimes repeat, const UnaryRepeatParams &p)
{
    CheckCast<D, S>(mode);
    WalkRepeats<isSetMask>(
        "Cast", mask, repeat, [mode](auto n, D *d, const S *s) { CastRunByMode(mode, n, d, s); },
        Walk<D>{dst, "dst", p.dstBlkStride, p.dstRepStride}, Walk<const S>{src, "src", p.srcBlkStride, p.srcRepStride});
}
template <typename T1, typename T2, bool isSetMask = true>
inline void Cast(const LocalTensor<T1> &dst, const LocalTensor<T2> &src, const RoundMode &roundMode, const uint64_t mask[],
                 const RepeatTimes repeatTimes, const UnaryRepeatParams &repeatParams)
{
    CastRepeats<isSetMask>(dst, src, roundMode, mask, repeatTimes, repeatParams);
}
template <typename T1, typename T2, bool isSetMask = true>
inline void Cast(const LocalTensor<T1> &dst, const LocalTensor<T2> &src, const RoundMode &roundMode, const uint64_t mask,
                 const RepeatTimes repeatTimes, const UnaryRepeatParams &repeatParams)
{
    CastRepeats<isSetMask>(dst, src, roundMode, mask, repeatTimes, repeatParams);
}
template <typename T1, typename T2>
inline void Cast(const LocalTensor<T1> &dst, const LocalTensor<T2> &src, const RoundMode &roundMode, const uint32_t count)
{
    const RoundMode mode = roundMode;
    CheckCast<T1, T2>(mode);
    WalkCount(
        "Cast", count, [mode](auto n, T1 *d, const T2 *s) { CastRunByMode(mode, n, d, s); }, Walk<T1>{dst, "dst", 1, 8},
        Walk<const T2>{src, "src", 1, 8});
}

ASCENDC_END
