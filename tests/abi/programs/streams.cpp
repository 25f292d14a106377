// Streams and events: asynchronous, in order, faults that stay, waits across streams.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "aclemu.h"
#include "check.h"
#include "runtime/stream.h"

namespace {

// A door that a task waits at until the program opens it.
class Door {
public:
    void Open()
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        open_ = true;
        opened_.notify_all();
    }
    static void Wait(void *door)
    {
        auto *self = static_cast<Door *>(door);
        std::unique_lock<std::mutex> lock(self->mutex_);
        self->opened_.wait(lock, [self] { return self->open_; });
    }

private:
    std::mutex mutex_;
    std::condition_variable opened_;
    bool open_ = false;
};

aclrtStreamStatus StatusOf(aclrtStream stream)
{
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    CHECK_OK(aclrtStreamQuery(stream, &status));
    return status;
}

void Asynchronous()
{
    aclrtStream stream = nullptr;
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK(reinterpret_cast<uintptr_t>(stream) > UINT32_MAX);
    CHECK(StatusOf(stream) == ACL_STREAM_STATUS_COMPLETE);
    Door door;
    CHECK_OK(aclrtLaunchHostFunc(stream, Door::Wait, &door));
    static std::atomic<int> order;
    order = 0;
    for (int i = 0; i < 1000; ++i) {
        CHECK_OK(aclemu::Enqueue(stream, "step", [i] {
            CHECK(order.fetch_add(1) == i);
            return aclemu::TaskResult();
        }));
    }
    CHECK(order == 0 && StatusOf(stream) == ACL_STREAM_STATUS_NOT_READY);
    CHECK_REFUSED(aclrtSynchronizeStreamWithTimeout(stream, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "20 ms");
    CHECK_REFUSED(aclrtSynchronizeDeviceWithTimeout(20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "stream");
    CHECK_REFUSED(aclrtSynchronizeStreamWithTimeout(stream, -2), ACL_ERROR_RT_PARAM_INVALID, "timeout is -2");
    CHECK_OK(aclrtSynchronizeStream(nullptr)); // other streams go on
    door.Open();
    CHECK_OK(aclrtSynchronizeStreamWithTimeout(stream, -1));
    CHECK(order == 1000 && StatusOf(stream) == ACL_STREAM_STATUS_COMPLETE);
    CHECK_OK(aclrtDestroyStream(stream));
    CHECK_REFUSED(aclrtSynchronizeStream(stream), ACL_ERROR_RT_STREAM_CONTEXT, "not alive");
    CHECK_REFUSED(aclrtDestroyStream(stream), ACL_ERROR_RT_STREAM_CONTEXT, "not alive");
    CHECK_REFUSED(aclrtDestroyStream(nullptr), ACL_ERROR_INVALID_PARAM, "stream");
    CHECK_REFUSED(aclrtLaunchHostFunc(nullptr, nullptr, nullptr), ACL_ERROR_INVALID_PARAM, "fn");
}

void Destroying()
{
    static std::atomic<int> done;
    done = 0;
    const auto slow = [](void *) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        ++done;
    };
    aclrtStream stream = nullptr;
    CHECK_OK(aclrtCreateStreamWithConfig(&stream, 3, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC));
    uint32_t priority = 0;
    uint32_t flags = 0;
    CHECK_OK(aclrtStreamGetPriority(stream, &priority));
    CHECK_OK(aclrtStreamGetFlags(stream, &flags));
    CHECK(priority == 3 && flags == 3);
    for (int i = 0; i < 10; ++i) {
        CHECK_OK(aclrtLaunchHostFunc(stream, slow, nullptr));
    }
    CHECK_OK(aclrtDestroyStream(stream)); // waits
    CHECK(done == 10);

    CHECK_OK(aclrtCreateStream(&stream));
    Door door;
    CHECK_OK(aclrtLaunchHostFunc(stream, Door::Wait, &door));
    CHECK_OK(aclrtLaunchHostFunc(stream, slow, nullptr));
    std::thread opener([&door] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        door.Open();
    });
    CHECK_OK(aclrtDestroyStreamForce(stream)); // leaves out what has not started
    opener.join();
    CHECK(done == 10);

    aclrtStream standard = nullptr;
    CHECK_OK(aclrtCtxGetCurrentDefaultStream(&standard));
    CHECK_OK(aclrtSynchronizeStream(standard));
    CHECK_REFUSED(aclrtDestroyStream(standard), ACL_ERROR_RT_PARAM_INVALID, "default stream");
    CHECK_REFUSED(aclrtCreateStreamWithConfig(&stream, 8, 0), ACL_ERROR_RT_PARAM_INVALID, "priority is 8");
    CHECK_REFUSED(aclrtCreateStreamWithConfig(&stream, 0, 0x100), ACL_ERROR_RT_PARAM_INVALID,
                  "flag is 0x100");
}

