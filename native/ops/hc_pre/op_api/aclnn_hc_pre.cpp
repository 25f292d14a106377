// The two C functions of HcPre.
#include "aclnn_hc_pre.h"

#include "nnopbase/executor.h"
#include "ops/hc_pre/op_api/hc_pre_front_end.h"

namespace {

constexpr const char *kOp = "aclnnHcPre";

} // namespace

aclnnStatus aclnnHcPreGetWorkspaceSize(const aclTensor *x, const aclTensor *hcFn, const aclTensor *hcScale,
                                       const aclTensor *hcBase, int64_t hcMult, int64_t hcSinkhornIters, double hcEps,
                                       double normEps, const aclTensor *yOut, const aclTensor *postOut,
                                       const aclTensor *combFragOut, uint64_t *workspaceSize, aclOpExecutor **executor)
{
    const ops::HcPreTensors tensors{x, hcFn, hcScale, hcBase, nullptr, yOut, postOut, combFragOut, nullptr, false};
    return ops::HcPreFirstPhase(kOp, tensors, {hcMult, hcSinkhornIters, hcEps, normEps}, workspaceSize, executor);
}

aclnnStatus aclnnHcPre(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream)
{
    return nnop::Run(kOp, workspace, workspaceSize, executor, stream);
}
