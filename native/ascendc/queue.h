// Queues and buffers: what TPipe hands out, and the life cycle of a queue's buffers.
#pragma once

#include "sync.h"
#include "tensor.h"

ASCENDC_BEGIN

enum class TBufState : uint8_t { FREE = 0, OCCUPIED, ENQUE, DEQUE };

struct TBufType {
    uint8_t *address;
    uint32_t length;
    TBufState state;
    TPosition position;
};
using TBufHandle = TBufType *;

constexpr TPosition QueueSource(TPosition position)
{
    switch (position) {
        case TPosition::A2: return TPosition::A1;
        case TPosition::B2: return TPosition::B1;
        case TPosition::C2: return TPosition::C1;
        case TPosition::VECOUT:
        case TPosition::VECCALC:
        case TPosition::CO1:
        case TPosition::CO2: return position;
        default: return TPosition::GM;
    }
}
constexpr TPosition QueueTarget(TPosition position)
{
    switch (position) {
        case TPosition::VECOUT:
        case TPosition::CO2: return TPosition::GM;
        case TPosition::CO1: return TPosition::CO2;
        default: return position;
    }
}
// Where the buffers of a queue lie.
constexpr TPosition BufferPosition(TPosition source, TPosition target)
{
    return target == TPosition::GM || source == TPosition::CO1 ? source : target;
}

// A queue of buffers on their way from `src` to `dst`. depth 0 is the in-place form: one tensor, kept by the caller.
template <TPosition src, TPosition dst, int32_t depth, auto mask = 0>
class TQueBind {
public:
    static constexpr TPosition srcPosition = src;
    static constexpr TPosition dstPosition = dst;
    static constexpr TPosition bufferPosition = BufferPosition(src, dst);
    static constexpr uint32_t capacity = depth > 0 ? depth : 1;
    static_assert(MemoryOf(bufferPosition) != Memory::COUNT, "a queue needs a position in a core's memory");

    // Takes a free buffer.
    template <typename T>
    LocalTensor<T> AllocTensor()
    {
        auto &live = ThisCore().liveTensors[static_cast<uint32_t>(bufferPosition)];
        if (ASCENDC_UNLIKELY(live >= 8)) {
            ::ascendc::Fail("AllocTensor: position %s already has 8 live tensors, which is all its events allow; free one first",
                            Name());
        }
        for (uint32_t i = 0; i < count_; ++i) {
            TBufType &buffer = first_[cursor_];
            cursor_ = cursor_ + 1 == count_ ? 0 : cursor_ + 1;
            if (buffer.state == TBufState::FREE) {
                buffer.state = TBufState::OCCUPIED;
                ++live;
                return ToTensor<T>(&buffer);
            }
        }
        if (count_ == 0) {
            ::ascendc::Fail("AllocTensor: the queue for %s has no buffers; call InitBuffer first", Name());
        }
        ::ascendc::Fail("AllocTensor: all %u buffers of the queue for %s are in use; FreeTensor one first", count_, Name());
    }
    template <typename T>
    void AllocTensor(LocalTensor<T> &tensor)
    {
        tensor = AllocTensor<T>();
    }

    template <typename T>
    bool EnQue(const LocalTensor<T> &tensor)
    {
        TBufType *buffer = Owned(tensor, "EnQue");
        if (ASCENDC_UNLIKELY(buffer->state != TBufState::OCCUPIED && buffer->state != TBufState::DEQUE)) {
            ::ascendc::Fail("EnQue: the tensor of the queue for %s is %s", Name(), StateName(buffer->state));
        }
        if (ASCENDC_UNLIKELY(used_ >= capacity)) {
            ::ascendc::Fail("EnQue: the queue for %s already holds %u tensors, its depth is %d; DeQue first", Name(), used_, depth);
        }
        buffer->state = TBufState::ENQUE;
        queue_[(head_ + used_) % capacity] = buffer;
        ++used_;
        return true;
    }
    template <TPosition srcUserPos, TPosition dstUserPos, typename T>
    bool EnQue(const LocalTensor<T> &tensor)
    {
        return EnQue(tensor);
    }

    template <typename T>
    LocalTensor<T> DeQue()
    {
        if (ASCENDC_UNLIKELY(used_ == 0)) {
            ::ascendc::Fail("DeQue: the queue for %s is empty; EnQue first", Name());
        }
        TBufType *buffer = queue_[head_];
        head_ = (head_ + 1) % capacity;
        --used_;
        buffer->state = TBufState::DEQUE;
        return ToTensor<T>(buffer);
    }
    template <typename T>
    void DeQue(LocalTensor<T> &tensor)
    {
        tensor = DeQue<T>();
    }
    template <TPosition srcUserPos, TPosition dstUserPos, typename T>
    LocalTensor<T> DeQue()
    {
        return DeQue<T>();
    }

