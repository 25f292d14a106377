// A fork after the device was used is told so at once; one before, or one that does nothing, is fine.
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "aclemu.h"
#include "aclnn/acl_meta.h"
#include "check.h"
#include "nnopbase/executor.h"

namespace {

template <typename Function>
void InChild(Function function)
{
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(5); // a hang is a failure
        function();
        std::exit(0);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void UseDevice()
{
    void *address = nullptr;
    CHECK_OK(aclrtSetDevice(0));
    CHECK_OK(aclrtMalloc(&address, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtMemsetAsync(address, 64, 1, 64, nullptr));
    CHECK_OK(aclrtSynchronizeStream(nullptr));
    CHECK_OK(aclrtFree(address));
    CHECK_OK(aclrtResetDevice(0));
}

} // namespace

int main()
{
    CHECK_OK(aclInit(nullptr));
    InChild(UseDevice);
    CHECK_OK(aclrtSetDevice(0));
    aclrtStream stream = nullptr;
    void *address = nullptr;
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtMalloc(&address, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    const int64_t dims[] = {4};
    aclTensor *tensor = aclCreateTensor(dims, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 1, address);
    nnop::Plan plan;
    plan.opName = "aclnnNothing";
    plan.launches.push_back([] { return [](uint8_t *) { return aclemu::TaskResult(); }; });
    uint64_t size = 0;
    aclOpExecutor *executor = nullptr;
    CHECK_OK(nnop::Publish(plan, &size, &executor));

    // Other threads hold the library's locks most of the time while this one forks.
    static volatile bool stop = false;
    std::thread busy([&] {
        CHECK_OK(aclrtSetDevice(0));
        while (!stop) {
            void *block = nullptr;
            CHECK_OK(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST));
            CHECK_OK(aclrtFree(block));
            CHECK_OK(aclDestroyTensor(
                aclCreateTensor(dims, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 1, block)));
        }
        CHECK_OK(aclrtResetDevice(0));
    });
    for (int i = 0; i < 50; ++i) {
        InChild([] {});
        InChild([&] {
            CHECK_REFUSED(aclrtSynchronizeStream(stream), ACL_ERROR_RT_DEV_SETUP_ERROR, "spawn");
            CHECK_REFUSED(aclrtSetDevice(0), ACL_ERROR_RT_DEV_SETUP_ERROR, "spawn");
            CHECK_REFUSED(aclrtMalloc(&address, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_DEV_SETUP_ERROR,
                          "spawn");
            CHECK_REFUSED(aclrtFree(address), ACL_ERROR_RT_DEV_SETUP_ERROR, "spawn");
            CHECK_REFUSED(nnop::Run("aclnnNothing", nullptr, 0, executor, stream), 361001, "spawn");
            CHECK_REFUSED(aclFinalize(), ACL_ERROR_RT_DEV_SETUP_ERROR, "spawn");
            CHECK_OK(aclDestroyTensor(tensor)); // host objects can go
        });
    }
    stop = true;
    busy.join();
    CHECK_OK(nnop::Run("aclnnNothing", nullptr, 0, executor, stream)); // the parent is as before
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_OK(aclDestroyTensor(tensor));
    CHECK_OK(aclrtFree(address));
    CHECK_OK(aclrtDestroyStream(stream));
    CHECK_OK(aclrtResetDevice(0));
    CHECK_OK(aclFinalize());
    return 0;
}
