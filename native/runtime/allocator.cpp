#include "runtime/allocator.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <iterator>
#include <list>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "runtime/api.h"
#include "runtime/check.h"
#include "runtime/counters.h"
#include "runtime/device.h"
#include "runtime/guard.h"
#include "runtime/host_memory.h"

namespace aclemu {
namespace {

constexpr size_t kAlignment = 512;
constexpr size_t kCacheLimit = size_t{256} << 20; // bytes of freed blocks whose pages are kept
constexpr size_t kQuarantineLimit = size_t{16} << 20; // bytes of freed blocks that are watched
constexpr size_t kMaxGuard = 4096; // bytes of the guard behind an allocation

// Sizes are rounded up to eight steps per power of two, so that a freed block fits the next request of about
// its size. The unused end of a block is never touched and costs nothing.
size_t BlockSize(size_t size)
{
    size_t step = kAlignment;
    while (size > 8 * step) {
        step *= 2;
    }
    return (size + step - 1) / step * step;
}

class Allocator {
public:
    void *Allocate(int32_t device, size_t size, uint64_t charged, uint64_t capacity)
    {
        const std::unique_lock<std::shared_mutex> lock(mutex_);
        uint64_t &used = used_[device];
        if (size > SIZE_MAX / 2 || charged > capacity || used > capacity - charged) {
            return nullptr;
        }
        const size_t guard = (Checks() & CHECK_MEMORY) != 0 ? kGuardBytes : 0;
        const size_t block = BlockSize(size + 2 * guard);
        uintptr_t address = TakeBlock(block);
        if (address == 0) {
            return nullptr;
        }
        address += guard;
        const Live made = {size, block, charged, device, guard};
        if (guard != 0) {
            std::memset(Bytes(address - guard), kGuardPattern, guard);
            std::memset(Bytes(address + size), kGuardPattern, made.Behind());
        }
        live_.emplace(address, made);
        used += charged;
        CountObject(Kind::DEVICE_MEMORY, 1);
        return reinterpret_cast<void *>(address);
    }

    bool Free(uintptr_t address)
    {
        const std::unique_lock<std::shared_mutex> lock(mutex_);
        const auto found = live_.find(address);
        if (found == live_.end()) {
            return false;
        }
        Release(found);
        return true;
    }

    void FreeAll(int32_t device)
    {
        const std::unique_lock<std::shared_mutex> lock(mutex_);
        for (auto entry = live_.begin(); entry != live_.end();) {
            const auto next = std::next(entry);
            if (entry->second.device == device) {
                Release(entry);
            }
            entry = next;
        }
    }

    bool Find(uintptr_t address, Allocation *found)
    {
        const std::shared_lock<std::shared_mutex> lock(mutex_);
        auto entry = live_.upper_bound(address);
        if (entry == live_.begin()) {
            return false;
        }
        --entry;
        if (address - entry->first >= entry->second.size) {
            return false;
        }
        *found = {reinterpret_cast<const void *>(entry->first), entry->second.size, entry->second.device};
        return true;
    }

    uint64_t Used(int32_t device)
    {
        const std::shared_lock<std::shared_mutex> lock(mutex_);
        const auto found = used_.find(device);
        return found != used_.end() ? found->second : 0;
    }

    bool Contains(uintptr_t address)
    {
        const std::shared_lock<std::shared_mutex> lock(mutex_);
        return address - begin_ < length_;
    }

    std::vector<Allocation> All()
    {
        const std::shared_lock<std::shared_mutex> lock(mutex_);
        std::vector<Allocation> all;
        for (const auto &entry : live_) {
            all.push_back({Bytes(entry.first), entry.second.size, entry.second.device});
        }
        return all;
    }