    template <typename T>
    void FreeTensor(LocalTensor<T> &tensor)
    {
        TBufType *buffer = Owned(tensor, "FreeTensor");
        if (ASCENDC_UNLIKELY(buffer->state != TBufState::OCCUPIED && buffer->state != TBufState::DEQUE)) {
            ::ascendc::Fail("FreeTensor: the tensor of the queue for %s is %s", Name(), StateName(buffer->state));
        }
        buffer->state = TBufState::FREE;
        --ThisCore().liveTensors[static_cast<uint32_t>(bufferPosition)];
    }

    bool VacantInQue() const { return used_ < capacity; }
    bool HasTensorInQue() const { return used_ > 0; }
    int32_t GetTensorCountInQue() const { return static_cast<int32_t>(used_); }
    bool HasIdleBuffer() const
    {
        for (uint32_t i = 0; i < count_; ++i) {
            if (first_[i].state == TBufState::FREE) {
                return true;
            }
        }
        return false;
    }
    void FreeAllEvent() {}
    template <typename T>
    TBufState GetState(const LocalTensor<T> &tensor) const
    {
        return tensor.GetBuffer() == nullptr ? TBufState::FREE : tensor.GetBuffer()->state;
    }

protected:
    static const char *Name() { return ::ascendc::PositionName(static_cast<uint32_t>(bufferPosition)); }
    static const char *StateName(TBufState state)
    {
        switch (state) {
            case TBufState::FREE: return "free: AllocTensor it first";
            case TBufState::ENQUE: return "still in the queue: DeQue it first";
            default: return "in use";
        }
    }
    template <typename T>
    LocalTensor<T> ToTensor(TBufType *buffer) const
    {
        return LocalTensor<T>(buffer->address, buffer->length, bufferPosition, buffer);
    }
    template <typename T>
    TBufType *Owned(const LocalTensor<T> &tensor, const char *method) const
    {
        TBufType *buffer = tensor.GetBuffer();
        if (ASCENDC_UNLIKELY(buffer < first_ || buffer >= first_ + count_)) {
            ::ascendc::Fail("%s: the tensor is not one of the %u buffers of this queue for %s", method, count_, Name());
        }
        return buffer;
    }

    friend class TPipe;
    TBufType *first_ = nullptr;
    uint32_t count_ = 0;
    uint32_t cursor_ = 0;
    uint32_t head_ = 0;
    uint32_t used_ = 0;
    TBufType *queue_[capacity] = {};
};

template <TPosition pos, int32_t depth, auto mask = 0>
class TQue : public TQueBind<QueueSource(pos), QueueTarget(pos), depth, mask> {};

// A buffer without a life cycle.
template <TPosition pos = TPosition::LCM>
class TBuf {
public:
    template <typename T>
    LocalTensor<T> Get()
    {
        return Part<T>(0, Length("Get"));
    }
    // The first `len` elements.
    template <typename T>
    LocalTensor<T> Get(uint32_t len)
    {
        return Part<T>(0, uint64_t{len} * sizeof(T));
    }
    // `size` elements from byte `bufOffset` on.
    template <typename T>
    LocalTensor<T> GetWithOffset(uint32_t size, uint32_t bufOffset)
    {
        return Part<T>(bufOffset, uint64_t{size} * sizeof(T));
    }
    template <typename T>
    LocalTensor<T> AllocTensor()
    {
        return Get<T>();
    }
    template <typename T>
    void FreeTensor(LocalTensor<T> &)
    {
    }
    template <typename T>
    void EnQue(const LocalTensor<T> &)
    {
    }
    template <typename T>
    LocalTensor<T> DeQue()
    {
        return Get<T>();
    }

private:
    uint32_t Length(const char *method) const
    {
        if (ASCENDC_UNLIKELY(buffer_ == nullptr)) {
            ::ascendc::Fail("TBuf: %s before InitBuffer (position %s)", method,
                            ::ascendc::PositionName(static_cast<uint32_t>(pos)));
        }
        return buffer_->length;
    }
    template <typename T>
    LocalTensor<T> Part(uint32_t offset, uint64_t bytes) const
    {
        const uint32_t length = Length("Get");
        if (ASCENDC_UNLIKELY(offset + bytes > length)) {
            ::ascendc::Fail("TBuf: %llu bytes at offset %u do not fit its %u bytes (position %s)",
                            static_cast<unsigned long long>(bytes), offset, length,
                            ::ascendc::PositionName(static_cast<uint32_t>(pos)));
        }
        return LocalTensor<T>(buffer_->address + offset, static_cast<uint32_t>(bytes), pos, buffer_);
    }

    friend class TPipe;
    TBufType *buffer_ = nullptr;
};

ASCENDC_END
