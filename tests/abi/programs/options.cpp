// Streams' options, callbacks, notifies and limits. One scenario per run.
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "aclemu.h"
#include "check.h"

namespace {

void Sleep(int ms)
{
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

void Attributes()
{
    CHECK_OK(aclrtSetDevice(0));
    int32_t least = -1;
    int32_t greatest = -1;
    CHECK_OK(aclrtDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(least == 7 && greatest == 0);
    aclrtStreamConfigHandle *config = aclrtCreateStreamConfigHandle();
    CHECK(config != nullptr);
    uint32_t priority = 5;
    const size_t flag = ACL_STREAM_FAST_LAUNCH;
    CHECK_OK(aclrtSetStreamConfigOpt(config, ACL_RT_STREAM_PRIORITY, &priority, sizeof(priority)));
    CHECK_OK(aclrtSetStreamConfigOpt(config, ACL_RT_STREAM_FLAG, &flag, sizeof(flag)));
    CHECK_REFUSED(aclrtSetStreamConfigOpt(config, ACL_RT_STREAM_PRIORITY, &priority, 1), ACL_ERROR_INVALID_PARAM,
                  "valueSize is 1");
    aclrtStream stream = nullptr;
    CHECK_OK(aclrtCreateStreamV2(&stream, config));
    CHECK_REFUSED(aclrtCreateStreamV2(&stream, nullptr), ACL_ERROR_INVALID_PARAM, "handle");
    CHECK_OK(aclrtDestroyStreamConfigHandle(config));
    uint32_t value = 0;
    CHECK_OK(aclrtStreamGetPriority(stream, &value));
    CHECK(value == 5);
    CHECK_OK(aclrtStreamGetFlags(stream, &value));
    CHECK(value == ACL_STREAM_FAST_LAUNCH);

    aclrtStreamAttrValue attribute = {};
    attribute.failureMode = ACL_STOP_ON_FAILURE;
    CHECK_OK(aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_FAILURE_MODE, &attribute));
    attribute = {};
    CHECK_OK(aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_FAILURE_MODE, &attribute));
    CHECK(attribute.failureMode == ACL_STOP_ON_FAILURE);
    attribute = {};
    attribute.userCustomTag = 77;
    CHECK_OK(aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &attribute));
    attribute = {};
    CHECK_OK(aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &attribute));
    CHECK(attribute.userCustomTag == 77);
    attribute = {};
    attribute.streamPriority = 8;
    CHECK_REFUSED(aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_PRIORITY, &attribute), ACL_ERROR_RT_PARAM_INVALID,
                  "from 0 to 7");
    attribute.overflowSwitch = 1;
    CHECK_REFUSED(aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK, &attribute),
                  ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "overflowSwitch");
    CHECK_OK(aclrtSetStreamOverflowSwitch(stream, 0));
    CHECK_REFUSED(aclrtSetStreamOverflowSwitch(stream, 1), ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "flag");
    CHECK_OK(aclrtGetStreamOverflowSwitch(stream, &value));
    CHECK(value == 0);
    CHECK_OK(aclrtSetTsDevice(ACL_TS_ID_AICORE));
    CHECK_CODE(aclrtSetTsDevice(ACL_TS_ID_AIVECTOR), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    CHECK_OK(aclrtDestroyStream(stream));
    CHECK_OK(aclrtResetDevice(0));
}

std::atomic<int> g_count{0};

