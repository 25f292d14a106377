// A stream's queue and the thread that works on it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/stream.h"

namespace aclemu {

class TaskQueue : public std::enable_shared_from_this<TaskQueue> {
public:
    // `delayed`: tasks run only once something waits for them.
    explicit TaskQueue(bool delayed) : limit_(delayed ? 0 : UINT64_MAX) {}

    // Called on the worker for each task that faults, with its number.
    void OnFault(std::function<void(uint64_t, aclError)> tell) { onFault_ = std::move(tell); }

    struct Task {
        std::string name;
        std::function<TaskResult()> run;
        bool always = false; // runs even when the tasks around it are dropped, because others wait for it
        bool isOperator = false; // counts for aclrtSetOpExecuteTimeOut
        Uses uses = {};
    };

    // Appends and returns the task's number, counted from 1; 0 if the queue is closed. Throws
    // std::system_error if no thread can be started.
    uint64_t Push(Task task);

    uint64_t Last(); // number of the last task pushed
    void Demand(uint64_t number); // lets a delayed queue run up to this task
    bool Idle(); // everything pushed is done; also demands it

    // Waits until the task is done. False if `timeoutMs` passes first; negative waits for ever.
    bool Wait(uint64_t number, int64_t timeoutMs);

    TaskResult FirstFault(); // of the tasks done so far
    void Fault(TaskResult fault); // as if a task had had it
    void Clear(); // leaves out what has not started, apart from what others wait for; waits for what has

    bool IsWorker() const; // whether a task of this queue is asking

    // True if a task that is not finished uses these bytes and either side writes; says which and as what.
    bool InUse(const void *address, size_t size, bool written, std::string *task, std::string *name);

    void StopOnFault(bool stop); // later tasks are dropped after a fault
    bool StopsOnFault();

    bool Dropped() const; // for tasks that wait: what is queued is to be left out

    // No more tasks. The worker ends when the queue is empty; with `drop` what has not started is left out.
    void Close(bool drop);

private:
    void Start();
    void Work();
    static TaskResult Run(const Task &task);
    bool Ready() const { return !tasks_.empty() && started_ < limit_; }

    mutable std::mutex mutex_;
    std::condition_variable work_;
    std::condition_variable done_;
    std::deque<Task> tasks_;
    uint64_t pushed_ = 0;
    uint64_t started_ = 0;
    uint64_t finished_ = 0;
    uint64_t limit_;
    bool running_ = false; // a worker exists
    bool asleep_ = false; // and waits for work
    unsigned waiting_ = 0; // threads in Wait or Push
    bool closed_ = false;
    bool drop_ = false;
    uint64_t cleared_ = 0; // tasks up to this number are left out
    const Task *current_ = nullptr;
    bool stopOnFault_ = false;
    TaskResult fault_;
    std::function<void(uint64_t, aclError)> onFault_; // set before the first task
};

} // namespace aclemu
