// LocalTensor and GlobalTensor. Each knows the memory it may touch.
#pragma once

#include "base.h"
#include "float16.h"

ASCENDC_BEGIN

struct TBufType;   // a queue's buffer, see pipe.h

template <typename T>
class LocalTensor {
public:
    using PrimType = T;

    LocalTensor() = default;
    LocalTensor(uint8_t *address, uint32_t bytes, TPosition position, TBufType *buffer)
        : address_(address), buffer_(buffer), bytes_(bytes), capacity_(bytes), position_(position), memory_(MemoryOf(position))
    {
    }

    uint64_t GetPhyAddr() const { return reinterpret_cast<uint64_t>(address_); }
    uint64_t GetPhyAddr(const uint32_t offset) const { return reinterpret_cast<uint64_t>(address_ + size_t{offset} * sizeof(T)); }

    T GetValue(const uint32_t index) const { return *At(index, "GetValue"); }
    template <typename U>
    void SetValue(const uint32_t index, const U value) const
    {
        *At(index, "SetValue") = static_cast<T>(value);
    }
    T &operator()(const uint32_t index) const { return *At(index, "operator()"); }

    LocalTensor operator[](const uint32_t offset) const
    {
        const uint64_t skip = uint64_t{offset} * sizeof(T);
        if (ASCENDC_UNLIKELY(skip > bytes_)) {
            ::ascendc::Fail("LocalTensor: offset %u is past its %u elements", offset, GetSize());
        }
        LocalTensor part = *this;
        part.address_ += skip;
        part.bytes_ -= static_cast<uint32_t>(skip);
        part.capacity_ -= static_cast<uint32_t>(skip);
        return part;
    }

    template <typename U>
    LocalTensor<U> ReinterpretCast() const
    {
        LocalTensor<U> other;
        other.address_ = address_;
        other.buffer_ = buffer_;
        other.bytes_ = bytes_;
        other.capacity_ = capacity_;
        other.position_ = position_;
        other.memory_ = memory_;
        return other;
    }

    uint32_t GetSize() const { return bytes_ / static_cast<uint32_t>(sizeof(T)); }
    void SetSize(const uint32_t size)
    {
        if (ASCENDC_UNLIKELY(uint64_t{size} * sizeof(T) > capacity_)) {
            ::ascendc::Fail("SetSize: %u elements of %u bytes do not fit the tensor's buffer of %u bytes", size,
                            static_cast<uint32_t>(sizeof(T)), capacity_);
        }
        bytes_ = size * static_cast<uint32_t>(sizeof(T));
    }
    uint32_t GetLength() const { return bytes_; }
    int32_t GetPosition() const { return static_cast<int32_t>(position_); }
    void SetUserTag(const int32_t tag) { tag_ = tag; }
    int32_t GetUserTag() const { return tag_; }

    // The first `bytes` bytes, for the instruction to use; refuses a tensor that has fewer or lies elsewhere.
    ASCENDC_INLINE T *Use(Memory memory, uint64_t bytes, uint32_t alignment, const char *instruction, const char *operand) const
    {
        if (ASCENDC_UNLIKELY(memory_ != memory || bytes > bytes_ ||
                             (reinterpret_cast<uintptr_t>(address_) & (alignment - 1)) != 0 || address_ == nullptr)) {
            ::ascendc::FailOperand({instruction, operand, address_, bytes_, bytes, memory_, memory, alignment});
        }
        return reinterpret_cast<T *>(address_);
    }
    Memory GetMemory() const { return memory_; }
    TBufType *GetBuffer() const { return buffer_; }

private:
    template <typename U>
    friend class LocalTensor;

    T *At(uint32_t index, const char *method) const
    {
        if (ASCENDC_UNLIKELY(address_ == nullptr || (uint64_t{index} + 1) * sizeof(T) > bytes_)) {
            ::ascendc::Fail("LocalTensor: %s(%u) is outside its %u elements", method, index, GetSize());
        }
        return reinterpret_cast<T *>(address_) + index;
    }

    uint8_t *address_ = nullptr;
    TBufType *buffer_ = nullptr;
    uint32_t bytes_ = 0;
    uint32_t capacity_ = 0;
    int32_t tag_ = 0;
    TPosition position_ = TPosition::VECCALC;
    Memory memory_ = Memory::UB;
};

template <typename T>
class GlobalTensor {
public:
    using PrimType = T;

    GlobalTensor() = default;

    void SetGlobalBuffer(__gm__ T *buffer, uint64_t bufferSize)
    {
        address_ = reinterpret_cast<uint8_t *>(buffer);
        begin_ = reinterpret_cast<uint64_t>(buffer);
        end_ = begin_ + bufferSize * sizeof(T);
        size_ = bufferSize;
    }
    // Without a size nothing can be checked but the null pointer.
    void SetGlobalBuffer(__gm__ T *buffer)
    {
        address_ = reinterpret_cast<uint8_t *>(buffer);
        begin_ = 0;
        end_ = ~uint64_t{0};
        size_ = 0;
    }

    const __gm__ T *GetPhyAddr() const { return reinterpret_cast<const T *>(address_); }
    __gm__ T *GetPhyAddr(const uint64_t offset) const { return reinterpret_cast<T *>(address_) + offset; }
    T GetValue(const uint64_t offset) const { return *At(offset, "GetValue"); }
    T &operator()(const uint64_t offset) const { return *At(offset, "operator()"); }
    void SetValue(const uint64_t offset, T value) { *At(offset, "SetValue") = value; }
    uint64_t GetSize() const { return size_; }

    GlobalTensor operator[](const uint64_t offset) const
    {
        GlobalTensor part = *this;
        part.address_ = address_ == nullptr ? nullptr : address_ + offset * sizeof(T);
        return part;
    }

    // A hint for the cache of the chip; there is nothing to do here.
    template <CacheRwMode rwMode = CacheRwMode::RW>
    void SetL2CacheHint(CacheMode)
    {
    }

    // The first `bytes` bytes, for the instruction to use.
    ASCENDC_INLINE T *Use(uint64_t bytes, const char *instruction, const char *operand) const
    {
        const auto first = reinterpret_cast<uint64_t>(address_);
        if (ASCENDC_UNLIKELY(address_ == nullptr || first < begin_ || bytes > end_ - begin_ || first > end_ - bytes)) {
            ::ascendc::FailGlobal(instruction, operand, address_, first - begin_, first - begin_ + bytes, end_ - begin_);
        }
        return reinterpret_cast<T *>(address_);
    }

private:
    T *At(uint64_t offset, const char *method) const
    {
        return (*this)[offset].Use(sizeof(T), "GlobalTensor", method);
    }

    uint8_t *address_ = nullptr;
    uint64_t begin_ = 0, end_ = 0;   // addresses that may be touched
    uint64_t size_ = 0;              // elements, as given to SetGlobalBuffer
};

ASCENDC_END
