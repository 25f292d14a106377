#include "runtime/task_queue.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>

#include "runtime/check.h"
#include "runtime/timeouts.h"

namespace aclemu {
namespace {

// A device's queue is finite too: a producer that never waits must not fill the host's memory.
constexpr size_t kMaxQueued = 16384;

thread_local const TaskQueue *t_workerOf = nullptr;

} // namespace

uint64_t TaskQueue::Push(Task task)
{
    std::unique_lock<std::mutex> lock(mutex_);
    if (closed_) {
        return 0;
    }
    if (!running_) {
        Start();
    }
    if (tasks_.size() >= kMaxQueued && t_workerOf != this) {
        limit_ = limit_ == UINT64_MAX ? limit_ : pushed_;
        work_.notify_one();
        ++waiting_;
        done_.wait(lock, [this] { return tasks_.size() < kMaxQueued; });
        --waiting_;
    }
    tasks_.push_back(std::move(task));
    const uint64_t number = ++pushed_;
    const bool wake = asleep_ && Ready();
    lock.unlock();
    if (wake) {
        work_.notify_one();
    }
    return number;
}

uint64_t TaskQueue::Last()
{
    const std::lock_guard<std::mutex> lock(mutex_);
    return pushed_;
}

void TaskQueue::Demand(uint64_t number)
{
    const std::lock_guard<std::mutex> lock(mutex_);
    if (limit_ < number) {
        limit_ = number;
        work_.notify_one();
    }
}

bool TaskQueue::Idle()
{
    const std::lock_guard<std::mutex> lock(mutex_);
    if (limit_ < pushed_) {
        limit_ = pushed_;
        work_.notify_one();
    }
    return finished_ == pushed_;
}

bool TaskQueue::Wait(uint64_t number, int64_t timeoutMs)
{
    std::unique_lock<std::mutex> lock(mutex_);
    if (limit_ < number) {
        limit_ = number;
        work_.notify_one();
    }
    const auto done = [this, number] { return finished_ >= number; };
    if (done()) {
        return true;
    }
    bool finished = true;
    ++waiting_;
    if (timeoutMs < 0) {
        done_.wait(lock, done);
    } else {
        finished = done_.wait_for(lock, std::chrono::milliseconds(timeoutMs), done);
    }
    --waiting_;
    return finished;
}

TaskResult TaskQueue::FirstFault()
{
    const std::lock_guard<std::mutex> lock(mutex_);
    return fault_;
}

void TaskQueue::Fault(TaskResult fault)
{
    const std::lock_guard<std::mutex> lock(mutex_);
    if (fault_.code == ACL_SUCCESS) {
        fault_ = std::move(fault);
    }
}

void TaskQueue::Clear()
{
    uint64_t last = 0;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        last = cleared_ = pushed_;
    }
    Wait(last, -1);
}

bool TaskQueue::IsWorker() const
{
    return t_workerOf == this;
}

bool TaskQueue::InUse(const void *address, size_t size, bool written, std::string *task, std::string *name)
{
    const auto first = reinterpret_cast<uintptr_t>(address);
    const auto overlaps = [&](const Task &candidate) {
        for (const Use &use : candidate.uses) {
            const auto at = reinterpret_cast<uintptr_t>(use.address);
            if ((written || use.written) && at < first + size && first < at + use.size) {
                *task = candidate.name;
                *name = use.name;
                return true;
            }
        }
        return false;
    };
    const std::lock_guard<std::mutex> lock(mutex_);
    if (current_ != nullptr && overlaps(*current_)) {
        return true;
    }
    return std::any_of(tasks_.begin(), tasks_.end(), overlaps);
}

bool TaskQueue::StopsOnFault()
{
    const std::lock_guard<std::mutex> lock(mutex_);
    return stopOnFault_;
}

void TaskQueue::StopOnFault(bool stop)
{
    const std::lock_guard<std::mutex> lock(mutex_);
    stopOnFault_ = stop;
}

bool TaskQueue::Dropped() const
{
    const std::lock_guard<std::mutex> lock(mutex_);
    return drop_ || started_ <= cleared_;
}

void TaskQueue::Close(bool drop)
{
    const std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    drop_ = drop_ || drop;
    limit_ = UINT64_MAX;
    work_.notify_one();
}

void TaskQueue::Start()
{
    // Signals go to the program's own threads: a worker must not be the one that handles Ctrl-C.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        // Detached: at exit a worker may be in the middle of a task, and the process must end all the same.
        std::thread([self = shared_from_this()] { self->Work(); }).detach();
    } catch (...) {
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        throw;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    running_ = true;
}

void TaskQueue::Work()
{
    t_workerOf = this;
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
        if (!Ready()) {
            if (closed_ && tasks_.empty()) {
                return;
            }
            asleep_ = true;
            work_.wait(lock, [this] { return Ready() || (closed_ && tasks_.empty()); });
            asleep_ = false;
            continue;
        }
        Task task = std::move(tasks_.front());
        tasks_.pop_front();
        ++started_;
        const bool skip =
            (drop_ || started_ <= cleared_ || (stopOnFault_ && fault_.code != ACL_SUCCESS)) && !task.always;
        current_ = &task;
        lock.unlock();
        TaskResult result;
        if (!skip) {
            result = Run(task);
        }
        lock.lock();
        current_ = nullptr;
        const uint64_t number = started_;
        lock.unlock();
        if (result.code != ACL_SUCCESS && onFault_) {
            onFault_(number, result.code);
        }
        task = Task(); // what it holds is released before anyone who waits goes on
        lock.lock();
        if (result.code != ACL_SUCCESS && fault_.code == ACL_SUCCESS) {
            fault_ = std::move(result);
        }
        ++finished_;
        if (waiting_ > 0) {
            done_.notify_all();
        }
    }
}

namespace {

TaskResult CheckDone(const TaskQueue::Task &task, std::chrono::nanoseconds elapsed)
{
    const std::string damage = FindDamage(&task.uses);
    if (!damage.empty()) {
        return {ACL_ERROR_RT_AICORE_EXCEPTION, damage};
    }
    const uint64_t limit = OperatorTimeout();
    if (task.isOperator && limit != 0 && elapsed > std::chrono::milliseconds(limit)) {
        return {ACL_ERROR_RT_AICORE_TIMEOUT, "ran longer than the " + std::to_string(limit) +
                                                 " ms of aclrtSetOpExecuteTimeOut"};
    }
    return {};
}

} // namespace

TaskResult TaskQueue::Run(const Task &task)
{
    TaskResult result;
    try {
        const auto start = std::chrono::steady_clock::now();
        result = task.run();
        if (result.code == ACL_SUCCESS && !task.always) {
            result = CheckDone(task, std::chrono::steady_clock::now() - start);
        }
    } catch (const std::exception &error) {
        result = {ACL_ERROR_RT_INTERNAL_ERROR, error.what()};
    } catch (...) {
        result = {ACL_ERROR_RT_INTERNAL_ERROR, "an exception of unknown type"};
    }
    if (result.code != ACL_SUCCESS) {
        result.message = task.name + ": " + result.message;
    }
    return result;
}

} // namespace aclemu
