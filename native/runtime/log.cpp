#include "runtime/log.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

#include "runtime/api.h"
#include "runtime/clock.h"
#include "runtime/environment.h"
#include "runtime/log_file.h"

namespace aclemu {
namespace {

constexpr int kNone = 4;
constexpr uint64_t kFileBytes = uint64_t{20} << 20;

// -1 for what is not a level.
int ParseLevel(const std::string &text)
{
    return text.size() == 1 && text[0] >= '0' && text[0] <= '4' ? text[0] - '0' : -1;
}

// "OP=0:RUNTIME=1"; what is not of this form is passed over.
std::map<std::string, int> ModuleLevels()
{
    std::map<std::string, int> levels;
    const std::string list = EnvironmentText("ASCEND_MODULE_LOG_LEVEL");
    for (size_t start = 0; start < list.size();) {
        const size_t end = std::min(list.find(':', start), list.size());
        const size_t equals = list.find('=', start);
        const int level = equals < end ? ParseLevel(list.substr(equals + 1, end - equals - 1)) : -1;
        if (level >= 0) {
            levels[list.substr(start, equals - start)] = level;
        }
        start = end + 1;
    }
    return levels;
}

std::string Folder(bool anyLevel)
{
    const std::string own = EnvironmentText("ASCEND_PROCESS_LOG_PATH");
    const std::string work = EnvironmentText("ASCEND_WORK_PATH");
    const std::string home = EnvironmentText("HOME");
    if (!own.empty()) {
        return own;
    }
    if (!work.empty()) {
        return work + "/log";
    }
    return home.empty() || !anyLevel ? "" : home + "/ascend/log";
}

int64_t FilesToKeep()
{
    try {
        return EnvironmentInteger("ASCEND_HOST_LOG_FILE_NUM", 10, 1, 1000);
    } catch (const std::exception &) {
        return 10; // as documented for values that are not valid
    }
}

struct Log {
    int global = static_cast<int>(LogLevel::ERROR); // the documented default, also for values that are not valid
    std::map<std::string, int> modules;
    bool toStdout = false;
    std::mutex mutex;
    std::unique_ptr<LogFile> file;

    Log()
    {
        const std::string global_ = EnvironmentText("ASCEND_GLOBAL_LOG_LEVEL");
        if (ParseLevel(global_) >= 0) {
            global = ParseLevel(global_);
        }
        modules = ModuleLevels();
        const std::string current = EnvironmentText("ASCEND_LOG_PRINT_TO_STDOUT");
        toStdout = (current.empty() ? EnvironmentText("ASCEND_SLOG_PRINT_TO_STDOUT") : current) == "1";
        const std::string folder = Folder(!global_.empty() || !modules.empty());
        if (toStdout) {
            return;
        }
        if (folder.empty()) {
            global = kNone;
            modules.clear();
        } else {
            file = std::make_unique<LogFile>(folder + "/debug/plog", static_cast<size_t>(FilesToKeep()), kFileBytes);
        }
    }
};

Log &TheLog()
{
    static auto *log = new Log();
    return *log;
}

} // namespace

bool LogEnabled(LogLevel level, const char *module)
{
    const Log &log = TheLog();
    if (!log.modules.empty()) {
        const auto own = log.modules.find(module);
        if (own != log.modules.end()) {
            return static_cast<int>(level) >= own->second;
        }
    }
    return static_cast<int>(level) >= log.global;
}

void WriteLog(LogLevel level, const char *module, const std::string &message)
{
    static const char *const names[] = {"DEBUG", "INFO", "WARNING", "ERROR"};
    if (!LogEnabled(level, module)) {
        return;
    }
    const std::string line = std::string("[") + names[static_cast<int>(level)] + "] " + module + "(" +
                             std::to_string(getpid()) + "," + program_invocation_short_name +
                             "):" + LocalTime() + " " + message + "\n";
    Log &log = TheLog();
    if (log.toStdout) {
        // One call per line keeps the lines of several threads apart.
        std::fwrite(line.data(), 1, line.size(), stdout);
        std::fflush(stdout);
        return;
    }
    if (IsForkedChild()) {
        return; // the fork may have inherited the lock from a thread it does not have
    }
    const std::lock_guard<std::mutex> lock(log.mutex);
    log.file->Write(line);
}

} // namespace aclemu
