// Host memory that the program got from the runtime.
#pragma once

#include <cstddef>

namespace aclemu {

// nullptr if the host has no more.
void *AllocateHost(size_t size);
bool FreeHost(void *address); // false if no allocation starts there

// The live allocation that holds `address`; inner addresses count.
bool FindHost(const void *address, const void **base, size_t *size);

} // namespace aclemu
