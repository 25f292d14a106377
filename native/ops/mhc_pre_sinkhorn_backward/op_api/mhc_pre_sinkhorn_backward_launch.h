// From checked tensors to the plan that the executor holds.
#pragma once

#include <string>
#include <vector>

#include "nnopbase/executor.h"
#include "nnopbase/tensor.h"

namespace ops {

// The operator's tensors under the names of its prototype.
struct MhcPreSinkhornBackwardTensors {
    const aclTensor *gradHin;
    const aclTensor *gradHPost;
    const aclTensor *gradHRes;
    const aclTensor *x;
    const aclTensor *phi;
    const aclTensor *alpha;
    const aclTensor *bias;
    const aclTensor *hPre;
    const aclTensor *hcBeforeNorm;
    const aclTensor *invRms;
    const aclTensor *sumOut;
    const aclTensor *normOut;
    const aclTensor *gradX;
    const aclTensor *gradPhi;
    const aclTensor *gradAlpha;
    const aclTensor *gradBias;

    struct Named {
        const char *name;
        const aclTensor *tensor;
    };
    std::vector<Named> All() const; // in the order of the prototype
};

// Tiles and plans: strided inputs are made dense first, then comes the kernel, then strided outputs are filled.
// False with `error` when the tiling refuses.
bool PlanMhcPreSinkhornBackward(const char *op, const MhcPreSinkhornBackwardTensors &tensors, double hcEps, nnop::Plan *plan,
                                std::string *error);

} // namespace ops
