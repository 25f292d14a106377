// Marks in streams that others wait for.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "runtime/handle_table.h"
#include "runtime/task_queue.h"

namespace aclemu {

class Event : public std::enable_shared_from_this<Event> {
public:
    explicit Event(bool timed);

    uint32_t Id() const { return id_; }
    bool Timed() const { return timed_; }

    // Each record is a new version; waits refer to the version that is latest when they are called.
    aclError Record(const std::shared_ptr<TaskQueue> &queue);
    aclError Reset(const std::shared_ptr<TaskQueue> &queue);
    aclError MakeWait(const std::shared_ptr<TaskQueue> &queue, int64_t timeoutMs);

    bool Synchronize(int64_t timeoutMs); // false if time ran out; true at once if nothing is recorded
    bool Complete(); // recorded and reached
    bool WaitsComplete(); // no stream waits for it any more
    bool Timestamp(uint64_t *nanoseconds);

private:
    void Reach(uint64_t version, bool reset);
    // Also ends, with true, when the stream that waits is told to drop its tasks; `waiter` may be NULL.
    bool WaitVersion(uint64_t version, int64_t timeoutMs, const TaskQueue *waiter);
    void DemandRecord(); // in delayed mode, whoever waits makes the recording stream run

    const uint32_t id_;
    const bool timed_;
    std::mutex recording_; // keeps versions in the order of the pushes
    std::mutex mutex_;
    std::condition_variable reached_;
    uint64_t recorded_ = 0;
    uint64_t completed_ = 0;
    bool valid_ = false; // the latest version is reached and not reset
    uint64_t time_ = 0;
    unsigned waits_ = 0;
    std::weak_ptr<TaskQueue> recorder_;
    uint64_t recordNumber_ = 0;
};

HandleTable<Event> &Events();

} // namespace aclemu
