#include "runtime/host_memory.h"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>

#include "runtime/counters.h"

namespace aclemu {
namespace {

constexpr size_t kAlignment = 512;

struct HostBlock {
    size_t size;
    bool owned; // from AllocateHost
    bool mapped;
    int device;
};

struct HostBlocks {
    std::mutex mutex;
    std::map<uintptr_t, HostBlock> blocks;
    std::atomic<size_t> registered{0};

    // The block that holds `address`, or end. The caller has the mutex.
    std::map<uintptr_t, HostBlock>::iterator Find(uintptr_t address)
    {
        auto entry = blocks.upper_bound(address);
        if (entry == blocks.begin()) {
            return blocks.end();
        }
        --entry;
        return address - entry->first < entry->second.size ? entry : blocks.end();
    }

    bool Remove(uintptr_t address, bool owned)
    {
        const std::lock_guard<std::mutex> lock(mutex);
        const auto entry = blocks.find(address);
        if (entry == blocks.end() || entry->second.owned != owned) {
            return false;
        }
        blocks.erase(entry);
        registered -= owned ? 0 : 1;
        return true;
    }
};

HostBlocks &Blocks()
{
    static auto *blocks = new HostBlocks();
    return *blocks;
}

} // namespace

void *AllocateHost(size_t size)
{
    void *address = nullptr;
    if (posix_memalign(&address, kAlignment, size) != 0) {
        return nullptr;
    }
    HostBlocks &known = Blocks();
    const std::lock_guard<std::mutex> lock(known.mutex);
    known.blocks.emplace(reinterpret_cast<uintptr_t>(address), HostBlock{size, true, false, 0});
    CountObject(Kind::HOST_MEMORY, 1);
    return address;
}

bool FreeHost(void *address)
{
    if (!Blocks().Remove(reinterpret_cast<uintptr_t>(address), true)) {
        return false;
    }
    CountObject(Kind::HOST_MEMORY, -1);
    std::free(address);
    return true;
}

bool FindHost(const void *address, const void **base, size_t *size)
{
    HostBlocks &known = Blocks();
    const std::lock_guard<std::mutex> lock(known.mutex);
    const auto entry = known.Find(reinterpret_cast<uintptr_t>(address));
    if (entry == known.blocks.end()) {
        return false;
    }
    *base = reinterpret_cast<const void *>(entry->first);
    *size = entry->second.size;
    return true;
}

bool RegisterHost(void *address, size_t size, bool mapped, int device)
{
    HostBlocks &known = Blocks();
    const auto first = reinterpret_cast<uintptr_t>(address);
    const std::lock_guard<std::mutex> lock(known.mutex);
    const auto next = known.blocks.lower_bound(first);
    if (known.Find(first) != known.blocks.end() || (next != known.blocks.end() && next->first - first < size)) {
        return false;
    }
    known.blocks.emplace(first, HostBlock{size, false, mapped, device});
    ++known.registered;
    return true;
}

bool UnregisterHost(void *address)
{
    return Blocks().Remove(reinterpret_cast<uintptr_t>(address), false);
}

bool AnyRegistered()
{
    return Blocks().registered.load(std::memory_order_relaxed) != 0;
}

bool FindMappedHost(const void *address, Allocation *found)
{
    HostBlocks &known = Blocks();
    const std::lock_guard<std::mutex> lock(known.mutex);
    const auto entry = known.Find(reinterpret_cast<uintptr_t>(address));
    if (entry == known.blocks.end() || !entry->second.mapped) {
        return false;
    }
    *found = {reinterpret_cast<const void *>(entry->first), entry->second.size, entry->second.device};
    return true;
}

} // namespace aclemu
