#include "acl/acl_rt.h"
#include "runtime/allocator.h"
#include "runtime/api.h"
#include "runtime/check.h"
#include "runtime/context.h"
#include "runtime/device.h"
#include "runtime/fault.h"
#include "runtime/host_memory.h"

using aclemu::Api;
using aclemu::Fail;
using aclemu::FailNull;

namespace aclemu {
namespace {

constexpr size_t kGranule = 32;

// What an allocation takes of the device: rounded up to 32 bytes, plus 32 on A2 and A3 unless it is aligned
// only.
uint64_t Charged(size_t size, bool padded)
{
    return (static_cast<uint64_t>(size) + kGranule - 1) / kGranule * kGranule + (padded ? kGranule : 0);
}

aclError Malloc(void **devPtr, size_t size, bool padded)
{
    if (devPtr == nullptr) {
        return FailNull("devPtr");
    }
    if (size == 0) {
        return Fail(ACL_ERROR_INVALID_PARAM, "parameter size is 0; it must be greater than 0");
    }
    if (size > SIZE_MAX - 2 * kGranule) {
        return Fail(ACL_ERROR_INVALID_PARAM, "parameter size is %zu, which is more than an address can count",
                    size);
    }
    const auto context = RequireContext();
    if (context == nullptr) {
        return ACL_ERROR_RT_CONTEXT_NULL;
    }
    if (TakeAllocationFault()) {
        return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                    "%zu bytes on device %d are refused because aclemuFailAllocation asked for it", size,
                    context->device);
    }
    const uint64_t capacity = DeviceMemorySize();
    const uint64_t charged = Charged(size, padded);
    void *address = AllocateOn(context->device, size, charged, capacity);
    if (address == nullptr) {
        return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                    "device %d has no room for %zu bytes: %llu of %llu bytes are free", context->device, size,
                    static_cast<unsigned long long>(capacity - UsedBytes(context->device)),
                    static_cast<unsigned long long>(capacity));
    }
    *devPtr = address;
    return ACL_SUCCESS;
}

aclError MallocWith(void **devPtr, size_t size, const aclrtMallocConfig *cfg)
{
    if (cfg != nullptr && cfg->numAttrs != 0 && cfg->attrs == nullptr) {
        return Fail(ACL_ERROR_INVALID_PARAM, "parameter cfg->attrs is NULL although cfg->numAttrs is %zu",
                    cfg->numAttrs);
    }
    return Malloc(devPtr, size, false);
}

aclError Free(void *devPtr)
{
    if (devPtr == nullptr) {
        return FailNull("devPtr");
    }
    Allocation holder;
    const bool found = FindDeviceAllocation(devPtr, &holder);
    if (found && holder.base == devPtr) {
        const aclError status = CheckUnused("devPtr", devPtr, holder.size, true);
        if (status != ACL_SUCCESS) {
            return status;
        }
        const std::string damage = FindDamage(nullptr);
        if (FreeDeviceMemory(devPtr)) {
            return damage.empty() ? ACL_SUCCESS
                                  : Fail(ACL_ERROR_RT_MEMORY_FREE, "something %s", damage.c_str());
        }
    }
    if (found && holder.base != devPtr) {
        return Fail(ACL_ERROR_RT_PARAM_INVALID, "devPtr %p lies inside the allocation that starts at %p",
                    devPtr, holder.base);
    }
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "devPtr %p is %s", devPtr,
                InDeviceRange(devPtr) ? "not allocated; it may have been freed already"
                                      : "not device memory");
}

} // namespace
} // namespace aclemu

aclError aclrtMalloc(void **devPtr, size_t size, aclrtMemMallocPolicy policy)
{
    (void)policy; // a hint about page sizes
    return Api("aclrtMalloc", [=] { return aclemu::Malloc(devPtr, size, true); });
}

aclError aclrtMallocAlign32(void **devPtr, size_t size, aclrtMemMallocPolicy policy)
{
    (void)policy;
    return Api("aclrtMallocAlign32", [=] { return aclemu::Malloc(devPtr, size, false); });
}

aclError aclrtMallocCached(void **devPtr, size_t size, aclrtMemMallocPolicy policy)
{
    (void)policy;
    return Api("aclrtMallocCached", [=] { return aclemu::Malloc(devPtr, size, true); });
}

