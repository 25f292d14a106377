#include "runtime/host_memory.h"

#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>

#include "runtime/counters.h"

namespace aclemu {
namespace {

constexpr size_t kAlignment = 512;

struct HostBlocks {
    std::mutex mutex;
    std::map<uintptr_t, size_t> sizes;
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
    HostBlocks &blocks = Blocks();
    const std::lock_guard<std::mutex> lock(blocks.mutex);
    blocks.sizes.emplace(reinterpret_cast<uintptr_t>(address), size);
    CountObject(Kind::HOST_MEMORY, 1);
    return address;
}

bool FreeHost(void *address)
{
    HostBlocks &blocks = Blocks();
    {
        const std::lock_guard<std::mutex> lock(blocks.mutex);
        if (blocks.sizes.erase(reinterpret_cast<uintptr_t>(address)) == 0) {
            return false;
        }
    }
    CountObject(Kind::HOST_MEMORY, -1);
    std::free(address);
    return true;
}

bool FindHost(const void *address, const void **base, size_t *size)
{
    HostBlocks &blocks = Blocks();
    const std::lock_guard<std::mutex> lock(blocks.mutex);
    const uintptr_t wanted = reinterpret_cast<uintptr_t>(address);
    auto entry = blocks.sizes.upper_bound(wanted);
    if (entry == blocks.sizes.begin()) {
        return false;
    }
    --entry;
    if (wanted - entry->first >= entry->second) {
        return false;
    }
    *base = reinterpret_cast<const void *>(entry->first);
    *size = entry->second;
    return true;
}

} // namespace aclemu
