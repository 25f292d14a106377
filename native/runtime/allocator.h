// Device memory: one reserved range of addresses that all devices share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/memory.h"

namespace aclemu {

// `size` bytes on `device`, aligned to 512. `charged` bytes count against `capacity`. nullptr if they do not
// fit. The content is whatever was there before, as on the device; pages nobody writes cost nothing.
void *AllocateOn(int32_t device, size_t size, uint64_t charged, uint64_t capacity);

// False if no allocation starts at `address`.
bool FreeDeviceMemory(void *address);
void FreeAllOn(int32_t device);

uint64_t UsedBytes(int32_t device);

// True for any address in the range, allocated or not: what is there and not allocated was freed or never
// valid.
bool InDeviceRange(const void *address);

} // namespace aclemu
