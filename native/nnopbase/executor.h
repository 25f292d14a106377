// What phase 1 plans and phase 2 runs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "aclnn/acl_meta.h"
#include "runtime/stream.h"

namespace nnop {

// One step of an operator on the device. `workspace` is what the caller gave phase 2. Runs on the stream's worker.
using Kernel = std::function<aclemu::TaskResult(uint8_t *workspace)>;

// Phase 1 fills a plan; Publish turns it into the executor handle that phase 2 takes.
// Device addresses must be read from the tensors when phase 2 is called (aclSet*TensorAddr may have changed them):
// `launch` is called inside phase 2, reads addresses, and returns the step to enqueue.
struct Plan {
    std::string opName;                                  // "aclnnMhcPreSinkhorn"
    uint64_t workspaceSize = 0;
    std::vector<std::function<Kernel()>> launches;       // empty: phase 2 does nothing
    std::vector<const aclTensor *> tensors;              // inputs then outputs, for aclSet*TensorAddr
    size_t inputs = 0;                                   // how many of `tensors` are inputs
    std::vector<std::string> names;                      // of `tensors`, for what debug modes report; may be empty
    bool generated = false;                              // a front end as CANN's code generator writes it, see Run
};

// Hands the plan to a new executor. 0, or 561101 when it cannot be made.
ACLEMU_API aclnnStatus Publish(Plan plan, uint64_t *workspaceSize, aclOpExecutor **executor);

// The common second phase of `op`: checks executor (161001 when NULL; 561103 when used up, foreign, or planned by
// another operator, which keeps it), workspace (161001 when NULL though a size is planned and given), enqueues every
// launch on the stream (361001 with the runtime's code in the text if that fails), and frees a single-use executor
// whatever happens. That of a generated front end stays when the workspace is refused: null (EZ1011) or too small (161002,
// EZ1010).
// An operator that has one code for whatever fails in its second phase gives it as `failure`; a fault that was asked for comes
// out as it is.
ACLEMU_API aclnnStatus Run(const char *op, void *workspace, uint64_t workspaceSize, aclOpExecutor *executor,
                           aclrtStream stream, aclnnStatus failure = 0);

} // namespace nnop
