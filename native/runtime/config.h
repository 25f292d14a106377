// The JSON file that aclInit may be given.
#pragma once

#include "acl/acl_base_rt.h"

namespace aclemu {

// NULL and "" mean none. 100003 if the file cannot be read, 100006 if it is not JSON, reported. No setting in
// it changes the emulator.
aclError ReadConfig(const char *path);

} // namespace aclemu
