// How many objects of each kind are alive.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "runtime/export.h"

namespace aclemu {

enum class Kind { TENSOR, SCALAR, ARRAY, LIST, EXECUTOR, STREAM, CONTEXT, EVENT, NOTIFY, DEVICE_MEMORY, HOST_MEMORY };

ACLEMU_API void CountObject(Kind kind, int64_t change);

int64_t LiveObjects(const char *kind); // -1 for a name that is not of a kind

// Lines, each of two spaces and more, that say which objects of a kind are alive; part of the leak report.
ACLEMU_API void DescribeLive(Kind kind, std::function<std::string()> describe);

// A line for each kind of which some are alive, with lines that say which where that is known.
std::string LeakReport();

} // namespace aclemu
