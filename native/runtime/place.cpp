#include "runtime/place.h"

#include "runtime/allocator.h"
#include "runtime/api.h"
#include "runtime/host_memory.h"

namespace aclemu {

const char *NameOf(Place place)
{
    return place == Place::DEVICE ? "device" : "host";
}

aclError Locate(const char *parameter, const void *address, size_t bytes, Place *place)
{
    Allocation device;
    const void *base = nullptr;
    size_t size = 0;
    if (FindDeviceAllocation(address, &device)) {
        *place = Place::DEVICE;
        base = device.base;
        size = device.size;
    } else if (InDeviceRange(address)) {
        return Fail(ACL_ERROR_RT_PARAM_INVALID,
                    "%s %p is device memory that is not allocated; it may have been freed", parameter,
                    address);
    } else if (FindHost(address, &base, &size)) {
        *place = Place::PINNED_HOST;
    } else {
        *place = Place::HOST;
        return ACL_SUCCESS;
    }
    const size_t left =
        size - static_cast<size_t>(static_cast<const char *>(address) - static_cast<const char *>(base));
    if (bytes > left) {
        return Fail(ACL_ERROR_RT_PARAM_INVALID,
                    "%zu bytes at %s %p go beyond its allocation of %zu bytes, of which %zu follow", bytes,
                    parameter, address, size, left);
    }
    return ACL_SUCCESS;
}

aclError CheckCount(const char *limitName, size_t limit, size_t count)
{
    if (count > limit) {
        return Fail(ACL_ERROR_RT_PARAM_INVALID, "parameter count is %zu; it must not exceed %s, which is %zu",
                    count, limitName, limit);
    }
    return ACL_SUCCESS;
}

} // namespace aclemu
