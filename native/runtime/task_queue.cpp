#include "runtime/task_queue.h"

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <exception>
#include <thread>

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

void TaskQueue::StopOnFault(bool stop)
{
    const std::lock_guard<std::mutex> lock(mutex_);
    stopOnFault_ = stop;
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
        const bool skip = (drop_ || (stopOnFault_ && fault_.code != ACL_SUCCESS)) && !task.always;
        lock.unlock();
        TaskResult result;
        if (!skip) {
            result = Run(task);
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

TaskResult TaskQueue::Run(const Task &task) const
{
    TaskResult result;
    try {
        result = task.run();
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
