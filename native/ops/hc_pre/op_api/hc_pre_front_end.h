// The first phase that HcPre and HcPreV2 share.
#pragma once

#include <cstdint>

#include "ops/common/checks.h"

namespace ops {

struct HcPreTensors {
    const aclTensor *x;
    const aclTensor *hcFn;
    const aclTensor *hcScale;
    const aclTensor *hcBase;
    const aclTensor *preMix; // V2 only, and optional
    const aclTensor *y;
    const aclTensor *post;
    const aclTensor *combFrag;
    const aclTensor *hcPre; // V2 only
    bool v2;
};

struct HcPreAttributes {
    int64_t hcMult;
    int64_t hcSinkhornIters;
    double hcEps;
    double normEps;
};

aclnnStatus HcPreFirstPhase(const char *op, const HcPreTensors &tensors, const HcPreAttributes &attributes,
                            uint64_t *workspaceSize, aclOpExecutor **executor);

} // namespace ops
