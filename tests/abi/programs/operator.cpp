// A real operator through its two phases: what a careless program gets for its mistakes. One scenario per run.
#include <thread>
#include <vector>

#include "aclemu.h"
#include "aclnn/opdev/op_errno.h"
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_cast.h"
#include "aclnnop/aclnn_mhc_pre_sinkhorn.h"
#include "check.h"

namespace {

constexpr int64_t kCount = 1000;
constexpr size_t kBytes = kCount * sizeof(float);

void *Allocate(size_t bytes = kBytes)
{
    void *address = nullptr;
    CHECK_OK(aclrtMalloc(&address, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    return address;
}

aclTensor *Tensor(void *address)
{
    return aclCreateTensor(&kCount, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &kCount, 1, address);
}

struct Sum {
    void *self = Allocate();
    void *other = Allocate();
    void *out = Allocate();
    aclTensor *a = Tensor(self);
    aclTensor *b = Tensor(other);
    aclTensor *c = Tensor(out);
    aclScalar *alpha = nullptr;
    void *workspace = nullptr;
    uint64_t size = 0;
    aclOpExecutor *executor = nullptr;

    Sum()
    {
        float two = 2.0F;
        alpha = aclCreateScalar(&two, ACL_FLOAT);
        std::vector<float> values(kCount);
        for (int64_t i = 0; i < kCount; ++i) {
            values[static_cast<size_t>(i)] = static_cast<float>(i);
        }
        for (void *input : {self, other}) {
            CHECK_OK(aclrtMemcpy(input, kBytes, values.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
        }
    }

    void Phase1()
    {
        CHECK_OK(aclnnAddGetWorkspaceSize(a, b, alpha, c, &size, &executor));
        workspace = size > 0 && workspace == nullptr ? Allocate(size) : workspace;
    }

    int Phase2(aclrtStream stream = nullptr) { return aclnnAdd(workspace, size, executor, stream); }

    void CheckResult(void *from) const
    {
        std::vector<float> values(kCount);
        CHECK_OK(aclrtSynchronizeDevice());
        CHECK_OK(aclrtMemcpy(values.data(), kBytes, from, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
        for (int64_t i = 0; i < kCount; ++i) {
            CHECK(values[static_cast<size_t>(i)] == 3.0F * static_cast<float>(i));
        }
    }
};

void Executors()
{
    Sum sum;
    sum.Phase1();
    CHECK_OK(sum.Phase2());
    sum.CheckResult(sum.out);
    CHECK_REFUSED(sum.Phase2(), ACLNN_ERR_INNER_NULLPTR, "used up");
    CHECK_REFUSED(aclnnAdd(nullptr, 0, nullptr, nullptr), ACLNN_ERR_PARAM_NULLPTR,
                  "aclnnAdd: executor is nullptr, expected");
    int foreign[64] = {};
    CHECK_REFUSED(aclnnAdd(nullptr, 0, reinterpret_cast<aclOpExecutor *>(foreign), nullptr), ACLNN_ERR_INNER_NULLPTR,
                  "none of this library");

    // Another operator's: refused, and still there for its own.
    sum.Phase1();
    CHECK_REFUSED(aclnnCast(sum.workspace, sum.size, sum.executor, nullptr), ACLNN_ERR_INNER_NULLPTR,
                  "aclnnCast: executor ");
    CHECK_REFUSED(aclnnMhcPreSinkhorn(sum.workspace, sum.size, sum.executor, nullptr), ACLNN_ERR_INNER_NULLPTR,
                  "was planned by aclnnAddGetWorkspaceSize, expected one of aclnnMhcPreSinkhornGetWorkspaceSize");
    CHECK_OK(sum.Phase2());
    uint64_t size = 0;
    aclOpExecutor *cast = nullptr;
    CHECK_OK(aclnnCastGetWorkspaceSize(sum.a, ACL_FLOAT, sum.c, &size, &cast));
    CHECK_REFUSED(aclnnAdd(sum.workspace, size, cast, nullptr), ACLNN_ERR_INNER_NULLPTR,
                  "planned by aclnnCastGetWorkspaceSize");
    CHECK_OK(aclDestroyAclOpExecutor(cast));

    // Kept for several calls, with another output each time.
    sum.Phase1();
    CHECK_OK(aclSetAclOpExecutorRepeatable(sum.executor));
    for (int i = 0; i < 3; ++i) {
        void *target = Allocate();
        CHECK_OK(aclSetOutputTensorAddr(sum.executor, 0, sum.c, target));
        CHECK_OK(sum.Phase2());
        sum.CheckResult(target);
        CHECK_OK(aclrtFree(target));
    }
    CHECK_OK(aclDestroyAclOpExecutor(sum.executor));
    CHECK_REFUSED(sum.Phase2(), ACLNN_ERR_INNER_NULLPTR, "destroyed");
    CHECK_CODE(aclDestroyAclOpExecutor(sum.executor), ACLNN_ERR_INNER);
    CHECK(aclemuLiveObjects("executor") == 0);
}

void Destroyed()
{
    Sum sum;
    sum.Phase1();
    CHECK_OK(aclDestroyTensor(sum.b));
    CHECK_REFUSED(sum.Phase2(), ACLNN_ERR_INNER_NULLPTR, "aclnnAdd: input 1 (other) was destroyed between the two phases");
    sum.b = Tensor(sum.other);
    sum.Phase1();
    CHECK_OK(aclDestroyTensor(sum.c));
    sum.c = Tensor(sum.out); // likely at the same address, and still another object
    CHECK_REFUSED(sum.Phase2(), ACLNN_ERR_INNER_NULLPTR, "output 0 (out) was destroyed");
    sum.Phase1();
    CHECK_OK(sum.Phase2());
    CHECK_OK(aclDestroyTensor(sum.a)); // after phase 2 host objects may go
    CHECK_OK(aclDestroyScalar(sum.alpha));
    sum.CheckResult(sum.out);
}

void Buffers()
{
    void *small = Allocate(2000);
    Sum sum;
    CHECK_OK(aclSetRawTensorAddr(sum.c, small));
    sum.Phase1();
    CHECK_OK(sum.Phase2());
    CHECK_REFUSED(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_AICORE_EXCEPTION,
                  "out needs 4000 bytes, but its buffer has 2000");
    CHECK_OK(aclrtResetDevice(0));
    CHECK_OK(aclrtSetDevice(0));
    Sum null;
    CHECK_OK(aclDestroyTensor(null.a));
    null.a = Tensor(nullptr);
    null.Phase1();
    CHECK_OK(null.Phase2());
    CHECK_REFUSED(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_AICORE_EXCEPTION, "self is a null address");
}

// With delayed streams the operator runs after the buffer has gone.
void FreedTooEarly()
{
    Sum sum;
    sum.Phase1();
    CHECK_OK(sum.Phase2());
    CHECK_OK(aclrtFree(sum.out));
    CHECK_REFUSED(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_AICORE_EXCEPTION, "out is not (or no longer) device memory");
}

void WrongPlace()
{
    Sum sum;
    sum.Phase1();
    std::thread([&] { CHECK_REFUSED(sum.Phase2(), ACLNN_ERR_RUNTIME_ERROR, "in THIS thread"); }).join();
    aclrtContext first = nullptr;
    aclrtContext second = nullptr;
    aclrtStream stream = nullptr;
    CHECK_OK(aclrtGetCurrentContext(&first));
    CHECK_OK(aclrtCreateContext(&second, 0));
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtSetCurrentContext(first));
    sum.Phase1();
    CHECK_REFUSED(sum.Phase2(stream), ACLNN_ERR_RUNTIME_ERROR, "107003");
    CHECK_OK(aclrtDestroyContext(second));
    sum.Phase1();
    CHECK_REFUSED(sum.Phase2(stream), ACLNN_ERR_RUNTIME_ERROR, "not alive");
}

// What is on another device faults like any address out of range, unless the program has asked for access.
void OtherDevice()
{
    Sum sum;
    CHECK_OK(aclrtSetDevice(1));
    sum.Phase1();
    CHECK_OK(sum.Phase2());
    CHECK_REFUSED(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_AICORE_EXCEPTION,
                  "input 0 (self) is memory of device 0, to which device 1 has no access");
    CHECK_OK(aclrtResetDevice(1));
    CHECK_OK(aclrtSetDevice(1));
    CHECK_OK(aclrtDeviceEnablePeerAccess(0, 0));
    sum.Phase1();
    CHECK_OK(sum.Phase2());
    sum.CheckResult(sum.out);
    CHECK_OK(aclrtDeviceDisablePeerAccess(0));
    CHECK_OK(aclrtResetDevice(1));
    CHECK_OK(aclrtSetDevice(0));
}

void Checked()
{
    Sum sum;
    sum.Phase1();
    CHECK_OK(sum.Phase2());
    CHECK_REFUSED(aclrtFree(sum.out), ACL_ERROR_RT_PARAM_INVALID, "output 0 (out) of aclnnAdd");
    sum.CheckResult(sum.out);
    CHECK_OK(aclrtFree(sum.out));
}

void Fault()
{
    Sum sum;
    CHECK_OK(aclemuFailOperator("aclnnAdd", 2, 561103));
    CHECK_OK(aclemuFailOperator("aclnnAdx", 2, 561103));
    sum.Phase1();
    CHECK_REFUSED(sum.Phase2(), ACLNN_ERR_INNER_NULLPTR, "aclnnAdd fails in phase 2");
}

} // namespace

int main(int argc, char **argv)
{
    const std::string scenario = argc > 1 ? argv[1] : "";
    const struct {
        const char *name;
        void (*run)();
    } all[] = {{"executors", Executors}, {"destroyed", Destroyed},   {"buffers", Buffers},
               {"freed", FreedTooEarly}, {"wrong place", WrongPlace}, {"other device", OtherDevice},
               {"checked", Checked},     {"fault", Fault}};
    CHECK_OK(aclInit(nullptr));
    CHECK_OK(aclrtSetDevice(0));
    for (const auto &one : all) {
        if (scenario == one.name) {
            one.run();
            CHECK_OK(aclrtResetDevice(0));
            CHECK_OK(aclFinalize());
            return 0;
        }
    }
    return 2;
}
