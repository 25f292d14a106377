#include "acl/acl_rt.h"
#include "runtime/api.h"
#include "runtime/check.h"
#include "runtime/context.h"
#include "runtime/device.h"
#include "runtime/host_memory.h"
#include "runtime/host_pages.h"
#include "runtime/place.h"

using aclemu::Api;
using aclemu::Fail;
using aclemu::FailNull;

namespace aclemu {
namespace {

aclError MallocHost(const char *parameter, void **out, size_t size)
{
    if (out == nullptr) {
        return FailNull(parameter);
    }
    if (size == 0) {
        return Fail(ACL_ERROR_INVALID_PARAM, "parameter size is 0; it must be greater than 0");
    }
    if (RequireContext() == nullptr) {
        return ACL_ERROR_RT_CONTEXT_NULL;
    }
    void *address = AllocateHost(size);
    if (address == nullptr) {
        return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "the host has no room for %zu bytes", size);
    }
    *out = address;
    return ACL_SUCCESS;
}

aclError FreeForCaller(void *hostPtr)
{
    if (hostPtr == nullptr) {
        return FailNull("hostPtr");
    }
    const void *base = nullptr;
    size_t size = 0;
    if (FindHost(hostPtr, &base, &size) && base == hostPtr) {
        const aclError status = CheckUnused("hostPtr", hostPtr, size, true);
        if (status != ACL_SUCCESS) {
            return status;
        }
    }
    if (!FreeHost(hostPtr)) {
        return Fail(ACL_ERROR_RT_PARAM_INVALID,
                    "hostPtr %p was not allocated by aclrtMallocHost, or is freed already", hostPtr);
    }
    return ACL_SUCCESS;
}

aclError Register(void *ptr, uint64_t size, bool mapped)
{
    if (ptr == nullptr) {
        return FailNull("ptr");
    }
    if (size == 0 || size > UINTPTR_MAX - reinterpret_cast<uintptr_t>(ptr)) {
        return Fail(ACL_ERROR_INVALID_PARAM,
                    "parameter size is %llu; it must be greater than 0 and end within the address space",
                    static_cast<unsigned long long>(size));
    }
    const auto context = RequireContext();
    if (context == nullptr) {
        return ACL_ERROR_RT_CONTEXT_NULL;
    }
    Place place = Place::HOST;
    const aclError status = Locate("ptr", ptr, 1, &place);
    if (status != ACL_SUCCESS) {
        return status;
    }
    if (!IsMapped(ptr, size) || !IsReadable(ptr, 1)) {
        return Fail(ACL_ERROR_RT_PARAM_INVALID, "%llu bytes at ptr %p are not memory of this process",
                    static_cast<unsigned long long>(size), ptr);
    }
    if (place == Place::DEVICE || !RegisterHost(ptr, size, mapped, context->device)) {
        return Fail(ACL_ERROR_RT_PARAM_INVALID,
                    "%llu bytes at ptr %p overlap memory that is from the runtime or registered already",
                    static_cast<unsigned long long>(size), ptr);
    }
    return ACL_SUCCESS;
}

} // namespace
} // namespace aclemu

aclError aclrtMallocHost(void **hostPtr, size_t size)
{
    return Api("aclrtMallocHost", [=] { return aclemu::MallocHost("hostPtr", hostPtr, size); });
}

aclError aclrtMallocHostWithCfg(void **ptr, uint64_t size, aclrtMallocConfig *cfg)
{
    return Api("aclrtMallocHostWithCfg", [=]() -> aclError {
        if (cfg != nullptr && cfg->numAttrs != 0 && cfg->attrs == nullptr) {
            return Fail(ACL_ERROR_INVALID_PARAM, "parameter cfg->attrs is NULL although cfg->numAttrs is %zu",
                        cfg->numAttrs);
        }
        return aclemu::MallocHost("ptr", ptr, size);
    });
}

aclError aclrtFreeHost(void *hostPtr)
{
    return Api("aclrtFreeHost", [=] { return aclemu::FreeForCaller(hostPtr); });
}

aclError aclrtFreeHostWithDevSync(void *hostPtr)
{
    return Api("aclrtFreeHostWithDevSync", [=]() -> aclError {
        const auto context = aclemu::CurrentContext();
        if (context != nullptr) {
            const aclError status = aclemu::SynchronizeDevice(context->device, -1);
            if (status != ACL_SUCCESS) {
                return status;
            }
        }
        return aclemu::FreeForCaller(hostPtr);
    });
}