void Faults()
{
    static std::atomic<int> after;
    aclrtStream bad = nullptr;
    aclrtStream good = nullptr;
    CHECK_OK(aclrtCreateStream(&bad));
    CHECK_OK(aclrtCreateStream(&good));
    const auto fault = [] {
        return aclemu::TaskResult{ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, "core 7 wrote past UB"};
    };
    const auto count = [] {
        ++after;
        return aclemu::TaskResult();
    };
    CHECK_OK(aclemu::Enqueue(bad, "aclnnThing", fault));
    CHECK_OK(aclemu::Enqueue(bad, "next", count));
    CHECK_REFUSED(aclrtSynchronizeStream(bad), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION,
                  "aclnnThing: core 7 wrote past UB");
    CHECK(after == 1);
    CHECK(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL) == ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    CHECK(aclrtGetLastError(ACL_RT_THREAD_LEVEL) == ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    CHECK(aclrtGetLastError(ACL_RT_THREAD_LEVEL) == ACL_SUCCESS);
    CHECK_REFUSED(aclrtSynchronizeStream(bad), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, "core 7"); // it stays
    CHECK_CODE(aclrtSynchronizeDevice(), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    CHECK_OK(aclemu::Enqueue(good, "fine", count));
    CHECK_OK(aclrtSynchronizeStream(good));
    CHECK_OK(aclrtDestroyStream(bad));
    CHECK_OK(aclrtSynchronizeDevice());

    CHECK_OK(aclrtSetStreamFailureMode(good, ACL_STOP_ON_FAILURE));
    CHECK_REFUSED(aclrtSetStreamFailureMode(good, 5), ACL_ERROR_RT_PARAM_INVALID, "mode is 5");
    after = 0;
    CHECK_OK(aclemu::Enqueue(good, "thrower", []() -> aclemu::TaskResult { throw std::string("odd"); }));
    CHECK_OK(aclemu::Enqueue(good, "left out", count));
    CHECK_REFUSED(aclrtSynchronizeStream(good), ACL_ERROR_RT_INTERNAL_ERROR, "thrower");
    CHECK(after == 0);
    CHECK_OK(aclrtDestroyStream(good));
}

void Events()
{
    aclrtStream first = nullptr;
    aclrtStream second = nullptr;
    aclrtEvent start = nullptr;
    aclrtEvent end = nullptr;
    CHECK_OK(aclrtCreateStream(&first));
    CHECK_OK(aclrtCreateStream(&second));
    CHECK_OK(aclrtCreateEvent(&start));
    CHECK_OK(aclrtCreateEventWithFlag(&end, ACL_EVENT_TIME_LINE | ACL_EVENT_SYNC));
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
    CHECK_OK(aclrtQueryEventStatus(start, &status));
    CHECK(status == ACL_EVENT_RECORDED_STATUS_NOT_READY);
    CHECK_OK(aclrtSynchronizeEvent(start)); // nothing recorded, nothing to wait for
    CHECK_OK(aclrtStreamWaitEvent(second, start));
    float ms = -1;
    CHECK_REFUSED(aclrtEventElapsedTime(&ms, start, end), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "startEvent");

    static std::atomic<bool> passed;
    Door door;
    CHECK_OK(aclrtRecordEvent(start, first));
    CHECK_OK(aclrtLaunchHostFunc(first, Door::Wait, &door));
    CHECK_OK(aclrtRecordEvent(end, first));
    CHECK_OK(aclrtStreamWaitEvent(second, end));
    CHECK_OK(aclrtLaunchHostFunc(second, [](void *) { passed = true; }, nullptr));
    CHECK_REFUSED(aclrtSynchronizeEventWithTimeout(end, 20), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, "20 ms");
    aclrtEventWaitStatus waits = ACL_EVENT_WAIT_STATUS_COMPLETE;
    CHECK_OK(aclrtQueryEventWaitStatus(end, &waits));
    CHECK(!passed && waits == ACL_EVENT_WAIT_STATUS_NOT_READY);
    door.Open();
    CHECK_OK(aclrtSynchronizeStream(second));
    CHECK(passed);
    CHECK_OK(aclrtSynchronizeEvent(end));
    CHECK_OK(aclrtQueryEventWaitStatus(end, &waits));
    CHECK(waits == ACL_EVENT_WAIT_STATUS_COMPLETE);
    CHECK_OK(aclrtEventElapsedTime(&ms, start, end));
    CHECK(ms >= 15 && ms < 60000);
    CHECK_REFUSED(aclrtEventElapsedTime(&ms, end, start), ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL, "endEvent");
    CHECK_OK(aclrtResetEvent(end, second));
    CHECK_OK(aclrtSynchronizeStream(second));
    aclrtEventStatus old = ACL_EVENT_STATUS_COMPLETE;
    CHECK_OK(aclrtQueryEvent(end, &old));
    CHECK(old == ACL_EVENT_STATUS_NOT_READY);

    // A stream ended by force must not leave others waiting for its events.
    Door shut;
    CHECK_OK(aclrtLaunchHostFunc(first, Door::Wait, &shut));
    CHECK_OK(aclrtRecordEvent(end, first));
    CHECK_OK(aclrtStreamWaitEvent(second, end));
    std::thread([&shut] { shut.Open(); }).detach();
    CHECK_OK(aclrtDestroyStreamForce(first));
    CHECK_OK(aclrtSynchronizeStream(second));

    // A wait that runs out of time is the waiting stream's fault.
    Door late;
    CHECK_OK(aclrtLaunchHostFunc(nullptr, Door::Wait, &late));
    CHECK_OK(aclrtRecordEvent(end, nullptr));
    CHECK_OK(aclrtStreamWaitEventWithTimeout(second, end, 10));
    CHECK_REFUSED(aclrtSynchronizeStream(second), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, "10 ms");
    late.Open();
    CHECK_OK(aclrtSynchronizeStream(nullptr));
    CHECK_OK(aclrtDestroyStream(second));
    CHECK_OK(aclrtDestroyEvent(start));
    CHECK_OK(aclrtDestroyEvent(end));
    CHECK_REFUSED(aclrtDestroyEvent(end), ACL_ERROR_RT_PARAM_INVALID, "not alive");
    CHECK_REFUSED(aclrtRecordEvent(end, nullptr), ACL_ERROR_RT_PARAM_INVALID, "not alive");
    CHECK_REFUSED(aclrtRecordEvent(nullptr, nullptr), ACL_ERROR_INVALID_PARAM, "event");
    CHECK(aclemuLiveObjects("event") == 0);
}

// With ACLEMU_STREAM=delayed nothing runs until something waits.
void Delayed()
{
    static std::atomic<int> ran;
    const auto count = [](void *) { ++ran; };
    aclrtStream first = nullptr;
    aclrtStream second = nullptr;
    aclrtEvent event = nullptr;
    CHECK_OK(aclrtCreateStream(&first));
    CHECK_OK(aclrtCreateStream(&second));
    CHECK_OK(aclrtCreateEvent(&event));
    CHECK_OK(aclrtLaunchHostFunc(first, count, nullptr));
    CHECK_OK(aclrtRecordEvent(event, first));
    CHECK_OK(aclrtLaunchHostFunc(first, count, nullptr));
    CHECK_OK(aclrtStreamWaitEvent(second, event));
    CHECK_OK(aclrtLaunchHostFunc(second, count, nullptr));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    CHECK(ran == 0);
    CHECK_OK(aclrtSynchronizeStream(second)); // runs the first stream up to the event
    CHECK(ran == 2);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK(ran == 2);
    CHECK_OK(aclrtDestroyStream(first));
    CHECK(ran == 3);
    CHECK_OK(aclrtDestroyStream(second));
    for (int i = 0; i < 40000; ++i) { // more than a queue holds
        CHECK_OK(aclrtLaunchHostFunc(nullptr, count, nullptr));
    }
    CHECK_OK(aclrtSynchronizeStream(nullptr));
    CHECK(ran == 40003);
    CHECK_OK(aclrtDestroyEvent(event));
}

} // namespace

int main(int argc, char **argv)
{
    const std::string scenario = argc > 1 ? argv[1] : "";
    CHECK_OK(aclrtSetDevice(0));
    if (scenario == "asynchronous") {
        Asynchronous();
    } else if (scenario == "destroying") {
        Destroying();
    } else if (scenario == "faults") {
        Faults();
    } else if (scenario == "events") {
        Events();
    } else if (scenario == "delayed") {
        Delayed();
    } else {
        return 2;
    }
    CHECK_OK(aclrtResetDevice(0));
    CHECK(aclemuLiveObjects("stream") == 0);
    return 0;
}
