// The JSON file that aclInit may be given.
#pragma once

#include <string>

#include "acl/acl_base_rt.h"

namespace aclemu {

// Reads the file into `text` and applies it. NULL and "" mean none. 100003 if the file cannot be read, 100006 if it
// is not JSON, reported. Of its settings "err_msg_mode" alone changes the emulator.
aclError ReadConfig(const char *path, std::string *text);

} // namespace aclemu
