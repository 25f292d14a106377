// Loops over neighbouring elements. half is computed in float and rounded once, as its results are exact in float.
#pragma once

#include "vector_walk.h"

ASCENDC_BEGIN

template <typename T>
constexpr bool kIsHalf = std::is_same_v<T, half>;

constexpr uint32_t kChunk = 128;   // lanes of a repeat of half

// A source as floats: itself, or widened into `room`.
ASCENDC_INLINE const float *AsFloats(const float *src, float *, uint32_t)
{
    return src;
}
ASCENDC_INLINE const float *AsFloats(const half *src, float *room, uint32_t count)
{
    Widen(room, src, count);
    return room;
}

ASCENDC_INLINE void StoreFloats(float *dst, const float *src, uint32_t count)
{
    __builtin_memcpy(dst, src, count * sizeof(float));
}
ASCENDC_INLINE void StoreFloats(half *dst, const float *src, uint32_t count)
{
    Narrow(dst, src, count);
}

template <typename Op, typename D, typename A>
ASCENDC_INLINE void HalfLanewise(Op op, uint32_t count, D *dst, const A *a)
{
    float roomA[kChunk], result[kChunk];
    const float *x = AsFloats(a, roomA, count);
    for (uint32_t i = 0; i < count; ++i) {
        result[i] = op(x[i]);
    }
    StoreFloats(dst, result, count);
}

template <typename Op, typename D, typename A, typename B>
ASCENDC_INLINE void HalfLanewise(Op op, uint32_t count, D *dst, const A *a, const B *b)
{
    float roomA[kChunk], roomB[kChunk], result[kChunk];
    const float *x = AsFloats(a, roomA, count);
    const float *y = AsFloats(b, roomB, count);
    for (uint32_t i = 0; i < count; ++i) {
        result[i] = op(x[i], y[i]);
    }
    StoreFloats(dst, result, count);
}

template <typename Op, typename D, typename A, typename B, typename C>
ASCENDC_INLINE void HalfLanewise(Op op, uint32_t count, D *dst, const A *a, const B *b, const C *c)
{
    float roomA[kChunk], roomB[kChunk], roomC[kChunk], result[kChunk];
    const float *x = AsFloats(a, roomA, count);
    const float *y = AsFloats(b, roomB, count);
    const float *z = AsFloats(c, roomC, count);
    for (uint32_t i = 0; i < count; ++i) {
        result[i] = op(x[i], y[i], z[i]);
    }
    StoreFloats(dst, result, count);
}

// dst[i] = op(src[i]...). Operands are the same or do not overlap (CheckOverlap), so lanes are independent.
template <typename Op, typename N, typename D, typename... S>
ASCENDC_INLINE void Lanewise(Op op, N n, D *dst, const S *...src)
{
    if constexpr (kIsHalf<D> || (kIsHalf<S> || ...)) {
        for (uint32_t done = 0; done < n; done += kChunk) {
            const uint32_t count = n - done < kChunk ? n - done : kChunk;
            HalfLanewise(op, count, dst + done, (src + done)...);
        }
    } else if constexpr (!std::is_same_v<N, uint32_t>) {
        D result[N::value];   // a block is a register or two: read all, then write
        for (uint32_t i = 0; i < N::value; ++i) {
            result[i] = op(src[i]...);
        }
        __builtin_memcpy(dst, result, sizeof(result));
    } else {
#pragma GCC ivdep
        for (uint32_t i = 0; i < n; ++i) {
            dst[i] = op(src[i]...);
        }
    }
}

ASCENDC_END