void Abort()
{
    CHECK_OK(aclrtSetDevice(0));
    aclrtStream stream = nullptr;
    CHECK_OK(aclrtCreateStream(&stream));
    const auto slow = [](void *) {
        Sleep(50);
        ++g_count;
    };
    for (int i = 0; i < 100; ++i) {
        CHECK_OK(aclrtLaunchHostFunc(stream, slow, nullptr));
    }
    CHECK_OK(aclrtStreamAbort(stream)); // waits for the one that runs, drops the rest
    CHECK(g_count < 50);
    CHECK_OK(aclrtLaunchHostFunc(stream, slow, nullptr)); // the stream goes on
    const int before = g_count;
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK(g_count == before + 1);

    static std::vector<int> stages;
    CHECK_OK(aclrtSetDeviceTaskAbortCallback(
        "test",
        [](int32_t device, aclrtDeviceTaskAbortStage stage, uint32_t timeout, void *args) -> int32_t {
            CHECK(device == 0 && timeout == 9);
            static_cast<std::vector<int> *>(args)->push_back(stage);
            return 0;
        },
        &stages));
    for (int i = 0; i < 100; ++i) {
        CHECK_OK(aclrtLaunchHostFunc(stream, slow, nullptr));
    }
    CHECK_OK(aclrtDeviceTaskAbort(0, 9));
    CHECK(stages == std::vector<int>({ACL_RT_DEVICE_TASK_ABORT_PRE, ACL_RT_DEVICE_TASK_ABORT_POST}));
    CHECK(g_count < before + 50);
    const auto refuse = [](int32_t, aclrtDeviceTaskAbortStage, uint32_t, void *) -> int32_t { return 1; };
    CHECK_OK(aclrtSetDeviceTaskAbortCallback("test", refuse, nullptr));
    CHECK_REFUSED(aclrtDeviceTaskAbort(0, 9), ACL_ERROR_RT_TASK_ABORT_STOP, "refused");
    CHECK_OK(aclrtSetDeviceTaskAbortCallback("test", nullptr, nullptr));

    // A stream that waits for another can be aborted, and destroyed by force, before the other gets there.
    static std::atomic<bool> go{false};
    aclrtStream other = nullptr;
    aclrtEvent event = nullptr;
    CHECK_OK(aclrtCreateStream(&other));
    CHECK_OK(aclrtCreateEvent(&event));
    const auto hold = [](void *) {
        while (!go) {
            Sleep(1);
        }
    };
    CHECK_OK(aclrtLaunchHostFunc(other, hold, nullptr));
    CHECK_OK(aclrtRecordEvent(event, other));
    CHECK_OK(aclrtStreamWaitEvent(stream, event));
    Sleep(20);
    CHECK_OK(aclrtStreamAbort(stream));
    CHECK_OK(aclrtStreamWaitEvent(stream, event));
    Sleep(20);
    CHECK_OK(aclrtDestroyStreamForce(stream));
    CHECK_OK(aclrtCreateStream(&stream));
    go = true;
    CHECK_OK(aclrtSynchronizeStream(other));
    CHECK_OK(aclrtDestroyEvent(event));
    CHECK_OK(aclrtDestroyStream(stream));
    CHECK_OK(aclrtResetDevice(0));
}

