// Functions of the program that are told what happens to devices and streams.
#pragma once

#include <functional>

#include "acl/acl_rt.h"
#include "runtime/task_queue.h"

namespace aclemu {

void TellDeviceState(int32_t device, aclrtDeviceState state);
void TellStreamState(aclrtStream stream, aclrtStreamState state);

// Calls what aclrtSetExceptionInfoCallback set. On the worker of the stream that faulted.
void TellException(uint32_t task, uint32_t stream, uint32_t device, aclError code);

} // namespace aclemu
