// Failures that a test asks for: see aclemu.h and ACLEMU_FAULTS.
#pragma once

#include <cstdint>
#include <string>

#include "acl/acl_base_rt.h"
#include "runtime/export.h"

namespace aclemu {

// Takes the settings of ACLEMU_FAULTS over, once. Throws std::invalid_argument when they make no sense.
void ReadFaults();

// True for the allocation that is to fail.
bool TakeAllocationFault();

// The code that an operator's phase 1 or 2 is to return, 0 for none.
ACLEMU_API int32_t OperatorFault(const std::string &op, int phase);

// The code the next synchronise is to find on its stream, 0 for none.
aclError TakeSynchronizeFault();

void SetAllocationFault(uint64_t nth);
void SetOperatorFault(const std::string &op, int phase, int32_t code);
void SetSynchronizeFault(aclError code);

} // namespace aclemu
