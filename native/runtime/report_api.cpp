// Host functions that a thread of the program runs for a stream: aclrtLaunchCallback and aclrtProcessReport.
#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <set>

#include "acl/acl_rt.h"
#include "runtime/api.h"
#include "runtime/context.h"

using aclemu::Api;
using aclemu::Fail;
using aclemu::FailNull;

namespace aclemu {
namespace {

using Handle = const void *;

struct Call {
    std::function<void()> run;
    std::function<void()> done; // tells the stream that waits, whether it ran or was dropped
};

// Calls that wait for one thread.
struct Inbox {
    std::set<Handle> streams; // that the thread serves
    std::map<Handle, std::deque<Call>> calls;
    std::deque<Handle> order; // of the calls, by their streams
};

class Reports {
public:
    aclError Subscribe(uint64_t thread, const Stream &stream)
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto server = servers_.find(stream.handle);
        if (server != servers_.end()) {
            return Fail(ACL_ERROR_RT_STREAM_SUBSCRIBE, "stream %p is subscribed already, by thread %llu",
                        stream.handle, static_cast<unsigned long long>(server->second));
        }
        servers_[stream.handle] = thread;
        inboxes_[thread].streams.insert(stream.handle);
        return ACL_SUCCESS;
    }

    aclError Unsubscribe(uint64_t thread, const Stream &stream)
    {
        std::deque<Call> dropped;
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            const auto server = servers_.find(stream.handle);
            if (server == servers_.end() || server->second != thread) {
                return Fail(inboxes_.count(thread) == 0 ? ACL_ERROR_RT_THREAD_SUBSCRIBE : ACL_ERROR_RT_STREAM_SUBSCRIBE,
                            "stream %p is not subscribed by thread %llu", stream.handle,
                            static_cast<unsigned long long>(thread));
            }
            dropped = Leave(stream.handle, thread);
        }
        for (const Call &call : dropped) {
            call.done();
        }
        arrived_.notify_all();
        return ACL_SUCCESS;
    }

    bool IsSubscribed(Handle stream)
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        return servers_.count(stream) != 0;
    }

    // On the stream's worker. Drops the call if nobody serves the stream any more.
    void Post(Handle stream, Call call)
    {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            const auto server = servers_.find(stream);
            if (server != servers_.end()) {
                Inbox &inbox = inboxes_[server->second];
                inbox.calls[stream].push_back(std::move(call));
                inbox.order.push_back(stream);
                arrived_.notify_all();
                return;
            }
        }
        call.done();
    }

    aclError Process(int32_t timeout)
    {
        const auto self = static_cast<uint64_t>(pthread_self());
        Call call;
        {
            std::unique_lock<std::mutex> lock(mutex_);
            if (inboxes_.count(self) == 0) {
                return Fail(ACL_ERROR_RT_THREAD_SUBSCRIBE, "this thread, %llu, serves no stream",
                            static_cast<unsigned long long>(self));
            }
            const auto ready = [&] {
                const auto inbox = inboxes_.find(self);
                return inbox == inboxes_.end() || !inbox->second.order.empty();
            };
            if (timeout < 0) {
                arrived_.wait(lock, ready);
            } else if (!arrived_.wait_for(lock, std::chrono::milliseconds(timeout), ready)) {
                return Fail(ACL_ERROR_RT_REPORT_TIMEOUT, "no call arrived within %d ms", timeout);
            }
            const auto inbox = inboxes_.find(self);
            if (inbox == inboxes_.end()) {
                return Fail(ACL_ERROR_RT_THREAD_SUBSCRIBE, "this thread, %llu, was unsubscribed while it waited",
                            static_cast<unsigned long long>(self));
            }
            std::deque<Call> &calls = inbox->second.calls[inbox->second.order.front()];
            inbox->second.order.pop_front();
            call = std::move(calls.front());
            calls.pop_front();
        }
        call.run();
        call.done();
        return ACL_SUCCESS;
    }

private:
    std::deque<Call> Leave(Handle stream, uint64_t thread)
    {
        servers_.erase(stream);
        Inbox &inbox = inboxes_[thread];
        std::deque<Call> dropped = std::move(inbox.calls[stream]);
        inbox.calls.erase(stream);
        inbox.streams.erase(stream);
        std::deque<Handle> rest;
        for (const Handle other : inbox.order) {
            if (other != stream) {
                rest.push_back(other);
            }
        }
        inbox.order = std::move(rest);
        if (inbox.streams.empty()) {
            inboxes_.erase(thread);
        }
        return dropped;
    }

    std::mutex mutex_;
    std::condition_variable arrived_;
    std::map<Handle, uint64_t> servers_; // stream to thread
    std::map<uint64_t, Inbox> inboxes_;
};

// The two families of functions have a set of subscriptions each. Never destroyed, as threads may wait at exit.
Reports &Callbacks()
{
    static auto *reports = new Reports();
    return *reports;
}

Reports &HostFunctions()
{
    static auto *reports = new Reports();
    return *reports;
}