    bool Inspect(Damage *damage)
    {
        const std::unique_lock<std::shared_mutex> lock(mutex_);
        for (const auto &entry : live_) {
            if (InspectGuards(entry.first, entry.second, damage)) {
                return true;
            }
        }
        for (const Freed &freed : quarantine_) {
            if (InspectPoison(freed, damage)) {
                return true;
            }
        }
        return false;
    }

private:
    struct Live {
        size_t size;
        size_t block;
        uint64_t charged;
        int32_t device;
        size_t guard; // bytes in front, 0 for none

        size_t Behind() const { return guard == 0 ? 0 : std::min(block - guard - size, kMaxGuard); }
    };

    struct Freed {
        uintptr_t address;
        Live was;
    };

    static unsigned char *Bytes(uintptr_t address) { return reinterpret_cast<unsigned char *>(address); }

    static bool Report(Damage::Place place, uintptr_t address, const Live &of, Scar scar, int64_t offset,
                       Damage *damage)
    {
        if (scar.count == 0) {
            return false;
        }
        *damage = {place,     Bytes(address), of.size, of.device,
                   scar.count, offset + static_cast<int64_t>(scar.first)};
        return true;
    }

    static bool InspectGuards(uintptr_t address, const Live &live, Damage *damage)
    {
        const auto size = static_cast<int64_t>(live.size);
        const auto guard = static_cast<int64_t>(live.guard);
        return Report(Damage::BEHIND, address, live,
                      Repair(Bytes(address + live.size), live.Behind(), kGuardPattern), size, damage) ||
               Report(Damage::BEFORE, address, live,
                      Repair(Bytes(address - live.guard), live.guard, kGuardPattern), -guard, damage);
    }

    static bool InspectPoison(const Freed &freed, Damage *damage)
    {
        const Poisoned parts = PoisonedParts(freed.was.size);
        const size_t tail = freed.was.size - parts.tail;
        return Report(Damage::FREED, freed.address, freed.was, Repair(Bytes(freed.address), parts.head, kPoison), 0,
                      damage) ||
               Report(Damage::FREED, freed.address, freed.was,
                      Repair(Bytes(freed.address + tail), parts.tail, kPoison), static_cast<int64_t>(tail), damage);
    }

    struct Cached {
        uintptr_t address;
        size_t block;
    };

    using LiveMap = std::map<uintptr_t, Live>;

    void Release(LiveMap::iterator entry)
    {
        const Freed freed = {entry->first, entry->second};
        used_[freed.was.device] -= freed.was.charged;
        live_.erase(entry);
        CountObject(Kind::DEVICE_MEMORY, -1);
        if (freed.was.guard == 0) {
            Cache({freed.address, freed.was.block});
            return;
        }
        const Poisoned parts = PoisonedParts(freed.was.size);
        std::memset(Bytes(freed.address), kPoison, parts.head);
        std::memset(Bytes(freed.address + freed.was.size - parts.tail), kPoison, parts.tail);
        quarantine_.push_back(freed);
        quarantined_ += freed.was.block;
        while (quarantined_ > kQuarantineLimit) {
            LeaveQuarantine();
        }
    }

    void LeaveQuarantine()
    {
        const Freed freed = quarantine_.front();
        quarantine_.pop_front();
        quarantined_ -= freed.was.block;
        Cache({freed.address - freed.was.guard, freed.was.block});
    }

    void Cache(const Cached &block)
    {
        bySize_[block.block].push_back(cached_.insert(cached_.end(), block));
        cachedBytes_ += block.block;
        while (cachedBytes_ > kCacheLimit) {
            EvictOldest();
        }
    }

    void EvictOldest()
    {
        const Cached block = cached_.front();
        cached_.pop_front();
        bySize_[block.block].pop_front(); // the oldest of its size, too
        cachedBytes_ -= block.block;
        const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
        const uintptr_t first = (block.address + page - 1) / page * page;
        const uintptr_t last = (block.address + block.block) / page * page;
        if (last > first) {
            madvise(reinterpret_cast<void *>(first), last - first, MADV_DONTNEED);
        }
        AddFree(block.address, block.block);
    }

