// Start, end, devices and contexts. One scenario per run: the first argument names it.
#include <chrono>
#include <thread>

#include "aclemu.h"
#include "check.h"

namespace {

void CountedInit()
{
    CHECK_OK(aclInit(nullptr));
    CHECK_REFUSED(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE, "aclFinalizeReference");
    uint64_t left = 99;
    CHECK_OK(aclFinalizeReference(&left));
    CHECK(left == 1);
    CHECK_OK(aclrtSetDevice(0)); // still usable
    CHECK_OK(aclrtResetDevice(0));
    CHECK_OK(aclFinalizeReference(&left));
    CHECK(left == 0);
    CHECK_CODE(aclFinalizeReference(&left), ACL_ERROR_REPEAT_FINALIZE);
}

void FinalizeTwice()
{
    CHECK_OK(aclInit(nullptr));
    CHECK_CODE(aclInit(""), ACL_ERROR_REPEAT_INITIALIZE);
    CHECK_OK(aclFinalize()); // whatever the count
    CHECK_CODE(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
    CHECK_OK(aclInit(nullptr)); // and a new start works
    CHECK_OK(aclFinalize());
}

void Config(const char *path, int expected)
{
    CHECK_CODE(aclInit(path), expected);
    CHECK_CODE(aclFinalize(), expected == 0 ? 0 : ACL_ERROR_REPEAT_FINALIZE);
}

void ExpectNoContext()
{
    void *address = nullptr;
    aclrtStream stream = nullptr;
    aclrtEvent event = nullptr;
    aclrtContext context = nullptr;
    size_t free = 0;
    size_t total = 0;
    int32_t device = 0;
    const char *hint = "THIS thread";
    CHECK_REFUSED(aclrtMalloc(&address, 8, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_CONTEXT_NULL, hint);
    CHECK_REFUSED(aclrtMallocHost(&address, 8), ACL_ERROR_RT_CONTEXT_NULL, hint);
    CHECK_REFUSED(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_ERROR_RT_CONTEXT_NULL, hint);
    CHECK_REFUSED(aclrtCreateStream(&stream), ACL_ERROR_RT_CONTEXT_NULL, hint);
    CHECK_REFUSED(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_CONTEXT_NULL, hint);
    CHECK_REFUSED(aclrtSynchronizeDevice(), ACL_ERROR_RT_CONTEXT_NULL, hint);
    CHECK_REFUSED(aclrtCreateEvent(&event), ACL_ERROR_RT_CONTEXT_NULL, hint);
    CHECK_REFUSED(aclrtGetCurrentContext(&context), ACL_ERROR_RT_CONTEXT_NULL, hint);
    CHECK_REFUSED(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL, hint);
    CHECK(address == nullptr && stream == nullptr && event == nullptr && context == nullptr);
}

void NoDevice()
{
    CHECK_OK(aclInit(nullptr));
    ExpectNoContext();
    CHECK_OK(aclrtSetDevice(0));
    std::thread(ExpectNoContext).join(); // another thread's device does not count
    int32_t device = -1;
    CHECK_OK(aclrtGetDevice(&device));
    CHECK(device == 0);
    CHECK_OK(aclrtResetDevice(0));
    ExpectNoContext();
    CHECK_OK(aclFinalize());
}

void Counting()
{
    uint32_t count = 0;
    CHECK_OK(aclrtGetDeviceCount(&count));
    CHECK(count == 2);
    CHECK_REFUSED(aclrtResetDevice(1), ACL_ERROR_RT_CONTEXT_NULL, "device 1");
    CHECK_REFUSED(aclrtSetDevice(2), ACL_ERROR_RT_INVALID_DEVICEID, "deviceId is 2");
    CHECK_REFUSED(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID, "deviceId is -1");
    CHECK_OK(aclrtSetDevice(1));
    aclrtContext first = nullptr;
    CHECK_OK(aclrtGetCurrentContext(&first));
    std::thread([first] {
        CHECK_OK(aclrtSetDevice(1));
        aclrtContext same = nullptr;
        CHECK_OK(aclrtGetCurrentContext(&same));
        CHECK(same == first); // threads share a device's default context
        CHECK_OK(aclrtResetDevice(1));
    }).join();
    void *kept = nullptr;
    CHECK_OK(aclrtMalloc(&kept, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtSetDevice(1));
    CHECK_OK(aclrtResetDevice(1)); // the device is still set once
    CHECK_OK(aclrtMemset(kept, 4096, 0, 4096));
    CHECK_OK(aclrtSetDevice(1));
    CHECK_OK(aclrtSetDevice(1));
    CHECK_OK(aclrtResetDeviceForce(1)); // whatever the count
    CHECK_CODE(aclrtResetDevice(1), ACL_ERROR_RT_CONTEXT_NULL);
    CHECK(aclemuLiveObjects("device_memory") == 0); // memory goes with its device
    CHECK_REFUSED(aclrtFree(kept), ACL_ERROR_RT_PARAM_INVALID, "devPtr");
}

void Contexts()
{
    CHECK_OK(aclrtSetDevice(0));
    aclrtContext standard = nullptr;
    CHECK_OK(aclrtGetCurrentContext(&standard));
    aclrtContext made = nullptr;
    CHECK_OK(aclrtCreateContext(&made, 1)); // becomes current
    CHECK(reinterpret_cast<uintptr_t>(made) > UINT32_MAX);
    int32_t device = -1;
    CHECK_OK(aclrtGetDevice(&device));
    CHECK(device == 1);
    aclrtStream stream = nullptr;
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtSetCurrentContext(standard));
    CHECK_REFUSED(aclrtSynchronizeStream(stream), ACL_ERROR_RT_STREAM_CONTEXT, "another context");
    CHECK_REFUSED(aclrtDestroyStream(stream), ACL_ERROR_RT_STREAM_CONTEXT, "belongs to context");
    CHECK_REFUSED(aclrtDestroyContext(standard), ACL_ERROR_RT_PARAM_INVALID, "default context");
    CHECK(aclemuLiveObjects("context") == 1 && aclemuLiveObjects("stream") == 1);
    CHECK_OK(aclrtSetCurrentContext(made));
    CHECK_OK(aclrtDestroyContext(made)); // takes its stream along
    CHECK(aclemuLiveObjects("context") == 0 && aclemuLiveObjects("stream") == 0);
    ExpectNoContext();
    CHECK_REFUSED(aclrtDestroyContext(made), ACL_ERROR_RT_PARAM_INVALID, "not alive");
    CHECK_REFUSED(aclrtSetCurrentContext(made), ACL_ERROR_RT_PARAM_INVALID, "not alive");
    CHECK_REFUSED(aclrtSetCurrentContext(nullptr), ACL_ERROR_INVALID_PARAM, "context");
    CHECK_REFUSED(aclrtCreateContext(nullptr, 0), ACL_ERROR_INVALID_PARAM, "context");
    CHECK_OK(aclrtResetDevice(0));
}

void Parameters()
{
    int64_t value = 0;
    CHECK_CODE(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), ACL_ERROR_RT_SYSPARAMOPT_NOT_SET);
    CHECK_OK(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1));
    CHECK_OK(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
    CHECK(value == 1);
    CHECK_CODE(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 0), ACL_ERROR_RT_CONTEXT_NULL);
    CHECK_OK(aclrtSetDevice(0));
    CHECK_CODE(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), ACL_ERROR_RT_SYSPARAMOPT_NOT_SET);
    CHECK_OK(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 7));
    CHECK_OK(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
    CHECK(value == 7);
    CHECK_REFUSED(aclrtSetSysParamOpt(static_cast<aclSysParamOpt>(9), 1), ACL_ERROR_RT_PARAM_INVALID,
                  "opt is 9");
    CHECK_OK(aclrtResetDevice(0));
}

