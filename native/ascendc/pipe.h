// TPipe: hands out the memory of a core and its event ids.
#pragma once

#include "queue.h"

ASCENDC_BEGIN

class TPipe {
public:
    TPipe() { Init(); }
    ~TPipe()
    {
        if (ThisCore().pipe == this) {
            Destroy();
        }
    }
    TPipe(const TPipe &) = delete;
    TPipe &operator=(const TPipe &) = delete;

    void Init()
    {
        auto &core = ThisCore();
        Reset();
        if (core.aic != 0 && core.npuArch == 2201) {
            // The chip's TPipe keeps three of these events for the matrix library and sets them.
            constexpr auto event = static_cast<uint32_t>(HardEvent::M_MTE1);
            core.eventTaken[event] |= 7;
            for (uint32_t id = 0; id < 3; ++id) {
                core.eventSet[event][id] = 1;
            }
        }
        core.pipe = this;
    }
    void Destroy()
    {
        Reset();
        ThisCore().pipe = nullptr;
    }
    void Reset()
    {
        auto &core = ThisCore();
        records_ = 0;
        buffers_ = 0;
        for (auto &next : next_) {
            next = 0;
        }
        for (auto &live : core.liveTensors) {
            live = 0;
        }
        for (auto &taken : core.eventTaken) {
            taken = 0;
        }
    }

    // `num` buffers of `len` bytes each (rounded up to 32) for a queue.
    template <class T>
    bool InitBuffer(T &que, uint8_t num, uint32_t len)
    {
        que.first_ = Take(T::bufferPosition, num, num, len);
        que.count_ = num;
        que.cursor_ = que.head_ = que.used_ = 0;
        return true;
    }
    template <TPosition pos>
    bool InitBuffer(TBuf<pos> &buf, uint32_t len)
    {
        buf.buffer_ = Take(pos, 0, 1, len);
        return true;
    }

    // An event id that stays taken until ReleaseEventID.
    template <HardEvent evt>
    TEventID AllocEventID()
    {
        const TEventID id = FetchEventID(evt);
        ThisCore().eventTaken[static_cast<uint32_t>(evt)] |= static_cast<uint8_t>(1u << id);
        return id;
    }
    template <HardEvent evt>
    void ReleaseEventID(TEventID id)
    {
        uint8_t &taken = ThisCore().eventTaken[static_cast<uint32_t>(evt)];
        if (ASCENDC_UNLIKELY(id < 0 || id >= static_cast<int32_t>(::ascendc::kEventIds) || (taken & (1u << id)) == 0)) {
            ::ascendc::Fail("ReleaseEventID: event id %d was not allocated", id);
        }
        taken &= static_cast<uint8_t>(~(1u << id));
    }
    // An event id that is free now; it is not taken.
    TEventID FetchEventID(HardEvent evt)
    {
        const uint8_t taken = ThisCore().eventTaken[static_cast<uint32_t>(evt)];
        for (uint32_t id = 0; id < ::ascendc::kEventIds; ++id) {
            if ((taken & (1u << id)) == 0) {
                return static_cast<TEventID>(id);
            }
        }
        ::ascendc::Fail("FetchEventID: all %u event ids of HardEvent %u are taken", ::ascendc::kEventIds,
                        static_cast<uint32_t>(evt));
    }
    template <HardEvent evt>
    TEventID FetchEventID()
    {
        return FetchEventID(evt);
    }

    // `size` elements at byte `offset` of the memory of `pos`, whoever holds them.
    template <TPosition pos, typename T>
    LocalTensor<T> GetAbsAddr(int32_t offset, int32_t size) const
    {
        constexpr auto memory = static_cast<uint32_t>(MemoryOf(pos));
        const auto &core = ThisCore();
        if (offset < 0 || size < 0 || uint64_t(offset) + uint64_t(size) * sizeof(T) > core.memorySize[memory]) {
            ::ascendc::Fail("GetAbsAddr: %d elements at byte %d do not fit %s of %u bytes", size, offset,
                            ::ascendc::MemoryName(MemoryOf(pos)), core.memorySize[memory]);
        }
        return LocalTensor<T>(core.memory[memory] + offset, static_cast<uint32_t>(size * sizeof(T)), pos, nullptr);
    }

private:
    TBufType *Take(TPosition position, uint8_t number, uint32_t parts, uint32_t length)
    {
        auto &core = ThisCore();
        const Memory memory = MemoryOf(position);
        const auto index = static_cast<uint32_t>(memory);
        const uint64_t rounded = (uint64_t{length} + 31) / 32 * 32;
        const uint32_t limit = memory == Memory::UB ? core.ubUsable : core.memorySize[index];
        if (ASCENDC_UNLIKELY(length == 0 || parts == 0)) {
            ::ascendc::Fail("InitBuffer: %u buffers of %u bytes for %s", parts, length,
                            ::ascendc::PositionName(static_cast<uint32_t>(position)));
        }
        const ::ascendc::BufferRecord record{memory, static_cast<uint8_t>(position), number,
                                             rounded > ~uint32_t{0} ? ~uint32_t{0} : static_cast<uint32_t>(rounded),
                                             next_[index]};
        if (ASCENDC_UNLIKELY(next_[index] + rounded * parts > limit)) {
            ::ascendc::FailMemoryFull(record, limit, record_, records_);
        }
        if (ASCENDC_UNLIKELY(buffers_ + parts > ::ascendc::kBuffersPerPipe)) {
            ::ascendc::Fail("InitBuffer: %u more buffers would make more than %u, the most a kernel may have", parts,
                            ::ascendc::kBuffersPerPipe);
        }
        record_[records_++] = record;
        TBufType *first = buffer_ + buffers_;
        for (uint32_t i = 0; i < parts; ++i) {
            buffer_[buffers_++] = {core.memory[index] + next_[index], record.length, TBufState::FREE, position};
            next_[index] += record.length;
        }
        return first;
    }

    ::ascendc::BufferRecord record_[::ascendc::kBuffersPerPipe];
    TBufType buffer_[::ascendc::kBuffersPerPipe];
    uint32_t records_ = 0;
    uint32_t buffers_ = 0;
    uint32_t next_[::ascendc::kMemories] = {};   // first free address of each memory
};

inline TPipe *GetTPipePtr()
{
    void *pipe = ThisCore().pipe;
    if (ASCENDC_UNLIKELY(pipe == nullptr)) {
        ::ascendc::Fail("GetTPipePtr: this core has no TPipe");
    }
    return static_cast<TPipe *>(pipe);
}

ASCENDC_END

using AscendC::GetTPipePtr;
