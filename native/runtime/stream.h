// Work that other libraries of the emulator put on a stream.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "acl/acl_rt.h"
#include "runtime/export.h"

namespace aclemu {

struct TaskResult {
    aclError code = ACL_SUCCESS; // what a later synchronise returns, e.g. 507035
    std::string message;         // text for aclGetRecentErrMsg, empty on success
};

// Device memory that a task touches, for the checks of ACLEMU_CHECK.
struct Use {
    std::string name; // "input 0 (x)"
    const void *address = nullptr;
    size_t size = 0;
    bool written = false;
};
using Uses = std::vector<Use>;

// Appends `task` to the queue of `stream` (nullptr = default stream of the current context) and returns at once.
// `name` is what faults and traces call it. Errors: 107002 no context in this thread, 107003 stream of another context
// or not alive.
ACLEMU_API aclError Enqueue(aclrtStream stream, std::string name, std::function<TaskResult()> task, Uses uses = {});

} // namespace aclemu
