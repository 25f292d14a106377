#include "runtime/guard.h"

#include <algorithm>
#include <cstring>

namespace aclemu {

Scar Repair(unsigned char *memory, size_t size, unsigned char pattern)
{
    Scar scar;
    // Equal to itself shifted by one, and starting right, is all the same: memcmp is far faster than a loop.
    if (size == 0 || (memory[0] == pattern && std::memcmp(memory, memory + 1, size - 1) == 0)) {
        return scar;
    }
    for (size_t i = 0; i < size; ++i) {
        if (memory[i] != pattern) {
            scar.first = scar.count == 0 ? i : scar.first;
            ++scar.count;
            memory[i] = pattern;
        }
    }
    return scar;
}

Poisoned PoisonedParts(size_t size)
{
    constexpr size_t most = size_t{1} << 20;
    const size_t head = std::min(size, most);
    return {head, std::min(size - head, most / 16)};
}

} // namespace aclemu
