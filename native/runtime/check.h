// Checks that cost too much to be always on: ACLEMU_CHECK.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/export.h"
#include "runtime/stream.h"

namespace aclemu {

enum Check : unsigned {
    CHECK_MEMORY = 1, // red zones around allocations, poison in freed ones
    CHECK_SYNC = 2, // memory that the host uses while a queued task still does
    CHECK_LEAKS = 4, // what is alive at aclFinalize
};

// The checks that are on. Throws std::invalid_argument when ACLEMU_CHECK names one that does not exist.
ACLEMU_API unsigned Checks();

// Turns on the checks of a list such as "memory,sync" and the others off; throws likewise.
void SetChecks(const std::string &list);

// 0 if the host may read (or, if `written`, write or free) these bytes now; otherwise 107000, reported with the
// task that still uses them. Does nothing unless CHECK_SYNC is on.
aclError CheckUnused(const char *parameter, const void *address, size_t size, bool written);

// As above with `written`, but without CHECK_SYNC waits for the tasks that use the bytes; 107000 if those come after
// the one that is calling.
aclError WaitUnused(const char *parameter, const void *address, size_t size);

// Whether tasks must say what they use: a check is on, or the program may take back memory that they reach.
ACLEMU_API bool UsesMatter();

// Looks for damage in red zones and freed memory, repairs it and says what it was; "" if there is none.
// `uses` puts names to addresses. Does nothing unless CHECK_MEMORY is on.
std::string FindDamage(const Uses *uses);

} // namespace aclemu
