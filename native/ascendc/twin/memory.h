// Stack and on-chip memories of one emulated core, reused from launch to launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ascendc/twin/core.h"
#include "ascendc/twin/launch.h"

namespace ascendc {

struct CoreRoom {
    CoreMemory sizes{};
    uint8_t *mapping = nullptr;
    size_t mappingBytes = 0;
    uint8_t *stack = nullptr;   // lowest address
    size_t stackBytes = 0;
    uint8_t *memory[kMemories] = {};
    uint32_t memorySize[kMemories] = {};
    float *scratch = nullptr;
    uint32_t scratchFloats = 0;
};

// The rooms one worker uses during one launch: the last returned is the next taken, because it is hot in the cache.
// Those left over go back to a pool of the process.
class CoreRooms {
public:
    explicit CoreRooms(const CoreMemory &sizes) : sizes_(sizes) {}
    ~CoreRooms();
    CoreRooms(const CoreRooms &) = delete;
    CoreRooms &operator=(const CoreRooms &) = delete;
    CoreRoom *Take();   // throws std::bad_alloc
    void Return(CoreRoom *room) { free_.push_back(room); }

private:
    CoreMemory sizes_;
    std::vector<CoreRoom *> free_;
};

} // namespace ascendc
