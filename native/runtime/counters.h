// How many objects of each kind are alive.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/export.h"

namespace aclemu {

enum class Kind { TENSOR, SCALAR, ARRAY, LIST, EXECUTOR, STREAM, CONTEXT, EVENT, NOTIFY, DEVICE_MEMORY, HOST_MEMORY };

ACLEMU_API void CountObject(Kind kind, int64_t change);

int64_t LiveObjects(const char *kind); // -1 for a name that is not of a kind

// A line for each kind of which some are alive, and for each allocation of device memory.
std::string LeakReport();

} // namespace aclemu
