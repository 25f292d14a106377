#include "runtime/handle_table.h"

namespace aclemu {

void *NewHandle()
{
    static std::atomic<uintptr_t> next{(uintptr_t{1} << 32) + 64};
    return reinterpret_cast<void *>(next.fetch_add(64, std::memory_order_relaxed));
}

} // namespace aclemu
