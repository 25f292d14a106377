// The two C functions of HcPreV2.
#include "aclnn_hc_pre_v2.h"

#include "nnopbase/executor.h"
#include "ops/hc_pre/op_api/hc_pre_front_end.h"

namespace {

constexpr const char *kOp = "aclnnHcPreV2";

} // namespace

aclnnStatus aclnnHcPreV2GetWorkspaceSize(const aclTensor *x, const aclTensor *hcFn, const aclTensor *hcScale,
                                         const aclTensor *hcBase, const aclTensor *preMixOptional, int64_t hcMult,
                                         int64_t hcSinkhornIters, double hcEps, double normEps, const aclTensor *yOut,
                                         const aclTensor *postOut, const aclTensor *combFragOut, const aclTensor *hcPreOut,
                                         uint64_t *workspaceSize, aclOpExecutor **executor)
{
    const ops::HcPreTensors tensors{x, hcFn, hcScale, hcBase, preMixOptional, yOut, postOut, combFragOut, hcPreOut, true};
    return ops::HcPreFirstPhase(kOp, tensors, {hcMult, hcSinkhornIters, hcEps, normEps}, workspaceSize, executor);
}

aclnnStatus aclnnHcPreV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream)
{
    return nnop::Run(kOp, workspace, workspaceSize, executor, stream);
}