void Callbacks()
{
    CHECK_OK(aclrtSetDevice(0));
    aclrtStream stream = nullptr;
    CHECK_OK(aclrtCreateStream(&stream));
    const auto note = [](void *data) { static_cast<std::vector<pthread_t> *>(data)->push_back(pthread_self()); };
    std::vector<pthread_t> ran;
    CHECK_REFUSED(aclrtLaunchCallback(note, &ran, ACL_CALLBACK_BLOCK, stream), ACL_ERROR_RT_STREAM_NO_CB_REG,
                  "aclrtSubscribeReport");
    CHECK_REFUSED(aclrtProcessReport(10), ACL_ERROR_RT_THREAD_SUBSCRIBE, "serves no stream");
    std::atomic<bool> stop{false};
    std::atomic<bool> subscribed{false};
    std::thread server([&] {
        CHECK_OK(aclrtSetDevice(0));
        while (!subscribed) {
            std::this_thread::yield();
        }
        while (!stop) {
            const int code = aclrtProcessReport(20);
            CHECK(code == 0 || code == ACL_ERROR_RT_REPORT_TIMEOUT);
            (void)RecentText();
        }
        CHECK_OK(aclrtResetDevice(0));
    });
    const auto id = static_cast<uint64_t>(server.native_handle());
    CHECK_OK(aclrtSubscribeReport(id, stream));
    subscribed = true;
    CHECK_REFUSED(aclrtSubscribeReport(id, stream), ACL_ERROR_RT_STREAM_SUBSCRIBE, "subscribed already");
    CHECK_REFUSED(aclrtUnSubscribeReport(1, stream), ACL_ERROR_RT_THREAD_SUBSCRIBE, "not subscribed");
    for (int i = 0; i < 50; ++i) {
        CHECK_OK(aclrtLaunchCallback(note, &ran, ACL_CALLBACK_BLOCK, stream));
    }
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK(ran.size() == 50);
    for (const pthread_t thread : ran) {
        CHECK(pthread_equal(thread, server.native_handle()));
    }
    static std::atomic<int> loose{0};
    CHECK_OK(aclrtLaunchCallback([](void *) { ++loose; }, nullptr, ACL_CALLBACK_NO_BLOCK, stream));
    CHECK_OK(aclrtSynchronizeStream(stream));
    while (loose == 0) {
        std::this_thread::yield();
    }
    stop = true;
    server.join();
    // Nobody processes any more: unsubscribing lets the stream go on.
    CHECK_OK(aclrtLaunchCallback(note, &ran, ACL_CALLBACK_BLOCK, stream));
    Sleep(20);
    CHECK_OK(aclrtUnSubscribeReport(id, stream));
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK(ran.size() == 50);

    // Host functions run on the stream's worker unless a thread subscribes.
    std::vector<pthread_t> where;
    CHECK_OK(aclrtSubscribeHostFunc(static_cast<uint64_t>(pthread_self()), stream));
    CHECK_OK(aclrtLaunchHostFunc(stream, note, &where));
    CHECK_OK(aclrtProcessHostFunc(-1));
    CHECK_OK(aclrtUnSubscribeHostFunc(static_cast<uint64_t>(pthread_self()), stream));
    CHECK_OK(aclrtLaunchHostFunc(stream, note, &where));
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK(where.size() == 2 && pthread_equal(where[0], pthread_self()) && !pthread_equal(where[1], pthread_self()));
    CHECK_REFUSED(aclrtProcessReport(0), ACL_ERROR_INVALID_PARAM, "timeout is 0");
    CHECK_OK(aclrtDestroyStream(stream));
    CHECK_OK(aclrtResetDevice(0));
}

