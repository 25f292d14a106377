#include "runtime/counters.h"

#include <atomic>
#include <cstring>

#include "aclemu.h"

namespace aclemu {
namespace {

constexpr const char *kNames[] = {"tensor", "scalar",  "array", "list",          "executor",
                                  "stream", "context", "event", "device_memory", "host_memory"};
constexpr size_t kKinds = sizeof(kNames) / sizeof(kNames[0]);

std::atomic<int64_t> g_alive[kKinds];

} // namespace

void CountObject(Kind kind, int64_t change)
{
    g_alive[static_cast<size_t>(kind)].fetch_add(change, std::memory_order_relaxed);
}

} // namespace aclemu

int64_t aclemuLiveObjects(const char *kind)
{
    for (size_t i = 0; kind != nullptr && i < aclemu::kKinds; ++i) {
        if (std::strcmp(kind, aclemu::kNames[i]) == 0) {
            return aclemu::g_alive[i].load(std::memory_order_relaxed);
        }
    }
    return -1;
}
