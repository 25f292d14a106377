// What the system says of addresses that the runtime did not hand out.
#pragma once

#include <cstddef>

namespace aclemu {

// False if some of the bytes cannot be read or written; the pages that can are made present. `bytes` is at least 1.
bool IsReadable(const void *address, size_t bytes);
bool IsWritable(const void *address, size_t bytes);

// False if some of the pages do not exist. Looks only, so that memory nobody has touched stays so.
bool IsMapped(const void *address, size_t bytes);

} // namespace aclemu
