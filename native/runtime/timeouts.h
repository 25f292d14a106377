// Time limits that the program sets for all streams.
#pragma once

#include <cstdint>

namespace aclemu {

uint64_t OperatorTimeout(); // milliseconds an operator may run, 0 for no limit (aclrtSetOpExecuteTimeOut)
int64_t WaitTimeout(); // milliseconds aclrtStreamWaitEvent waits, -1 for ever (aclrtSetOpWaitTimeout)

} // namespace aclemu
