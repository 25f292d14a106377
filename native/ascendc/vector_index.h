// CreateVecIndex.
#pragma once

#include "vector_binary.h"

ASCENDC_BEGIN

// dst[i] = firstValue + i
template <typename T>
inline void CreateVecIndex(LocalTensor<T> dst, const T &firstValue, uint32_t count)
{
    static_assert(kOneOf<T, int16_t, half, int32_t, float>, "CreateVecIndex does not exist for this dtype");
    const T first = firstValue;
    WalkCount(
        "CreateVecIndex", count,
        [first](auto n, T *d) {
            for (uint32_t i = 0; i < n; ++i) {
                if constexpr (std::is_integral_v<T>) {
                    d[i] = static_cast<T>(static_cast<uint32_t>(first) + i); // wraps around
                } else {
                    d[i] = T(static_cast<float>(first) + static_cast<float>(i));
                }
            }
        },
        Walk<T>{dst, "dst", 1, 8});
}

ASCENDC_END
