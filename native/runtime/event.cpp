#include "runtime/event.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <system_error>

#include "runtime/api.h"

namespace aclemu {
namespace {

uint32_t NextEventId()
{
    static std::atomic<uint32_t> next{0};
    return next.fetch_add(1, std::memory_order_relaxed);
}

uint64_t Now()
{
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                     std::chrono::steady_clock::now().time_since_epoch())
                                     .count());
}

// 0 and a report if the task cannot be queued.
uint64_t Push(TaskQueue &queue, TaskQueue::Task task, aclError *status)
{
    try {
        const uint64_t number = queue.Push(std::move(task));
        *status =
            number != 0 ? ACL_SUCCESS : Fail(ACL_ERROR_RT_STREAM_CONTEXT, "the stream is being destroyed");
        return number;
    } catch (const std::system_error &error) {
        *status = Fail(ACL_ERROR_RT_NO_STREAM_RESOURCE, "no thread for the stream: %s", error.what());
        return 0;
    }
}

} // namespace

HandleTable<Event> &Events()
{
    static auto *table = new HandleTable<Event>();
    return *table;
}

Event::Event(bool timed) : id_(NextEventId()), timed_(timed)
{
}

aclError Event::Record(const std::shared_ptr<TaskQueue> &queue)
{
    const std::lock_guard<std::mutex> order(recording_);
    uint64_t version = 0;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        version = ++recorded_;
        valid_ = false;
    }
    aclError status = ACL_SUCCESS;
    const uint64_t number = Push(*queue,
                                 {"event record",
                                  [self = shared_from_this(), version] {
                                      self->Reach(version, false);
                                      return TaskResult();
                                  },
                                  true},
                                 &status);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (number == 0) {
        completed_ = version; // nobody may wait for what will not come
        reached_.notify_all();
    } else {
        recorder_ = queue;
        recordNumber_ = number;
    }
    return status;
}

aclError Event::Reset(const std::shared_ptr<TaskQueue> &queue)
{
    uint64_t version = 0;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        version = recorded_;
    }
    aclError status = ACL_SUCCESS;
    Push(*queue,
         {"event reset",
          [self = shared_from_this(), version] {
              self->Reach(version, true);
              return TaskResult();
          },
          true},
         &status);
    return status;
}

void Event::Reach(uint64_t version, bool reset)
{
    const std::lock_guard<std::mutex> lock(mutex_);
    if (version == recorded_) {
        valid_ = !reset;
    }
    if (!reset) {
        completed_ = completed_ > version ? completed_ : version;
        time_ = Now();
        reached_.notify_all();
    }
}

aclError Event::MakeWait(const std::shared_ptr<TaskQueue> &queue, int64_t timeoutMs)
{
    uint64_t version = 0;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        version = recorded_;
        if (version == 0) {
            return ACL_SUCCESS;
        }
        ++waits_;
    }
    // Ends with the task, whether it runs or is dropped.
    const std::shared_ptr<void> waiting(nullptr, [self = shared_from_this()](void *) {
        const std::lock_guard<std::mutex> lock(self->mutex_);
        --self->waits_;
    });
    aclError status = ACL_SUCCESS;
    Push(*queue,
         {"event wait",
          [self = shared_from_this(), waiting, version, timeoutMs, waiter = queue.get()]() -> TaskResult {
              if (!self->WaitVersion(version, timeoutMs, waiter)) {
                  return {ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, "event " + std::to_string(self->id_) +
                                                               " was not reached within " +
                                                               std::to_string(timeoutMs) + " ms"};
              }
              return {};
          },
          false},
         &status);
    return status;
}

void Event::DemandRecord()
{
    std::shared_ptr<TaskQueue> queue;
    uint64_t number = 0;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        queue = recorder_.lock();
        number = recordNumber_;
    }
    if (queue != nullptr) {
        queue->Demand(number);
    }
}

bool Event::WaitVersion(uint64_t version, int64_t timeoutMs, const TaskQueue *waiter)
{
    using Clock = std::chrono::steady_clock;
    constexpr auto slice = std::chrono::milliseconds(10); // how late a drop may be noticed
    DemandRecord();
    const auto end = Clock::now() + std::chrono::milliseconds(timeoutMs < 0 ? 0 : timeoutMs);
    std::unique_lock<std::mutex> lock(mutex_);
    const auto reached = [this, version] { return completed_ >= version; };
    while (!reached()) {
        if (timeoutMs >= 0 && Clock::now() >= end) {
            return false;
        }
        if (waiter != nullptr && waiter->Dropped()) {
            return true;
        }
        if (waiter != nullptr || timeoutMs >= 0) {
            const auto next = Clock::now() + slice;
            reached_.wait_until(lock, timeoutMs < 0 ? next : (waiter == nullptr ? end : std::min(end, next)), reached);
        } else {
            reached_.wait(lock, reached);
        }
    }
    return true;
}

bool Event::Synchronize(int64_t timeoutMs)
{
    uint64_t version = 0;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        version = recorded_;
    }
    return WaitVersion(version, timeoutMs, nullptr);
}

bool Event::Complete()
{
    DemandRecord();
    const std::lock_guard<std::mutex> lock(mutex_);
    return valid_;
}

bool Event::WaitsComplete()
{
    const std::lock_guard<std::mutex> lock(mutex_);
    return waits_ == 0;
}

bool Event::Timestamp(uint64_t *nanoseconds)
{
    const std::lock_guard<std::mutex> lock(mutex_);
    *nanoseconds = time_;
    return valid_;
}

} // namespace aclemu
