#include "ascendc/twin/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <mutex>
#include <new>

namespace ascendc {
namespace {

constexpr size_t kPage = 65536;   // at least the largest page of the processors we run on
constexpr size_t kStackBytes = 1u << 20;
constexpr uint32_t kFixpipeBytes = 16384;

size_t RoundUp(size_t bytes)
{
    return (bytes + kPage - 1) / kPage * kPage;
}

bool Same(const CoreMemory &a, const CoreMemory &b)
{
    return a.ub == b.ub && a.ubReserved == b.ubReserved && a.l1 == b.l1 && a.l0a == b.l0a && a.l0b == b.l0b && a.l0c == b.l0c &&
           a.biasTable == b.biasTable;
}

// Never destroyed: a stream's thread may still run a kernel while the process exits.
struct Pool {
    std::mutex mutex;
    std::vector<CoreRoom *> rooms;
};

Pool &ProcessPool()
{
    static Pool *pool = new Pool;
    return *pool;
}

CoreRoom *MapRoom(const CoreMemory &sizes)
{
    auto *room = new CoreRoom;
    room->sizes = sizes;
    const uint32_t bytes[kMemories] = {sizes.ub, sizes.l1, sizes.l0a, sizes.l0b, sizes.l0c, sizes.biasTable, kFixpipeBytes};
    // A Mmad repacks at most L0A and L0B, and 16-bit elements grow to floats.
    const size_t scratchBytes = RoundUp(2 * (static_cast<size_t>(sizes.l0a) + sizes.l0b) + kPage);
    size_t total = kPage + kStackBytes + kPage + scratchBytes;
    for (uint32_t memory = 0; memory < kMemories; ++memory) {
        total += RoundUp(bytes[memory]) + kPage;
    }
    // Pages are committed when touched: a vector core never pays for L1.
    void *mapping = mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) {
        delete room;
        throw std::bad_alloc();
    }
    room->mapping = static_cast<uint8_t *>(mapping);
    room->mappingBytes = total;
    uint8_t *next = room->mapping;
    mprotect(next, kPage, PROT_NONE);   // a stack overflow stops here
    next += kPage;
    room->stack = next;
    room->stackBytes = kStackBytes;
    next += kStackBytes + kPage;
    room->scratch = reinterpret_cast<float *>(next);
    room->scratchFloats = static_cast<uint32_t>(scratchBytes / sizeof(float));
    next += scratchBytes;
    for (uint32_t memory = 0; memory < kMemories; ++memory) {
        room->memory[memory] = next;
        room->memorySize[memory] = bytes[memory];
        next += RoundUp(bytes[memory]) + kPage;
    }
    return room;
}

} // namespace

CoreRooms::~CoreRooms()
{
    Pool &pool = ProcessPool();
    std::lock_guard<std::mutex> lock(pool.mutex);
    for (CoreRoom *room : free_) {
        pool.rooms.push_back(room);
    }
}

CoreRoom *CoreRooms::Take()
{
    if (!free_.empty()) {
        CoreRoom *room = free_.back();
        free_.pop_back();
        return room;
    }
    Pool &pool = ProcessPool();
    {
        std::lock_guard<std::mutex> lock(pool.mutex);
        for (size_t i = pool.rooms.size(); i-- > 0;) {
            CoreRoom *room = pool.rooms[i];
            if (Same(room->sizes, sizes_)) {
                pool.rooms.erase(pool.rooms.begin() + static_cast<std::ptrdiff_t>(i));
                return room;
            }
        }
    }
    return MapRoom(sizes_);
}

} // namespace ascendc
