// Where an address lies.
#pragma once

#include <cstddef>

#include "acl/acl_base_rt.h"

namespace aclemu {

enum class Place { DEVICE, PINNED_HOST, HOST };

const char *NameOf(Place place); // "device" or "host"

// Says where `bytes` from `address` lie. Fails if they are not all in one live allocation; what host memory
// the program has from elsewhere is not known and not checked.
aclError Locate(const char *parameter, const void *address, size_t bytes, Place *place);

// 107000 if `count` is more than `limit`, reported.
aclError CheckCount(const char *limitName, size_t limit, size_t count);

} // namespace aclemu
