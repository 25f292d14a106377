// SetAtomicAdd and its kin: copies to global memory that combine with what is there.
#pragma once

#include "tensor.h"

ASCENDC_BEGIN

enum class AtomicDtype { ATOMIC_NONE = 0, ATOMIC_F32, ATOMIC_F16, ATOMIC_S16, ATOMIC_S32, ATOMIC_S8, ATOMIC_BF16 };
enum class AtomicOp { ATOMIC_SUM = 0, ATOMIC_MAX, ATOMIC_MIN };

template <typename T>
constexpr AtomicDtype AtomicDtypeOf()
{
    if constexpr (std::is_same_v<T, float>) {
        return AtomicDtype::ATOMIC_F32;
    } else if constexpr (std::is_same_v<T, half>) {
        return AtomicDtype::ATOMIC_F16;
    } else if constexpr (std::is_same_v<T, bfloat16_t>) {
        return AtomicDtype::ATOMIC_BF16;
    } else if constexpr (std::is_same_v<T, int16_t>) {
        return AtomicDtype::ATOMIC_S16;
    } else if constexpr (std::is_same_v<T, int32_t>) {
        return AtomicDtype::ATOMIC_S32;
    } else if constexpr (std::is_same_v<T, int8_t>) {
        return AtomicDtype::ATOMIC_S8;
    } else {
        return AtomicDtype::ATOMIC_NONE;
    }
}

template <typename T, AtomicOp op>
inline void SetAtomic()
{
    static_assert(AtomicDtypeOf<T>() != AtomicDtype::ATOMIC_NONE, "atomic copies do not exist for this dtype");
    ThisCore().atomicType = static_cast<uint32_t>(AtomicDtypeOf<T>());
    ThisCore().atomicOp = static_cast<uint32_t>(op);
}
template <typename T>
inline void SetAtomicAdd()
{
    SetAtomic<T, AtomicOp::ATOMIC_SUM>();
}
template <typename T>
inline void SetAtomicMax()
{
    SetAtomic<T, AtomicOp::ATOMIC_MAX>();
}
template <typename T>
inline void SetAtomicMin()
{
    SetAtomic<T, AtomicOp::ATOMIC_MIN>();
}
template <typename T>
inline void SetAtomicType()
{
    static_assert(AtomicDtypeOf<T>() != AtomicDtype::ATOMIC_NONE, "atomic copies do not exist for this dtype");
    ThisCore().atomicType = static_cast<uint32_t>(AtomicDtypeOf<T>());
}
inline void SetAtomicNone()
{
    ThisCore().atomicType = static_cast<uint32_t>(AtomicDtype::ATOMIC_NONE);
}

template <typename T>
__attribute__((noinline)) void CombineGlobal(T *dst, const T *src, uint64_t count)
{
    const auto op = static_cast<AtomicOp>(ThisCore().atomicOp);
    // GM and UB need not be aligned for T.
    for (uint64_t i = 0; i < count; ++i) {
        T old, add;
        __builtin_memcpy(static_cast<void *>(&old), reinterpret_cast<const uint8_t *>(dst) + i * sizeof(T), sizeof(T));
        __builtin_memcpy(static_cast<void *>(&add), reinterpret_cast<const uint8_t *>(src) + i * sizeof(T), sizeof(T));
        T result = op == AtomicOp::ATOMIC_SUM ? T(old + add) : op == AtomicOp::ATOMIC_MAX ? (add > old ? add : old)
                                                                                          : (add < old ? add : old);
        __builtin_memcpy(reinterpret_cast<uint8_t *>(dst) + i * sizeof(T), &result, sizeof(T));
    }
}

// Every copy into global memory ends here.
template <typename T>
ASCENDC_INLINE void StoreGlobal(T *dst, const T *src, uint64_t bytes, const char *instruction)
{
    const auto type = static_cast<AtomicDtype>(ThisCore().atomicType);
    if (ASCENDC_LIKELY(type == AtomicDtype::ATOMIC_NONE)) {
        __builtin_memcpy(dst, src, bytes);
        return;
    }
    if constexpr (AtomicDtypeOf<T>() != AtomicDtype::ATOMIC_NONE) {
        if (AtomicDtypeOf<T>() == type) {
            ::ascendc::LockAtomics();
            CombineGlobal(dst, src, bytes / sizeof(T));
            ::ascendc::UnlockAtomics();
            return;
        }
    }
    ::ascendc::Fail("%s: the dtype of the copy is not the one that was given to SetAtomicAdd", instruction);
}

ASCENDC_END