// Ends in the middle of everything: nothing may hang or crash.
struct LateCalls {
    ~LateCalls()
    {
        void *address = nullptr;
        CHECK_OK(aclrtMalloc(&address, 64, ACL_MEM_MALLOC_HUGE_FIRST));
        CHECK_OK(aclrtFree(address));
        CHECK_CODE(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM);
        CHECK(!RecentText().empty());
    }
} g_late;

void ExitWithLiveObjects()
{
    CHECK_OK(aclInit(nullptr));
    CHECK_OK(aclrtSetDevice(0));
    for (int i = 0; i < 4; ++i) {
        aclrtStream stream = nullptr;
        aclrtEvent event = nullptr;
        void *address = nullptr;
        CHECK_OK(aclrtCreateStream(&stream));
        CHECK_OK(aclrtCreateEvent(&event));
        CHECK_OK(aclrtMalloc(&address, 1 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
        for (int j = 0; j < 100; ++j) {
            CHECK_OK(aclrtMemsetAsync(address, 1 << 20, j, 1 << 20, stream));
        }
        CHECK_OK(aclrtRecordEvent(event, stream));
        CHECK_OK(aclrtLaunchHostFunc(
            stream, [](void *) { std::this_thread::sleep_for(std::chrono::seconds(30)); }, nullptr));
    }
    std::exit(0);
}

void WaitForEver()
{
    CHECK_OK(aclrtSetDevice(0));
    CHECK_OK(aclrtLaunchHostFunc(
        nullptr, [](void *) { std::this_thread::sleep_for(std::chrono::seconds(60)); }, nullptr));
    std::puts("waiting");
    std::fflush(stdout);
    CHECK_OK(aclrtSynchronizeStream(nullptr));
}

void SetDevice(const char *expected)
{
    const int code = aclrtSetDevice(0);
    uint32_t count = 77;
    std::printf("set %d\ncount %d", code, aclrtGetDeviceCount(&count));
    std::printf(" %u\nsecond %d\n%s\n", count, aclrtSetDevice(1), RecentText().c_str());
    std::fflush(stdout);
    std::_Exit(code == std::atoi(expected) ? 0 : 1);
}

} // namespace

int main(int argc, char **argv)
{
    const std::string scenario = argc > 1 ? argv[1] : "";
    if (scenario == "counted") {
        CountedInit();
    } else if (scenario == "finalize_twice") {
        FinalizeTwice();
    } else if (scenario == "config") {
        Config(argv[2], std::atoi(argv[3]));
    } else if (scenario == "no_device") {
        NoDevice();
    } else if (scenario == "devices") {
        Counting();
    } else if (scenario == "contexts") {
        Contexts();
    } else if (scenario == "parameters") {
        Parameters();
    } else if (scenario == "exit") {
        ExitWithLiveObjects();
    } else if (scenario == "wait") {
        WaitForEver();
    } else if (scenario == "set") {
        SetDevice(argv[2]);
    } else {
        return 2;
    }
    std::fflush(stdout);
    std::_Exit(0); // without the late calls, which belong to "exit"
}
