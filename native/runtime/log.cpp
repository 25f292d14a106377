#include "runtime/log.h"

#include <errno.h>
#include <unistd.h>

#include <cstdio>

#include "runtime/clock.h"
#include "runtime/environment.h"

namespace aclemu {
namespace {

constexpr int kNone = 4;

// The documented default, also for values that are not valid, is ERROR.
int GlobalLevel()
{
    const std::string value = EnvironmentText("ASCEND_GLOBAL_LOG_LEVEL");
    return value.size() == 1 && value[0] >= '0' && value[0] <= '4' ? value[0] - '0'
                                                                   : static_cast<int>(LogLevel::ERROR);
}

bool PrintToStdout()
{
    const std::string current = EnvironmentText("ASCEND_LOG_PRINT_TO_STDOUT");
    return (current.empty() ? EnvironmentText("ASCEND_SLOG_PRINT_TO_STDOUT") : current) == "1";
}

} // namespace

bool LogEnabled(LogLevel level)
{
    static const int least = PrintToStdout() ? GlobalLevel() : kNone;
    return static_cast<int>(level) >= least;
}

void WriteLog(LogLevel level, const char *module, const std::string &message)
{
    static const char *const names[] = {"DEBUG", "INFO", "WARNING", "ERROR"};
    if (!LogEnabled(level)) {
        return;
    }
    std::string line = std::string("[") + names[static_cast<int>(level)] + "] " + module + "(" +
                       std::to_string(getpid()) + "," + program_invocation_short_name + "):" + LocalTime() +
                       " " + message + "\n";
    // One call per line keeps the lines of several threads apart.
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fflush(stdout);
}

} // namespace aclemu
