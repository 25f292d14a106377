// What the emulator knows of a device address.
#pragma once

#include <cstddef>
#include <string>

#include "runtime/export.h"

namespace aclemu {

struct Allocation {
    const void *base = nullptr;
    size_t size = 0; // bytes the caller asked for
    int device = 0;
};

// Finds the live device allocation that holds `address`. Inner addresses count. False if there is none.
ACLEMU_API bool FindAllocation(const void *address, Allocation *found);

// "is memory of device 0, ..." if `address` is of a device that the current one has no access to (see
// aclrtDeviceEnablePeerAccess); else "".
ACLEMU_API std::string OutOfReach(const void *address);

} // namespace aclemu
