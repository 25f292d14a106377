// A line for every C function that is called: ACLEMU_CALLS.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/export.h"

namespace aclemu {

// True if calls are logged.
ACLEMU_API bool CallsLogged();

// Writes "time thread name code".
ACLEMU_API void LogCall(const char *name, int64_t code);

// Throws std::invalid_argument if ACLEMU_CALLS names a file that cannot be written.
void CheckCallLog();

// Ends the log and starts one in `path` unless that is "". False if the file cannot be written.
bool LogCallsTo(const std::string &path);

} // namespace aclemu
