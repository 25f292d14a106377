// How an operator's front end reports what it refuses.
#pragma once

#include <string>

#include "aclnn/acl_meta.h"
#include "runtime/export.h"

namespace nnop {

// Adds `message` to the recent error text under the message code that belongs to `status` (1xxxxx EZ1001, 3xxxxx EZ9903,
// others EZ9999), writes the log line when the log level asks for it, and returns `status`.
ACLEMU_API aclnnStatus Refuse(aclnnStatus status, const char *opName, const std::string &message);

} // namespace nnop