aclError Subscribe(Reports &reports, uint64_t thread, aclrtStream handle)
{
    aclError status = ACL_SUCCESS;
    const auto stream = RequireStream(handle, &status);
    return stream == nullptr ? status : reports.Subscribe(thread, *stream);
}

aclError Unsubscribe(Reports &reports, uint64_t thread, aclrtStream handle)
{
    aclError status = ACL_SUCCESS;
    const auto stream = RequireStream(handle, &status);
    return stream == nullptr ? status : reports.Unsubscribe(thread, *stream);
}

aclError Process(Reports &reports, int32_t timeout)
{
    if (timeout < -1 || timeout == 0) {
        return Fail(ACL_ERROR_INVALID_PARAM,
                    "parameter timeout is %d; it must be -1 or a number of milliseconds above 0", timeout);
    }
    return reports.Process(timeout);
}

struct Gate {
    std::mutex mutex;
    std::condition_variable opened;
    bool open = false;

    void Open()
    {
        const std::lock_guard<std::mutex> lock(mutex);
        open = true;
        opened.notify_all();
    }

    void Wait()
    {
        std::unique_lock<std::mutex> lock(mutex);
        opened.wait(lock, [this] { return open; });
    }
};

// The task of a stream that lets the thread that serves it run `call`.
TaskResult Deliver(Reports &reports, Handle stream, const std::function<void()> &call, bool block)
{
    const auto gate = std::make_shared<Gate>();
    reports.Post(stream, {call, [gate] { gate->Open(); }});
    if (block) {
        gate->Wait();
    }
    return {};
}

TaskQueue::Task HostFunctionTask(const Stream &stream, std::function<void()> call)
{
    if (HostFunctions().IsSubscribed(stream.handle)) {
        return {"host function", [handle = stream.handle, call = std::move(call)] {
                    return Deliver(HostFunctions(), handle, call, true);
                }};
    }
    return {"host function", [call = std::move(call)] {
                call();
                return TaskResult();
            }};
}

} // namespace
} // namespace aclemu

aclError aclrtLaunchCallback(aclrtCallback fn, void *userData, aclrtCallbackBlockType blockType, aclrtStream stream)
{
    return Api("aclrtLaunchCallback", [=]() -> aclError {
        if (fn == nullptr) {
            return FailNull("fn");
        }
        if (blockType != ACL_CALLBACK_NO_BLOCK && blockType != ACL_CALLBACK_BLOCK) {
            return Fail(ACL_ERROR_INVALID_PARAM, "parameter blockType is %d; it must be %d or %d", blockType,
                        ACL_CALLBACK_NO_BLOCK, ACL_CALLBACK_BLOCK);
        }
        aclError status = ACL_SUCCESS;
        const auto found = aclemu::RequireStream(stream, &status);
        if (found == nullptr) {
            return status;
        }
        if (!aclemu::Callbacks().IsSubscribed(found->handle)) {
            return Fail(ACL_ERROR_RT_STREAM_NO_CB_REG,
                        "stream %p has no thread that serves it; call aclrtSubscribeReport first", found->handle);
        }
        const auto run = [fn, userData, handle = found->handle, block = blockType == ACL_CALLBACK_BLOCK] {
            return aclemu::Deliver(aclemu::Callbacks(), handle, [fn, userData] { fn(userData); }, block);
        };
        return aclemu::PushTo(*found, {"callback", run}, nullptr);
    });
}

aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream)
{
    return Api("aclrtSubscribeReport", [=] { return aclemu::Subscribe(aclemu::Callbacks(), threadId, stream); });
}

aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream)
{
    return Api("aclrtUnSubscribeReport",
               [=] { return aclemu::Unsubscribe(aclemu::Callbacks(), threadId, stream); });
}

aclError aclrtProcessReport(int32_t timeout)
{
    return Api("aclrtProcessReport", [=] { return aclemu::Process(aclemu::Callbacks(), timeout); });
}

aclError aclrtSubscribeHostFunc(uint64_t hostFuncThreadId, aclrtStream exeStream)
{
    return Api("aclrtSubscribeHostFunc",
               [=] { return aclemu::Subscribe(aclemu::HostFunctions(), hostFuncThreadId, exeStream); });
}

aclError aclrtUnSubscribeHostFunc(uint64_t hostFuncThreadId, aclrtStream exeStream)
{
    return Api("aclrtUnSubscribeHostFunc",
               [=] { return aclemu::Unsubscribe(aclemu::HostFunctions(), hostFuncThreadId, exeStream); });
}

aclError aclrtProcessHostFunc(int32_t timeout)
{
    return Api("aclrtProcessHostFunc", [=] { return aclemu::Process(aclemu::HostFunctions(), timeout); });
}

aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void *args)
{
    return Api("aclrtLaunchHostFunc", [=]() -> aclError {
        if (fn == nullptr) {
            return FailNull("fn");
        }
        aclError status = ACL_SUCCESS;
        const auto found = aclemu::RequireStream(stream, &status);
        return found == nullptr
                   ? status
                   : aclemu::PushTo(*found, aclemu::HostFunctionTask(*found, [fn, args] { fn(args); }), nullptr);
    });
}