void Notifies()
{
    CHECK_OK(aclrtSetDevice(0));
    aclrtStream a = nullptr;
    aclrtStream b = nullptr;
    aclrtNotify notify = nullptr;
    CHECK_OK(aclrtCreateStream(&a));
    CHECK_OK(aclrtCreateStream(&b));
    CHECK_OK(aclrtCreateNotify(&notify, 0));
    CHECK(aclemuLiveObjects("notify") == 1);
    void *cell = nullptr;
    CHECK_OK(aclrtMalloc(&cell, 16, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtMemset(cell, 16, 0, 16));
    for (int i = 1; i <= 20; ++i) { // b must see each value that a writes, in turn
        uint64_t seen = 0;
        CHECK_OK(aclrtWaitAndResetNotify(notify, b, 10));
        CHECK_OK(aclrtMemcpyAsync(&seen, 8, cell, 8, ACL_MEMCPY_DEVICE_TO_HOST, nullptr)); // another stream: any order
        CHECK_OK(aclrtValueWrite(cell, static_cast<uint64_t>(i), 0, a));
        CHECK_OK(aclrtRecordNotify(notify, a));
        CHECK_OK(aclrtSynchronizeStream(b));
        CHECK_OK(aclrtMemcpy(&seen, 8, cell, 8, ACL_MEMCPY_DEVICE_TO_HOST));
        CHECK(seen == static_cast<uint64_t>(i));
    }
    CHECK_OK(aclrtValueWait(cell, 21, ACL_STREAM_WAIT_VALUE_GEQ, b));
    aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
    Sleep(5);
    CHECK_OK(aclrtStreamQuery(b, &status));
    CHECK(status == ACL_STREAM_STATUS_NOT_READY);
    CHECK_OK(aclrtValueWrite(cell, 22, 0, a));
    CHECK_OK(aclrtSynchronizeStream(b));
    CHECK_OK(aclrtValueWait(cell, 99, ACL_STREAM_WAIT_VALUE_EQ, b));
    CHECK_OK(aclrtStreamAbort(b)); // a wait for what never comes can be dropped
    CHECK_REFUSED(aclrtValueWait(static_cast<char *>(cell) + 4, 1, 0, b), ACL_ERROR_RT_ADDR_UNALIGNED, "aligned");
    uint64_t own = 0;
    CHECK_REFUSED(aclrtValueWrite(&own, 1, 0, b), ACL_ERROR_RT_PARAM_INVALID, "not device memory");

    aclrtCntNotify counter = nullptr;
    CHECK_OK(aclrtCntNotifyCreate(&counter, 0));
    aclrtCntNotifyWaitInfo wait = {ACL_RT_CNT_NOTIFY_WAIT_BIGGER_OR_EQUAL_MODE, 3, 10, 1, {}};
    aclrtCntNotifyRecordInfo add = {ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE, 1};
    CHECK_OK(aclrtCntNotifyWaitWithTimeout(counter, b, &wait));
    for (int i = 0; i < 3; ++i) {
        CHECK_OK(aclrtCntNotifyRecord(counter, a, &add));
    }
    CHECK_OK(aclrtSynchronizeStream(b));
    wait = {ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, 0, 10, 0, {}}; // the first wait cleared it
    CHECK_OK(aclrtCntNotifyWaitWithTimeout(counter, b, &wait));
    CHECK_OK(aclrtSynchronizeStream(b));
    CHECK_REFUSED(aclrtRecordNotify(counter, a), ACL_ERROR_RT_PARAM_INVALID, "other kind");

    CHECK_OK(aclrtWaitAndResetNotify(notify, b, 1)); // seconds; nobody records
    CHECK_REFUSED(aclrtSynchronizeStream(b), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, "notify");
    CHECK_OK(aclrtCntNotifyDestroy(counter));
    CHECK_OK(aclrtDestroyNotify(notify));
    CHECK_CODE(aclrtDestroyNotify(notify), ACL_ERROR_RT_PARAM_INVALID);
    CHECK(aclemuLiveObjects("notify") == 0);
    CHECK_OK(aclrtFree(cell));
    CHECK_OK(aclrtResetDevice(0));
}

// Streams that only run when waited for still serve each other.
void DelayedNotifies()
{
    CHECK_OK(aclrtSetDevice(0));
    aclrtStream a = nullptr;
    aclrtStream b = nullptr;
    aclrtNotify notify = nullptr;
    CHECK_OK(aclrtCreateStream(&a));
    CHECK_OK(aclrtCreateStream(&b));
    CHECK_OK(aclrtCreateNotify(&notify, 0));
    CHECK_OK(aclrtRecordNotify(notify, a));
    CHECK_OK(aclrtWaitAndResetNotify(notify, b, 10));
    CHECK_OK(aclrtSynchronizeStream(b));
    CHECK_OK(aclrtDestroyNotify(notify));
    CHECK_OK(aclrtResetDevice(0));
}

void Limits()
{
    CHECK_OK(aclrtSetDevice(0));
    uint32_t ms = 1;
    CHECK_OK(aclrtGetOpExecuteTimeout(&ms));
    CHECK(ms == 0);
    uint64_t actual = 0;
    CHECK_OK(aclrtSetOpExecuteTimeOutV2(1500, &actual));
    CHECK(actual == 2000);
    CHECK_OK(aclrtGetOpExecuteTimeout(&ms));
    CHECK(ms == 2);
    CHECK_OK(aclrtSetOpExecuteTimeOut(3));
    CHECK_OK(aclrtGetOpExecuteTimeout(&ms));
    CHECK(ms == 3000);
    CHECK_OK(aclrtSetOpExecuteTimeOutWithMs(0));
    // The limit of waits applies where aclrtStreamWaitEvent has none of its own.
    aclrtStream a = nullptr;
    aclrtStream b = nullptr;
    aclrtEvent event = nullptr;
    CHECK_OK(aclrtCreateStream(&a));
    CHECK_OK(aclrtCreateStream(&b));
    CHECK_OK(aclrtCreateEvent(&event));
    CHECK_OK(aclrtLaunchHostFunc(a, [](void *) { Sleep(1500); }, nullptr));
    CHECK_OK(aclrtRecordEventWithFlag(event, a, ACL_EVENT_RECORD_DEFAULT));
    CHECK_CODE(aclrtRecordEventWithFlag(event, a, ACL_EVENT_RECORD_EXTERNAL), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    CHECK_OK(aclrtSetOpWaitTimeout(1));
    CHECK_OK(aclrtStreamWaitEvent(b, event));
    CHECK_REFUSED(aclrtSynchronizeStream(b), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, "1000 ms");
    CHECK_OK(aclrtSetOpWaitTimeout(0));
    CHECK_OK(aclrtSynchronizeStream(a));
    CHECK_OK(aclrtDestroyEvent(event));
    CHECK_OK(aclrtResetDevice(0));
}

std::vector<std::string> g_told;

void States()
{
    CHECK_OK(aclrtRegDeviceStateCallback(
        "test",
        [](int32_t device, aclrtDeviceState state, void *) {
            g_told.push_back("device " + std::to_string(device) + " " + std::to_string(state));
        },
        nullptr));
    CHECK_OK(aclrtRegStreamStateCallback(
        "test",
        [](aclrtStream, aclrtStreamState state, void *) { g_told.push_back("stream " + std::to_string(state)); },
        nullptr));
    static int inits = 0;
    CHECK_OK(aclInitCallbackRegister(
        ACL_REG_TYPE_OTHER,
        [](const char *text, size_t size, void *data) -> aclError {
            CHECK(text != nullptr && size == 0);
            ++*static_cast<int *>(data);
            return 0;
        },
        &inits));
    static int finals = 0;
    const auto final = [](void *) -> aclError {
        ++finals;
        return 0;
    };
    CHECK_OK(aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, final, nullptr));
    CHECK_OK(aclInit(nullptr));
    CHECK_OK(aclrtSetDevice(0));
    aclrtStream stream = nullptr;
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtDestroyStream(stream));
    int32_t active = 0;
    CHECK_OK(aclrtGetPrimaryCtxState(0, nullptr, &active));
    CHECK(active == 1);
    CHECK_OK(aclrtResetDevice(0));
    CHECK_OK(aclrtGetPrimaryCtxState(0, nullptr, &active));
    CHECK(active == 0);
    const std::vector<std::string> expected = {"device 0 0", "device 0 1", "stream 1", "stream 2", "device 0 2", "device 0 3"};
    CHECK(g_told == expected);
    CHECK_OK(aclFinalize());
    CHECK(finals == 1 && inits == 1);
    CHECK_OK(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, final));
    CHECK_CODE(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, final), ACL_ERROR_INVALID_PARAM);
    CHECK_OK(aclInit(nullptr));
    CHECK_OK(aclFinalize());
    CHECK(finals == 1);
}

} // namespace

int main(int argc, char **argv)
{
    const std::string scenario = argc > 1 ? argv[1] : "";
    const struct {
        const char *name;
        void (*run)();
    } all[] = {{"attributes", Attributes}, {"abort", Abort},     {"callbacks", Callbacks},
               {"notifies", Notifies},     {"delayed", DelayedNotifies}, {"limits", Limits},
               {"states", States}};
    for (const auto &one : all) {
        if (scenario == one.name) {
            one.run();
            return 0;
        }
    }
    return 2;
}
