// Byte patterns around and in memory that nobody should write.
#pragma once

#include <cstddef>
#include <cstdint>

namespace aclemu {

constexpr size_t kGuardBytes = 512; // before an allocation, and at least as much behind it

constexpr unsigned char kGuardPattern = 0xFA;
constexpr unsigned char kPoison = 0xFF; // NaN in every float format, so that stale reads show

struct Scar {
    size_t first = 0; // offset of the first byte that is not as it was
    size_t count = 0; // 0: nothing is wrong
};

// Looks for bytes that differ from `pattern` and puts them right.
Scar Repair(unsigned char *memory, size_t size, unsigned char pattern);

// Parts of freed memory that are poisoned: all of a small block, the ends of a large one, so that memory
// nobody touched costs nothing.
struct Poisoned {
    size_t head; // bytes from the start
    size_t tail; // bytes up to the end
};
Poisoned PoisonedParts(size_t size);

} // namespace aclemu
