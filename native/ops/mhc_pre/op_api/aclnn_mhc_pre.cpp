// The C functions of MhcPre and MhcPreV2. The first is the second in mode 0.
#include "aclnnop/aclnn_mhc_pre.h"

#include "aclnn/opdev/op_errno.h"
#include "aclnnop/aclnn_mhc_pre_v2.h"
#include "ops/mhc_pre/op_api/mhc_pre_checks.h"

namespace {

using ops::Checks;

constexpr const char *kOp = "aclnnMhcPre";
constexpr const char *kOpV2 = "aclnnMhcPreV2";

aclnnStatus Plan(const char *op, const ops::MhcPreTensors &tensors, const ops::MhcPreAttributes &attributes,
                 uint64_t *workspaceSize, aclOpExecutor **executor)
{
    const Checks check(op);
    OPS_RETURN_IF_ERROR(check.NotNull("workspaceSize", workspaceSize));
    OPS_RETURN_IF_ERROR(check.NotNull("executor", executor));
    return ops::Guarded(check, [&]() -> aclnnStatus {
        OPS_RETURN_IF_ERROR(ops::CheckMhcPre(check, tensors, attributes));
        nnop::Plan plan;
        std::string error;
        if (!ops::PlanMhcPre(op, tensors, attributes, &plan, &error)) {
            return check.Fail(ACLNN_ERR_INNER_NULLPTR, "tiling failed: " + error + ".");
        }
        return nnop::Publish(std::move(plan), workspaceSize, executor);
    });
}

} // namespace

aclnnStatus aclnnMhcPreGetWorkspaceSize(const aclTensor *x, const aclTensor *phi, const aclTensor *alpha,
                                        const aclTensor *bias, const aclTensor *gammaOptional, double normEps,
                                        double hcEps, aclTensor *hIn, aclTensor *hPost, aclTensor *hRes,
                                        aclTensor *invRmsOptional, aclTensor *hMixOptional, aclTensor *hPreOptional,
                                        uint64_t *workspaceSize, aclOpExecutor **executor)
{
    return Plan(kOp,
                {x, phi, alpha, bias, gammaOptional, hIn, hPost, hRes, invRmsOptional, hMixOptional, hPreOptional},
                {normEps, hcEps, 0}, workspaceSize, executor);
}

aclnnStatus aclnnMhcPre(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream)
{
    return nnop::Run(kOp, workspace, workspaceSize, executor, stream);
}

aclnnStatus aclnnMhcPreV2GetWorkspaceSize(const aclTensor *x, const aclTensor *phi, const aclTensor *alpha,
                                          const aclTensor *bias, const aclTensor *gammaOptional, double normEps,
                                          double hcEps, int64_t opImplMode, aclTensor *hIn, aclTensor *hPost,
                                          aclTensor *hRes, aclTensor *invRmsOptional, aclTensor *hMixOptional,
                                          aclTensor *hPreOptional, uint64_t *workspaceSize, aclOpExecutor **executor)
{
    return Plan(kOpV2,
                {x, phi, alpha, bias, gammaOptional, hIn, hPost, hRes, invRmsOptional, hMixOptional, hPreOptional},
                {normEps, hcEps, opImplMode}, workspaceSize, executor);
}

aclnnStatus aclnnMhcPreV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream)
{
    return nnop::Run(kOpV2, workspace, workspaceSize, executor, stream);
}