    void AddFree(uintptr_t address, size_t size)
    {
        auto next = free_.lower_bound(address);
        if (next != free_.begin()) {
            const auto before = std::prev(next);
            if (before->first + before->second == address) {
                address = before->first;
                size += before->second;
                free_.erase(before);
            }
        }
        if (next != free_.end() && address + size == next->first) {
            size += next->second;
            free_.erase(next);
        }
        free_.emplace(address, size);
    }

    uintptr_t TakeBlock(size_t block)
    {
        const auto same = bySize_.find(block);
        if (same != bySize_.end() && !same->second.empty()) {
            const auto newest = same->second.back();
            const uintptr_t address = newest->address;
            same->second.pop_back();
            cached_.erase(newest);
            cachedBytes_ -= block;
            return address;
        }
        if (length_ == 0) {
            Reserve();
        }
        uintptr_t address = TakeFree(block);
        while (address == 0 && !(cached_.empty() && quarantine_.empty())) {
            if (cached_.empty()) {
                LeaveQuarantine();
            } else {
                EvictOldest();
            }
            address = TakeFree(block);
        }
        return address;
    }

    uintptr_t TakeFree(size_t block)
    {
        for (auto range = free_.begin(); range != free_.end(); ++range) {
            if (range->second >= block) {
                const uintptr_t address = range->first;
                const size_t rest = range->second - block;
                free_.erase(range);
                if (rest > 0) {
                    free_.emplace(address + block, rest);
                }
                return address;
            }
        }
        return 0;
    }

    // Twice what all devices hold, so that fragments do not matter; less where the system grants less.
    void Reserve()
    {
        size_t length = static_cast<size_t>(2 * DeviceMemorySize()) * VisibleDevices();
        for (; length >= (size_t{1} << 20); length /= 2) {
            void *range = mmap(nullptr, length, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (range != MAP_FAILED) {
                madvise(range, length, MADV_DONTDUMP);
                begin_ = reinterpret_cast<uintptr_t>(range);
                length_ = length;
                free_.emplace(begin_, length_);
                return;
            }
        }
    }

    std::shared_mutex mutex_;
    uintptr_t begin_ = 0;
    size_t length_ = 0;
    LiveMap live_;
    std::map<uintptr_t, size_t> free_;
    std::list<Cached> cached_; // oldest first
    std::unordered_map<size_t, std::deque<std::list<Cached>::iterator>> bySize_;
    size_t cachedBytes_ = 0;
    std::deque<Freed> quarantine_; // oldest first
    size_t quarantined_ = 0; // bytes
    std::unordered_map<int32_t, uint64_t> used_;
};

Allocator &DeviceAllocator()
{
    static auto *allocator = new Allocator();
    return *allocator;
}

} // namespace

void *AllocateOn(int32_t device, size_t size, uint64_t charged, uint64_t capacity)
{
    return DeviceAllocator().Allocate(device, size, charged, capacity);
}

bool FreeDeviceMemory(void *address)
{
    return DeviceAllocator().Free(reinterpret_cast<uintptr_t>(address));
}

void FreeAllOn(int32_t device)
{
    DeviceAllocator().FreeAll(device);
}

uint64_t UsedBytes(int32_t device)
{
    return DeviceAllocator().Used(device);
}

bool InDeviceRange(const void *address)
{
    return DeviceAllocator().Contains(reinterpret_cast<uintptr_t>(address));
}

bool FindDeviceAllocation(const void *address, Allocation *found)
{
    return DeviceAllocator().Find(reinterpret_cast<uintptr_t>(address), found);
}

bool FindAllocation(const void *address, Allocation *found)
{
    // A fork may have inherited a lock that nobody will release.
    return !IsForkedChild() && (FindDeviceAllocation(address, found) || FindMappedHost(address, found));
}

std::vector<Allocation> LiveAllocations()
{
    return DeviceAllocator().All();
}

bool InspectDeviceMemory(Damage *damage)
{
    return DeviceAllocator().Inspect(damage);
}

} // namespace aclemu