aclError aclrtHostRegister(void *ptr, uint64_t size, aclrtHostRegisterType type, void **devPtr)
{
    return Api("aclrtHostRegister", [=]() -> aclError {
        if (devPtr == nullptr) {
            return FailNull("devPtr");
        }
        if (type == ACL_HOST_REGISTER_IOMEMORY) {
            return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                        "parameter type is ACL_HOST_REGISTER_IOMEMORY; the emulator has no peripherals");
        }
        if (type != ACL_HOST_REGISTER_MAPPED && type != ACL_HOST_REGISTER_READONLY) {
            return Fail(ACL_ERROR_INVALID_PARAM, "parameter type is %d; it must be %d, %d or %d", type,
                        ACL_HOST_REGISTER_MAPPED, ACL_HOST_REGISTER_IOMEMORY, ACL_HOST_REGISTER_READONLY);
        }
        const aclError status = aclemu::Register(ptr, size, true);
        if (status == ACL_SUCCESS) {
            *devPtr = ptr; // the emulated device reaches all memory of the host
        }
        return status;
    });
}

aclError aclrtHostRegisterV2(void *ptr, uint64_t size, uint32_t flag)
{
    return Api("aclrtHostRegisterV2", [=]() -> aclError {
        const uint32_t known = ACL_HOST_REG_MAPPED | ACL_HOST_REG_READONLY | ACL_HOST_REG_PINNED;
        if ((flag & ACL_HOST_REG_IOMEMORY) != 0) {
            return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                        "parameter flag has ACL_HOST_REG_IOMEMORY; the emulator has no peripherals");
        }
        if (flag == 0 || (flag & ~known) != 0) {
            return Fail(ACL_ERROR_INVALID_PARAM, "parameter flag is 0x%x; known flags are 0x%x", flag, known);
        }
        return aclemu::Register(ptr, size, (flag & (ACL_HOST_REG_MAPPED | ACL_HOST_REG_READONLY)) != 0);
    });
}

aclError aclrtHostUnregister(void *ptr)
{
    return Api("aclrtHostUnregister", [=]() -> aclError {
        if (ptr == nullptr) {
            return FailNull("ptr");
        }
        const void *base = nullptr;
        size_t size = 0;
        if (aclemu::FindHost(ptr, &base, &size) && base == ptr) {
            const aclError status = aclemu::WaitUnused("ptr", ptr, size);
            if (status != ACL_SUCCESS) {
                return status;
            }
        }
        if (!aclemu::UnregisterHost(ptr)) {
            return Fail(ACL_ERROR_RT_PARAM_INVALID, "ptr %p is not the start of registered memory", ptr);
        }
        return ACL_SUCCESS;
    });
}

aclError aclrtHostGetDevicePointer(void *pHost, void **pDevice, uint32_t flag)
{
    return Api("aclrtHostGetDevicePointer", [=]() -> aclError {
        if (pHost == nullptr) {
            return FailNull("pHost");
        }
        if (pDevice == nullptr) {
            return FailNull("pDevice");
        }
        if (flag != 0) {
            return Fail(ACL_ERROR_INVALID_PARAM, "parameter flag is %u; it must be 0", flag);
        }
        aclemu::Allocation found;
        if (!aclemu::FindMappedHost(pHost, &found)) {
            return Fail(ACL_ERROR_RT_PARAM_INVALID, "pHost %p is not in memory registered as mapped", pHost);
        }
        *pDevice = pHost;
        return ACL_SUCCESS;
    });
}

aclError aclrtHostMemMapCapabilities(uint32_t deviceId, aclrtHacType hacType, aclrtHostMemMapCapability *capabilities)
{
    return Api("aclrtHostMemMapCapabilities", [=]() -> aclError {
        if (capabilities == nullptr) {
            return FailNull("capabilities");
        }
        if (hacType < ACL_RT_HAC_TYPE_STARS || hacType > ACL_RT_HAC_TYPE_CCU) {
            return Fail(ACL_ERROR_INVALID_PARAM, "parameter hacType is %d; it must be from %d to %d", hacType,
                        ACL_RT_HAC_TYPE_STARS, ACL_RT_HAC_TYPE_CCU);
        }
        const aclError status = aclemu::CheckDevice(deviceId);
        if (status == ACL_SUCCESS) {
            // Only what the emulator has: a task scheduler and cores.
            *capabilities = hacType == ACL_RT_HAC_TYPE_STARS || hacType == ACL_RT_HAC_TYPE_AIC ||
                                    hacType == ACL_RT_HAC_TYPE_AIV
                                ? ACL_RT_HOST_MEM_MAP_SUPPORTED
                                : ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED;
        }
        return status;
    });
}
