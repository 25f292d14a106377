// Host log lines, as ASCEND_GLOBAL_LOG_LEVEL and its relatives ask for them.
//
// Lines go to standard output when ASCEND_LOG_PRINT_TO_STDOUT (or the older ASCEND_SLOG_PRINT_TO_STDOUT) is 1, otherwise to
// files debug/plog/plog-<pid>_<time>.log below ASCEND_PROCESS_LOG_PATH, ASCEND_WORK_PATH/log or $HOME/ascend/log. The last is
// used only when a log level is set: a program that asks for no log leaves nothing in the home directory.
#pragma once

#include <string>

#include "runtime/export.h"

namespace aclemu {

enum class LogLevel { DEBUG, INFO, WARNING, ERROR };

// True if a line of this level and module is wanted; build the message only then.
ACLEMU_API bool LogEnabled(LogLevel level, const char *module);

// Writes "[LEVEL] MODULE(pid,program):time message".
ACLEMU_API void WriteLog(LogLevel level, const char *module, const std::string &message);

} // namespace aclemu
