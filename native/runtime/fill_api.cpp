#include <cstring>
#include <functional>

#include "acl/acl_rt.h"
#include "runtime/api.h"
#include "runtime/check.h"
#include "runtime/context.h"
#include "runtime/place.h"

using aclemu::Api;
using aclemu::Fail;
using aclemu::FailNull;

namespace aclemu {
namespace {

struct Fill {
    void *address;
    const char *limitName;
    size_t limit; // bytes the caller says there are
    size_t count; // bytes to fill
    std::function<void()> run;
};

aclError CheckFill(const Fill &fill)
{
    if (fill.address == nullptr) {
        return FailNull("devPtr");
    }
    if (fill.count == 0) {
        return Fail(ACL_ERROR_INVALID_PARAM, "the number of bytes to fill is 0; it must be greater than 0");
    }
    aclError status = CheckCount(fill.limitName, fill.limit, fill.count);
    Place place = Place::HOST;
    if (status == ACL_SUCCESS) {
        status = Locate("devPtr", fill.address, fill.count, &place);
    }
    if (status == ACL_SUCCESS && place == Place::HOST) {
        status = Fail(ACL_ERROR_RT_PARAM_INVALID,
                      "devPtr %p was not allocated by aclrtMalloc or aclrtMallocHost", fill.address);
    }
    return status;
}

aclError RunNow(const Fill &fill)
{
    if (fill.address == nullptr) {
        return FailNull("devPtr");
    }
    if (RequireContext() == nullptr) {
        return ACL_ERROR_RT_CONTEXT_NULL;
    }
    aclError status = CheckFill(fill);
    if (status == ACL_SUCCESS) {
        status = CheckUnused("devPtr", fill.address, fill.count, true);
    }
    if (status == ACL_SUCCESS) {
        fill.run();
    }
    return status;
}

aclError RunOn(aclrtStream handle, Fill fill)
{
    if (fill.address == nullptr) {
        return FailNull("devPtr");
    }
    aclError status = ACL_SUCCESS;
    const auto stream = RequireStream(handle, &status);
    if (stream == nullptr) {
        return status;
    }
    status = CheckFill(fill);
    if (status != ACL_SUCCESS) {
        return status;
    }
    TaskQueue::Task task;
    task.name = "memset";
    task.uses = {{"devPtr", fill.address, fill.count, true}};
    task.run = [run = std::move(fill.run)] {
        run();
        return TaskResult();
    };
    return PushTo(*stream, std::move(task), nullptr);
}

Fill Bytes(void *address, size_t limit, int32_t value, size_t count)
{
    return {address, "maxCount", limit, count, [=] { std::memset(address, value, count); }};
}

// `words` values of 32 bits; false with a report if `ptr` cannot hold such.
aclError Words(void *ptr, size_t memSize, uint32_t value, size_t words, Fill *fill)
{
    if (reinterpret_cast<uintptr_t>(ptr) % sizeof(value) != 0) {
        return Fail(ACL_ERROR_RT_ADDR_UNALIGNED, "ptr %p is not aligned to 4 bytes", ptr);
    }
    if (words > SIZE_MAX / sizeof(value)) {
        return Fail(ACL_ERROR_RT_PARAM_INVALID, "parameter N is %zu, which is more than memSize %zu can hold",
                    words, memSize);
    }
    *fill = {ptr, "memSize", memSize, words * sizeof(value), [=] {
                 for (size_t i = 0; i < words; ++i) {
                     static_cast<uint32_t *>(ptr)[i] = value;
                 }
             }};
    return ACL_SUCCESS;
}

} // namespace
} // namespace aclemu

aclError aclrtMemset(void *devPtr, size_t maxCount, int32_t value, size_t count)
{
    return Api("aclrtMemset", [=] { return aclemu::RunNow(aclemu::Bytes(devPtr, maxCount, value, count)); });
}

aclError aclrtMemsetAsync(void *devPtr, size_t maxCount, int32_t value, size_t count, aclrtStream stream)
{
    return Api("aclrtMemsetAsync",
               [=] { return aclemu::RunOn(stream, aclemu::Bytes(devPtr, maxCount, value, count)); });
}

aclError aclrtMemsetD32(void *ptr, size_t memSize, uint32_t value, size_t N)
{
    return Api("aclrtMemsetD32", [=] {
        aclemu::Fill fill = {};
        const aclError status = aclemu::Words(ptr, memSize, value, N, &fill);
        return status != ACL_SUCCESS ? status : aclemu::RunNow(fill);
    });
}

aclError aclrtMemsetD32Async(void *ptr, size_t memSize, uint32_t value, size_t N, aclrtStream stream)
{
    return Api("aclrtMemsetD32Async", [=] {
        aclemu::Fill fill = {};
        const aclError status = aclemu::Words(ptr, memSize, value, N, &fill);
        return status != ACL_SUCCESS ? status : aclemu::RunOn(stream, std::move(fill));
    });
}

// Caches of the emulated device and the host are the same, so that memory is in step once it is seen to be good.
aclError aclrtMemFlush(void *devPtr, size_t size)
{
    return Api("aclrtMemFlush", [=] {
        aclemu::Fill fill = aclemu::Bytes(devPtr, size, 0, size);
        return size == 0 ? Fail(ACL_ERROR_INVALID_PARAM, "parameter size is 0; it must be greater than 0")
                         : aclemu::CheckFill(fill);
    });
}

aclError aclrtMemInvalidate(void *devPtr, size_t size)
{
    return Api("aclrtMemInvalidate", [=] {
        aclemu::Fill fill = aclemu::Bytes(devPtr, size, 0, size);
        return size == 0 ? Fail(ACL_ERROR_INVALID_PARAM, "parameter size is 0; it must be greater than 0")
                         : aclemu::CheckFill(fill);
    });
}
