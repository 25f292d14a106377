// Eight threads, two devices, mixed calls: no error, and every counter is back at zero.
#include <thread>
#include <vector>

#include "aclemu.h"
#include "aclnn/acl_meta.h"
#include "check.h"
#include "nnopbase/executor.h"
#include "nnopbase/tensor.h"

namespace {

void Work(int32_t device, int rounds)
{
    CHECK_OK(aclrtSetDevice(device));
    aclrtStream stream = nullptr;
    aclrtEvent event = nullptr;
    void *kept = nullptr;
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtCreateEvent(&event));
    CHECK_OK(aclrtMalloc(&kept, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int i = 0; i < rounds; ++i) {
        void *address = nullptr;
        int value = i;
        int back = -1;
        const int64_t dims[] = {16, 64};
        CHECK_OK(aclrtMalloc(&address, 64 + i % 5000, ACL_MEM_MALLOC_HUGE_FIRST));
        CHECK_OK(aclrtMemcpy(address, 64, &value, sizeof(value), ACL_MEMCPY_HOST_TO_DEVICE));
        aclTensor *tensor = aclCreateTensor(dims, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 2, kept);
        CHECK(tensor != nullptr);
        nnop::Plan plan;
        plan.opName = "aclnnTouch";
        plan.tensors = {tensor};
        plan.launches.push_back([tensor]() -> nnop::Kernel {
            return [data = tensor->Data(), i = 0](uint8_t *) {
                data[i] = 1;
                return aclemu::TaskResult();
            };
        });
        uint64_t size = 0;
        aclOpExecutor *executor = nullptr;
        CHECK_OK(nnop::Publish(plan, &size, &executor));
        CHECK_OK(nnop::Run("aclnnTouch", nullptr, 0, executor, stream));
        CHECK_OK(aclDestroyTensor(tensor));
        CHECK_OK(aclrtMemsetAsync(kept, 4096, i, 4096, stream));
        CHECK_OK(aclrtRecordEvent(event, stream));
        CHECK_OK(aclrtStreamWaitEvent(nullptr, event));
        CHECK_OK(aclrtMemcpy(&back, sizeof(back), address, sizeof(back), ACL_MEMCPY_DEVICE_TO_HOST));
        CHECK(back == value);
        if (i % 64 == 0) {
            CHECK_OK(aclrtSynchronizeStream(stream));
            CHECK_CODE(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM);
            CHECK(!RecentText().empty() && RecentText().empty());
        }
        CHECK_OK(aclrtFree(address));
    }
    CHECK_OK(aclrtSynchronizeDevice());
    CHECK_OK(aclrtFree(kept));
    CHECK_OK(aclrtDestroyEvent(event));
    CHECK_OK(aclrtDestroyStream(stream));
    CHECK_OK(aclrtResetDevice(device));
}

} // namespace

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 1000;
    CHECK_OK(aclInit(nullptr));
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back(Work, i % 2, rounds);
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    for (const char *kind :
         {"tensor", "executor", "stream", "event", "context", "device_memory", "host_memory"}) {
        CHECK(aclemuLiveObjects(kind) == 0);
    }
    CHECK(aclemuLiveObjects("unicorn") == -1 && aclemuLiveObjects(nullptr) == -1);
    CHECK_OK(aclFinalize());
    return 0;
}
