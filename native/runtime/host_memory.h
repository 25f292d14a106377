// Host memory that the program got from the runtime, or made known to it.
#pragma once

#include <cstddef>

#include "runtime/memory.h"

namespace aclemu {

// nullptr if the host has no more.
void *AllocateHost(size_t size);
bool FreeHost(void *address); // false if no allocation starts there

// The live allocation that holds `address`; inner addresses count.
bool FindHost(const void *address, const void **base, size_t *size);

// Makes memory of the program known, as pinned and, if `mapped`, as memory that operators reach too. False if
// some of it is known already.
bool RegisterHost(void *address, size_t size, bool mapped, int device);
bool UnregisterHost(void *address); // false if no registration starts there

bool AnyRegistered();

// True if operators may use `address`: it is in memory registered as mapped.
bool FindMappedHost(const void *address, Allocation *found);

} // namespace aclemu
