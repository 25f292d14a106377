// Device memory: one reserved range of addresses that all devices share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/memory.h"

namespace aclemu {

// `size` bytes on `device`, aligned to 512. `charged` bytes count against `capacity`. nullptr if they do not
// fit. The content is whatever was there before, as on the device; pages nobody writes cost nothing.
void *AllocateOn(int32_t device, size_t size, uint64_t charged, uint64_t capacity);

// As FindAllocation, but for memory of aclrtMalloc alone.
bool FindDeviceAllocation(const void *address, Allocation *found);

// False if no allocation starts at `address`.
bool FreeDeviceMemory(void *address);
void FreeAllOn(int32_t device);

uint64_t UsedBytes(int32_t device);

// True for any address in the range, allocated or not: what is there and not allocated was freed or never
// valid.
bool InDeviceRange(const void *address);

// The live allocations, for the leak report.
std::vector<Allocation> LiveAllocations();

// Bytes written outside allocations, found by CHECK_MEMORY.
struct Damage {
    enum Place { BEFORE, BEHIND, FREED };
    Place place;
    const void *base; // of the allocation that is next to them, or was there
    size_t size;
    int device;
    size_t bytes; // how many are damaged
    int64_t offset; // of the first, from `base`
};

// Finds the first damage around live allocations and in freed ones and repairs it. False if there is none.
bool InspectDeviceMemory(Damage *damage);

} // namespace aclemu
