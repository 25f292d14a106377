// The debug modes of aclemu.h. One scenario per run: the first argument names it.
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <thread>

#include "aclemu.h"
#include "aclnn/acl_meta.h"
#include "aclnn/opdev/op_errno.h"
#include "check.h"
#include "nnopbase/executor.h"
#include "nnopbase/tensor.h"

namespace {

constexpr size_t kSize = 4096;

void *Allocate(size_t size = kSize)
{
    void *address = nullptr;
    CHECK_OK(aclrtMalloc(&address, size, ACL_MEM_MALLOC_HUGE_FIRST));
    return address;
}

aclTensor *TensorAt(void *address)
{
    const int64_t dims[] = {kSize / 4};
    return aclCreateTensor(dims, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 1, address);
}

// An operator that reads x and does `work` with the address of y.
aclnnStatus Plan(void *x, void *y, std::function<void(uint8_t *y, uint8_t *workspace)> work, aclOpExecutor **executor,
                 uint64_t workspaceSize = 0)
{
    nnop::Plan plan;
    plan.opName = "aclnnScribble";
    plan.tensors = {TensorAt(x), TensorAt(y)};
    plan.inputs = 1;
    plan.names = {"x", "y"};
    plan.workspaceSize = workspaceSize;
    plan.launches.push_back([out = plan.tensors[1], work]() -> nnop::Kernel {
        return [data = out->Data(), work](uint8_t *workspace) {
            work(data, workspace);
            return aclemu::TaskResult();
        };
    });
    uint64_t size = 0;
    return nnop::Publish(std::move(plan), &size, executor);
}

void Launch(void *x, void *y, std::function<void(uint8_t *y, uint8_t *workspace)> work, void *workspace = nullptr,
            uint64_t size = 0)
{
    aclOpExecutor *executor = nullptr;
    CHECK_OK(Plan(x, y, std::move(work), &executor, size));
    CHECK_OK(nnop::Run("aclnnScribble", workspace, size, executor, nullptr));
}

// The fault stays on the stream, so each case has a fresh default stream.
void Restart()
{
    CHECK_OK(aclrtResetDevice(0));
    CHECK_OK(aclrtSetDevice(0));
}

void Memory()
{
    CHECK_OK(aclrtSetDevice(0));
    void *x = Allocate();
    void *y = Allocate();
    Launch(x, y, [](uint8_t *data, uint8_t *) { std::memset(data, 1, kSize); });
    CHECK_OK(aclrtSynchronizeStream(nullptr));

    Launch(x, y, [](uint8_t *data, uint8_t *) { std::memset(data + kSize + 1, 1, 3); });
    CHECK_REFUSED(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_AICORE_EXCEPTION,
                  "aclnnScribble: wrote 3 bytes behind the end of output 0 (y) in the allocation at ");
    Restart();
    x = Allocate();
    y = Allocate(1000); // not a multiple of anything
    Launch(x, y, [](uint8_t *data, uint8_t *) { data[1000] = 0; });
    CHECK_REFUSED(aclrtSynchronizeDevice(), ACL_ERROR_RT_AICORE_EXCEPTION, "of 1000 bytes on device 0, the first at offset 1000");
    Restart();
    x = Allocate();
    y = Allocate();
    Launch(x, y, [](uint8_t *data, uint8_t *) { data[-1] = 0; });
    CHECK_REFUSED(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_AICORE_EXCEPTION, "before the start of output 0 (y)");
    Restart();
    x = Allocate();
    y = Allocate();
    void *workspace = Allocate(128);
    Launch(x, y, [](uint8_t *, uint8_t *space) { space[128] = 0; }, workspace, 128);
    CHECK_REFUSED(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_AICORE_EXCEPTION, "behind the end of the workspace");
    Restart();

    // What nobody's task did shows at the next synchronise or free.
    y = Allocate();
    static_cast<char *>(y)[kSize] = 0;
    CHECK_REFUSED(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_AICORE_EXCEPTION, "something wrote 1 byte behind");
    CHECK_OK(aclrtSynchronizeStream(nullptr)); // told once
    static_cast<char *>(y)[kSize] = 0;
    CHECK_REFUSED(aclrtFree(y), ACL_ERROR_RT_MEMORY_FREE, "behind the end of the allocation");
    CHECK(aclemuLiveObjects("device_memory") == 0);
    CHECK(std::isnan(*static_cast<float *>(y))); // freed memory is poisoned

    // A task that still writes to freed memory.
    x = Allocate();
    y = Allocate();
    std::atomic<bool> freed{false};
    Launch(x, y, [&](uint8_t *data, uint8_t *) {
        while (!freed) {
            std::this_thread::yield();
        }
        data[100] = 0;
    });
    CHECK_OK(aclrtFree(y));
    freed = true;
    CHECK_REFUSED(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_AICORE_EXCEPTION,
                  "wrote 1 byte in freed memory, output 0 (y)");
    Restart();

    // Large blocks are watched at their ends, and memory is not used up by the watching.
    for (int i = 0; i < 64; ++i) {
        CHECK_OK(aclrtFree(Allocate(size_t{1} << 26)));
    }
    for (int i = 0; i < 3000; ++i) {
        CHECK_OK(aclrtFree(Allocate(1 + static_cast<size_t>(i) * 37)));
    }
    CHECK_OK(aclrtSynchronizeDevice());
    CHECK_OK(aclemuSetChecks(nullptr));
    y = Allocate();
    static_cast<char *>(y)[kSize] = 0; // no red zone, no report
    CHECK_OK(aclrtSynchronizeDevice());
    CHECK_OK(aclrtFree(y));
    CHECK_OK(aclrtResetDevice(0));
}

// A program that takes its memory back although it was told not to gets a fault, not a signal.
void UnmappedTooEarly(void *device)
{
    aclrtStream stream = nullptr;
    CHECK_OK(aclrtCreateStream(&stream));
    void *pages = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED);
    CHECK_OK(aclrtHostRegisterV2(pages, kSize, ACL_HOST_REG_PINNED));
    static std::atomic<bool> go{false};
    const auto wait = [](void *) {
        while (!go) {
            std::this_thread::yield();
        }
    };
    CHECK_OK(aclrtLaunchHostFunc(stream, wait, nullptr));
    CHECK_OK(aclrtMemcpyAsync(device, kSize, pages, kSize, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    CHECK_REFUSED(aclrtHostUnregister(pages), ACL_ERROR_RT_PARAM_INVALID, "src of memcpy");
    CHECK(mprotect(pages, kSize, PROT_NONE) == 0); // as good as unmapped, but nobody else can get the address
    go = true;
    CHECK_REFUSED(aclrtSynchronizeStream(stream), ACL_ERROR_RT_INTERNAL_ERROR, "is not there any more");
    CHECK_OK(aclrtHostUnregister(pages));
    CHECK(munmap(pages, kSize) == 0);
    CHECK_OK(aclrtDestroyStream(stream));
}

void Sync()
{
    CHECK_OK(aclrtSetDevice(0));
    void *x = Allocate();
    void *y = Allocate();
    void *other = Allocate();
    char host[kSize] = {};
    std::atomic<bool> go{false};
    Launch(x, y, [&](uint8_t *data, uint8_t *) {
        while (!go) {
            std::this_thread::yield();
        }
        data[0] = 9;
    });
    const std::string task = "output 0 (y) of aclnnScribble, which is not finished";
    CHECK_REFUSED(aclrtMemcpy(host, kSize, y, kSize, ACL_MEMCPY_DEVICE_TO_HOST), ACL_ERROR_RT_PARAM_INVALID, task.c_str());
    CHECK_REFUSED(aclrtMemset(y, kSize, 0, kSize), ACL_ERROR_RT_PARAM_INVALID, task.c_str());
    CHECK_REFUSED(aclrtFree(y), ACL_ERROR_RT_PARAM_INVALID, task.c_str());
    CHECK_REFUSED(aclrtFree(x), ACL_ERROR_RT_PARAM_INVALID, "input 0 (x)");
    CHECK_OK(aclrtMemcpy(host, kSize, x, kSize, ACL_MEMCPY_DEVICE_TO_HOST)); // two readers are fine
    CHECK_REFUSED(aclrtMemcpy(x, kSize, host, kSize, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID, "input 0 (x)");
    CHECK_OK(aclrtMemset(other, kSize, 0, kSize));
    void *pinned = nullptr;
    CHECK_OK(aclrtMallocHost(&pinned, kSize));
    CHECK_OK(aclrtMemcpyAsync(pinned, kSize, y, kSize, ACL_MEMCPY_DEVICE_TO_HOST, nullptr)); // in stream order
    CHECK_REFUSED(aclrtFreeHost(pinned), ACL_ERROR_RT_PARAM_INVALID, "dst of memcpy");
    static char registered[2 * kSize];
    CHECK_OK(aclrtHostRegisterV2(registered, sizeof(registered), ACL_HOST_REG_PINNED));
    CHECK_OK(aclrtMemcpyAsync(registered, kSize, y, kSize, ACL_MEMCPY_DEVICE_TO_HOST, nullptr));
    CHECK_REFUSED(aclrtHostUnregister(registered), ACL_ERROR_RT_PARAM_INVALID, "dst of memcpy");
    go = true;
    CHECK_OK(aclrtSynchronizeStream(nullptr));
    CHECK_OK(aclrtHostUnregister(registered));
    UnmappedTooEarly(other);
    CHECK(static_cast<char *>(pinned)[0] == 9);
    CHECK_OK(aclrtMemcpy(host, kSize, y, kSize, ACL_MEMCPY_DEVICE_TO_HOST));
    for (void *address : {x, y, other}) {
        CHECK_OK(aclrtFree(address));
    }
    CHECK_OK(aclrtFreeHost(pinned));
    CHECK_REFUSED(aclemuSetChecks("memory,colour"), ACL_ERROR_INVALID_PARAM, "colour");
    CHECK_OK(aclrtResetDevice(0));
}

void Faults()
{
    CHECK_OK(aclrtSetDevice(0));
    void *x = Allocate();
    void *y = Allocate();
    void *address = nullptr;
    CHECK_OK(aclemuFailAllocation(2));
    CHECK_OK(aclrtFree(Allocate()));
    CHECK_REFUSED(aclrtMalloc(&address, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION, "aclemuFailAllocation");
    CHECK_OK(aclrtFree(Allocate()));
    CHECK_OK(aclemuFailAllocation(1));
    CHECK_OK(aclemuFailAllocation(0));
    CHECK_OK(aclrtFree(Allocate()));

    aclOpExecutor *executor = nullptr;
    const auto nothing = [](uint8_t *, uint8_t *) {};
    CHECK_OK(aclemuFailOperator("aclnnScribble", 1, 561103));
    CHECK_REFUSED(Plan(x, y, nothing, &executor), 561103, "aclnnScribble fails in phase 1");
    CHECK(executor == nullptr && aclemuLiveObjects("executor") == 0);
    CHECK_OK(aclemuFailOperator("aclnnScribble", 1, 0));
    CHECK_OK(aclemuFailOperator("aclnnScribble", 2, 361001));
    CHECK_OK(Plan(x, y, nothing, &executor));
    CHECK_REFUSED(nnop::Run("aclnnScribble", nullptr, 0, executor, nullptr), 361001, "phase 2");
    CHECK(aclemuLiveObjects("executor") == 0); // used up all the same
    CHECK_OK(aclemuFailOperator("aclnnOther", 2, 361001));
    CHECK_OK(aclemuFailOperator("aclnnScribble", 2, 0));
    Launch(x, y, nothing);
    CHECK_REFUSED(aclemuFailOperator("aclnnScribble", 3, 1), ACL_ERROR_INVALID_PARAM, "phase is 3");
    CHECK_REFUSED(aclemuFailOperator(nullptr, 1, 1), ACL_ERROR_INVALID_PARAM, "op");

    CHECK_OK(aclemuFailSynchronize(507035));
    CHECK_REFUSED(aclrtSynchronizeStream(nullptr), 507035, "aclemuFailSynchronize");
    CHECK_CODE(aclrtSynchronizeStream(nullptr), 507035); // a fault stays with its stream
    Restart();
    CHECK_OK(aclrtSynchronizeStream(nullptr));
    CHECK_OK(aclrtResetDevice(0));
}

void FaultsOfTheEnvironment()
{
    const int code = aclrtSetDevice(0);
    if (code != 0) {
        std::printf("%d %s", code, RecentText().c_str());
        return;
    }
    void *address = nullptr;
    aclOpExecutor *executor = nullptr;
    CHECK_OK(aclrtMalloc(&address, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_CODE(aclrtMalloc(&address, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION);
    CHECK_CODE(Plan(address, address, [](uint8_t *, uint8_t *) {}, &executor), 561103);
    CHECK_CODE(aclrtSynchronizeStream(nullptr), 507015);
    std::puts("as asked");
}

void CallLog(const char *path)
{
    CHECK_OK(aclrtSetDevice(0));
    CHECK_OK(aclemuLogCalls(path));
    void *x = Allocate();
    Launch(x, x, [](uint8_t *, uint8_t *) {});
    CHECK_CODE(aclrtMalloc(nullptr, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
    CHECK_OK(aclrtSynchronizeStream(nullptr));
    CHECK_OK(aclemuLogCalls(nullptr));
    CHECK_OK(aclrtFree(x));
    CHECK_REFUSED(aclemuLogCalls("/nowhere/at/all"), ACL_ERROR_INVALID_PARAM, "/nowhere/at/all");
    CHECK_OK(aclrtResetDevice(0));
}

void Leaks()
{
    CHECK(aclemuLeakReport(nullptr, 0) == 0);
    CHECK_OK(aclInit(nullptr));
    CHECK_OK(aclrtSetDevice(0));
    void *x = Allocate(5000);
    aclOpExecutor *executor = nullptr;
    CHECK_OK(Plan(x, x, [](uint8_t *, uint8_t *) {}, &executor)); // phase 1 without phase 2
    char text[1000];
    const size_t length = aclemuLeakReport(text, sizeof(text));
    CHECK(length == std::strlen(text) && std::strstr(text, "tensor: 2 alive\n") != nullptr);
    CHECK(std::strstr(text, "executor: 1 alive\n") != nullptr && std::strstr(text, "  5000 bytes of device 0 at ") != nullptr);
    CHECK(aclemuLeakReport(text, 8) == length && std::strlen(text) == 7);
    CHECK_OK(aclFinalize());
}

void StreamMode()
{
    CHECK_OK(aclrtSetDevice(0));
    std::atomic<int> ran{0};
    const auto run = [](void *data) { ++*static_cast<std::atomic<int> *>(data); };
    aclrtStream stream = nullptr;
    CHECK_OK(aclemuSetStreamMode("delayed"));
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtLaunchHostFunc(stream, run, &ran));
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    CHECK(ran == 0);
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK(ran == 1);
    CHECK_OK(aclemuSetStreamMode("async"));
    CHECK_REFUSED(aclemuSetStreamMode("later"), ACL_ERROR_INVALID_PARAM, "later");
    CHECK_OK(aclrtDestroyStream(stream));
    CHECK_OK(aclrtResetDevice(0));
}

// A callback hears of the fault of a task.
void Exceptions()
{
    CHECK_OK(aclrtSetDevice(0));
    static std::atomic<uint32_t> code{0};
    static std::atomic<uint32_t> stream{0};
    CHECK_OK(aclrtSetExceptionInfoCallback([](aclrtExceptionInfo *info) {
        code = aclrtGetErrorCodeFromExceptionInfo(info);
        stream = aclrtGetStreamIdFromExceptionInfo(info);
        CHECK(aclrtGetDeviceIdFromExceptionInfo(info) == 0 && aclrtGetTaskIdFromExceptionInfo(info) == 1);
        CHECK(aclrtGetThreadIdFromExceptionInfo(info) != 0);
    }));
    int32_t id = -1;
    CHECK_OK(aclrtStreamGetId(nullptr, &id));
    CHECK_OK(aclemuSetChecks("memory"));
    void *x = Allocate();
    Launch(x, x, [](uint8_t *data, uint8_t *) { data[kSize] = 0; });
    CHECK_CODE(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_AICORE_EXCEPTION);
    CHECK(code == ACL_ERROR_RT_AICORE_EXCEPTION && stream == static_cast<uint32_t>(id));
    CHECK(aclrtGetErrorCodeFromExceptionInfo(nullptr) == UINT32_MAX);
    CHECK_OK(aclrtSetExceptionInfoCallback(nullptr));
    // An operator that runs past its limit faults, too.
    Restart();
    CHECK_OK(aclrtSetOpExecuteTimeOutWithMs(5));
    x = Allocate();
    Launch(x, x, [](uint8_t *, uint8_t *) { std::this_thread::sleep_for(std::chrono::milliseconds(30)); });
    CHECK_REFUSED(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_AICORE_TIMEOUT, "aclnnScribble: ran longer than the 5 ms");
    CHECK_OK(aclrtResetDevice(0));
}

} // namespace

int main(int argc, char **argv)
{
    const std::string scenario = argc > 1 ? argv[1] : "";
    if (scenario == "memory") {
        Memory();
    } else if (scenario == "sync") {
        Sync();
    } else if (scenario == "faults") {
        Faults();
    } else if (scenario == "environment") {
        FaultsOfTheEnvironment();
    } else if (scenario == "calls") {
        CallLog(argv[2]);
    } else if (scenario == "leaks") {
        Leaks();
    } else if (scenario == "mode") {
        StreamMode();
    } else if (scenario == "exceptions") {
        Exceptions();
    } else {
        return 2;
    }
    return 0;
}