aclError aclrtMallocWithCfg(void **devPtr, size_t size, aclrtMemMallocPolicy policy, aclrtMallocConfig *cfg)
{
    (void)policy;
    return Api("aclrtMallocWithCfg", [=] { return aclemu::MallocWith(devPtr, size, cfg); });
}

aclError aclrtMallocForTaskScheduler(void **devPtr, size_t size, aclrtMemMallocPolicy policy, aclrtMallocConfig *cfg)
{
    (void)policy;
    // The emulated scheduler sees all memory.
    return Api("aclrtMallocForTaskScheduler", [=] { return aclemu::MallocWith(devPtr, size, cfg); });
}

aclError aclrtFree(void *devPtr)
{
    return Api("aclrtFree", [=] { return aclemu::Free(devPtr); });
}

aclError aclrtFreeWithDevSync(void *devPtr)
{
    return Api("aclrtFreeWithDevSync", [=]() -> aclError {
        aclemu::Allocation found;
        if (devPtr != nullptr && aclemu::FindDeviceAllocation(devPtr, &found)) {
            const aclError status = aclemu::SynchronizeDevice(found.device, -1);
            if (status != ACL_SUCCESS) {
                return status;
            }
        }
        return aclemu::Free(devPtr);
    });
}

aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t *free, size_t *total)
{
    return Api("aclrtGetMemInfo", [=]() -> aclError {
        if (free == nullptr) {
            return FailNull("free");
        }
        if (total == nullptr) {
            return FailNull("total");
        }
        if (attr < ACL_DDR_MEM || attr > ACL_MEM_P2P_HUGE1G) {
            return Fail(ACL_ERROR_INVALID_PARAM, "parameter attr is %d; it must be from %d to %d", attr,
                        ACL_DDR_MEM, ACL_MEM_P2P_HUGE1G);
        }
        const auto context = aclemu::RequireContext();
        if (context == nullptr) {
            return ACL_ERROR_RT_CONTEXT_NULL;
        }
        // These chips have HBM only.
        const bool ddr = attr == ACL_DDR_MEM || attr == ACL_DDR_MEM_HUGE || attr == ACL_DDR_MEM_NORMAL ||
                         attr == ACL_DDR_MEM_P2P_HUGE || attr == ACL_DDR_MEM_P2P_NORMAL;
        *total = ddr ? 0 : aclemu::DeviceMemorySize();
        *free = ddr ? 0 : *total - aclemu::UsedBytes(context->device);
        return ACL_SUCCESS;
    });
}

aclError aclrtPointerGetAttributes(const void *ptr, aclrtPtrAttributes *attributes)
{
    return Api("aclrtPointerGetAttributes", [=]() -> aclError {
        if (ptr == nullptr) {
            return FailNull("ptr");
        }
        if (attributes == nullptr) {
            return FailNull("attributes");
        }
        aclrtPtrAttributes found = {};
        aclemu::Allocation device;
        const void *base = nullptr;
        size_t size = 0;
        if (aclemu::FindDeviceAllocation(ptr, &device)) {
            found.location = {static_cast<uint32_t>(device.device), ACL_MEM_LOCATION_TYPE_DEVICE};
        } else {
            const bool host = aclemu::FindHost(ptr, &base, &size);
            found.location.type = host ? ACL_MEM_LOCATION_TYPE_HOST : ACL_MEM_LOCATION_TYPE_UNREGISTERED;
        }
        found.pageSize = 4096;
        *attributes = found;
        return ACL_SUCCESS;
    });
}

aclError aclrtMemGetAddressRange(void *ptr, void **pbase, size_t *psize)
{
    return Api("aclrtMemGetAddressRange", [=]() -> aclError {
        if (ptr == nullptr) {
            return FailNull("ptr");
        }
        aclemu::Allocation found;
        if (!aclemu::FindDeviceAllocation(ptr, &found)) {
            return Fail(ACL_ERROR_RT_PARAM_INVALID, "ptr %p is not live device memory", ptr);
        }
        if (pbase != nullptr) {
            *pbase = const_cast<void *>(found.base);
        }
        if (psize != nullptr) {
            *psize = found.size;
        }
        return ACL_SUCCESS;
    });
}
