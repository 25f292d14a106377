// The tensors of MhcPre, and from checked tensors to the plan that the executor holds.
#pragma once

#include <string>

#include "nnopbase/executor.h"
#include "nnopbase/tensor.h"

namespace ops {

// Under the names of the prototypes.
struct MhcPreTensors {
    const aclTensor *x;
    const aclTensor *phi;
    const aclTensor *alpha;
    const aclTensor *bias;
    const aclTensor *gammaOptional; // may be null
    const aclTensor *hIn;
    const aclTensor *hPost;
    const aclTensor *hRes; // not looked at with an alpha of 2
    const aclTensor *invRmsOptional; // these three: all or none
    const aclTensor *hMixOptional;
    const aclTensor *hPreOptional;

    bool HasRes() const // alpha of 3; only once its shape is checked
    {
        return alpha->viewShape[0] == 3;
    }
    bool HasOptional() const
    {
        return hPreOptional != nullptr;
    }
};

struct MhcPreAttributes {
    double normEps;
    double hcEps;
    int64_t opImplMode; // 0: float32, 1: HF32
};

// Strided inputs get a step that makes them dense, strided outputs one that copies back; between them the kernel.
// False with `error` when the tiling refuses.
bool PlanMhcPre(const char *op, const MhcPreTensors &tensors, const MhcPreAttributes &attributes, nnop::Plan *plan,
                std::string *error);

} // namespace ops
