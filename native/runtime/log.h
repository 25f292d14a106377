// Host log lines, as ASCEND_GLOBAL_LOG_LEVEL and ASCEND_SLOG_PRINT_TO_STDOUT ask for them.
#pragma once

#include <string>

#include "runtime/export.h"

namespace aclemu {

enum class LogLevel { DEBUG, INFO, WARNING, ERROR };

// True if a line of this level is wanted; build the message only then.
ACLEMU_API bool LogEnabled(LogLevel level);

// Writes "[LEVEL] MODULE(pid,program):time message" to standard output. The emulator writes no log files.
ACLEMU_API void WriteLog(LogLevel level, const char *module, const std::string &message);

} // namespace aclemu
