// The text behind aclGetRecentErrMsg: per thread, read once.
#pragma once

#include <string>

#include "runtime/export.h"

namespace aclemu {

// Adds one message to this thread's pending text. `code` is a message code such as "EZ1001", `title` its title such as
// "AclNN_Parameter_Error". The layout CANN gives them is made when the text is read.
ACLEMU_API void ReportError(const char *code, const char *title, const std::string &message);

} // namespace aclemu
