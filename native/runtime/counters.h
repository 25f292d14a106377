// How many objects of each kind are alive.
#pragma once

#include <cstdint>

#include "runtime/export.h"

namespace aclemu {

enum class Kind { TENSOR, SCALAR, ARRAY, LIST, EXECUTOR, STREAM, CONTEXT, EVENT, DEVICE_MEMORY, HOST_MEMORY };

ACLEMU_API void CountObject(Kind kind, int64_t change);

} // namespace aclemu
