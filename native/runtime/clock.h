// Time as the vendor's logs and error texts write it.
#pragma once

#include <string>

namespace aclemu {

std::string LocalTime(); // 2025-01-31-13:45:59.123.456

} // namespace aclemu
