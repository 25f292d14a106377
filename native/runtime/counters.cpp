#include "runtime/counters.h"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/allocator.h"

namespace aclemu {
namespace {

constexpr const char *kNames[] = {"tensor",  "scalar", "array",  "list",          "executor",   "stream",
                                  "context", "event",  "notify", "device_memory", "host_memory"};
constexpr size_t kKinds = sizeof(kNames) / sizeof(kNames[0]);

std::atomic<int64_t> g_alive[kKinds];

} // namespace

void CountObject(Kind kind, int64_t change)
{
    g_alive[static_cast<size_t>(kind)].fetch_add(change, std::memory_order_relaxed);
}

int64_t LiveObjects(const char *kind)
{
    for (size_t i = 0; i < kKinds; ++i) {
        if (std::strcmp(kind, kNames[i]) == 0) {
            return g_alive[i].load(std::memory_order_relaxed);
        }
    }
    return -1;
}

namespace {

struct Describers {
    std::mutex mutex;
    std::function<std::string()> of[kKinds];
};

Describers &KnownDescribers()
{
    static auto *describers = new Describers();
    return *describers;
}

std::string DescribeAllocations()
{
    constexpr size_t most = 20; // listed one by one
    std::string text;
    const std::vector<Allocation> allocations = LiveAllocations();
    for (size_t i = 0; i < allocations.size() && i < most; ++i) {
        char line[128];
        std::snprintf(line, sizeof(line), "  %zu bytes of device %d at %p\n", allocations[i].size,
                      allocations[i].device, allocations[i].base);
        text += line;
    }
    return allocations.size() <= most ? text
                                      : text + "  and " + std::to_string(allocations.size() - most) + " more\n";
}

} // namespace

void DescribeLive(Kind kind, std::function<std::string()> describe)
{
    Describers &known = KnownDescribers();
    const std::lock_guard<std::mutex> lock(known.mutex);
    known.of[static_cast<size_t>(kind)] = std::move(describe);
}

std::string LeakReport()
{
    std::string text;
    for (size_t i = 0; i < kKinds; ++i) {
        const int64_t alive = g_alive[i].load(std::memory_order_relaxed);
        if (alive == 0) {
            continue;
        }
        text += std::string(kNames[i]) + ": " + std::to_string(alive) + " alive\n";
        std::function<std::string()> describe;
        {
            Describers &known = KnownDescribers();
            const std::lock_guard<std::mutex> lock(known.mutex);
            describe = known.of[i];
        }
        if (static_cast<Kind>(i) == Kind::DEVICE_MEMORY) {
            text += DescribeAllocations();
        } else if (describe) {
            text += describe();
        }
    }
    return text;
}

} // namespace aclemu
