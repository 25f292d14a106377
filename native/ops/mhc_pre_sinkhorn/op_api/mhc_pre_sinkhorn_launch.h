// From checked tensors to the plan that the executor holds.
#pragma once

#include <string>
#include <vector>

#include "nnopbase/executor.h"
#include "nnopbase/tensor.h"

namespace ops {

struct NamedTensor {
    const char *name;
    const aclTensor *tensor;
};

// The operator's tensors under the names of its prototype. Without needBackward the last five are not looked at.
struct MhcPreSinkhornTensors {
    const aclTensor *x;
    const aclTensor *phi;
    const aclTensor *alpha;
    const aclTensor *bias;
    const aclTensor *hin;
    const aclTensor *hPost;
    const aclTensor *hRes;
    const aclTensor *hPre = nullptr;
    const aclTensor *hcBeforeNorm = nullptr;
    const aclTensor *invRms = nullptr;
    const aclTensor *sumOut = nullptr;
    const aclTensor *normOut = nullptr;
    bool needBackward = false;

    std::vector<NamedTensor> Backward() const; // the last five, none without needBackward
    std::vector<NamedTensor> All() const;      // in the order of the prototype
};

// Tiles and plans: strided inputs get a step that makes them dense in workspace, then comes the kernel.
// False with `error` when the tiling refuses.
bool PlanMhcPreSinkhorn(const char *op, const MhcPreSinkhornTensors &tensors, uint32_t numIters, double hcEps, double normEps,
                        nnop::Plan *plan, std::string *error);

} // namespace ops
