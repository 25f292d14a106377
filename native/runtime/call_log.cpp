#include "runtime/call_log.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <stdexcept>

#include "runtime/api.h"
#include "runtime/clock.h"
#include "runtime/environment.h"

namespace aclemu {
namespace {

struct CallLog {
    std::mutex mutex;
    std::FILE *file = nullptr;
    std::atomic<bool> open{false};

    const bool valid = Start(EnvironmentText("ACLEMU_CALLS"));

    bool Start(const std::string &path)
    {
        const std::lock_guard<std::mutex> lock(mutex);
        if (file != nullptr) {
            std::fclose(file);
            file = nullptr;
        }
        if (!path.empty()) {
            file = std::fopen(path.c_str(), "ae");
        }
        open = file != nullptr;
        return open || path.empty();
    }
};

CallLog &Log()
{
    static auto *log = new CallLog();
    return *log;
}

} // namespace

bool CallsLogged()
{
    return Log().open.load(std::memory_order_relaxed);
}

void LogCall(const char *name, int64_t code)
{
    if (IsForkedChild()) {
        return;
    }
    const std::string line = LocalTime() + " " + std::to_string(syscall(SYS_gettid)) + " " + name + " " +
                             std::to_string(code) + "\n";
    CallLog &log = Log();
    const std::lock_guard<std::mutex> lock(log.mutex);
    if (log.file != nullptr) {
        std::fwrite(line.data(), 1, line.size(), log.file);
        std::fflush(log.file);
    }
}

void CheckCallLog()
{
    if (!Log().valid) {
        throw std::invalid_argument("ACLEMU_CALLS is \"" + EnvironmentText("ACLEMU_CALLS") +
                                    "\"; it must be a file that can be written");
    }
}

bool LogCallsTo(const std::string &path)
{
    return Log().Start(path);
}

} // namespace aclemu
