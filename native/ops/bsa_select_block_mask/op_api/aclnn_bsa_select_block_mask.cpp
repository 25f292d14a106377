// The two C functions of BSASelectBlockMask: checks in the documented order, the plan, the launch.
#include "aclnnop/aclnn_bsa_select_block_mask.h"

#include "aclnn/opdev/op_errno.h"
#include "nnopbase/executor.h"
#include "ops/bsa_select_block_mask/op_api/bsa_select_block_mask_checks.h"
#include "ops/bsa_select_block_mask/op_api/bsa_select_block_mask_launch.h"
#include "ops/common/kernel_task.h"

namespace {

using ops::Checks;

constexpr const char *kOp = "aclnnBSASelectBlockMask";

aclnnStatus PlanChecked(const Checks &check, const ops::BSASelectBlockMaskCall &call, uint64_t *workspaceSize,
                        aclOpExecutor **executor)
{
    ops::BSASelectBlockMaskArguments arguments{};
    OPS_RETURN_IF_ERROR(ops::CheckBSASelectBlockMask(check, call, &arguments));
    arguments.key = ops::ForcedTilingKey();
    nnop::Plan plan;
    plan.generated = true;
    std::string error;
    if (!ops::PlanBSASelectBlockMask(kOp, call, arguments, &plan, &error)) {
        return check.Fail(ACLNN_ERR_INNER_TILING_ERROR, "tiling failed: " + error + ".");
    }
    return nnop::Publish(std::move(plan), workspaceSize, executor);
}

} // namespace

aclnnStatus aclnnBSASelectBlockMaskGetWorkspaceSize(
    const aclTensor *query, const aclTensor *key, const aclIntArray *blockShape, const aclIntArray *postBlockShape,
    const aclIntArray *actualSeqLengths, const aclIntArray *actualSeqLengthsK, const aclIntArray *actualBlockLenQuery,
    const aclIntArray *actualBlockLenKey, char *queryLayout, char *keyLayout, int64_t numKeyHeads, double scaleValue,
    double sparsity, aclTensor *blockSparseMaskOut, uint64_t *workspaceSize, aclOpExecutor **executor)
{
    const Checks check(kOp);
    OPS_RETURN_IF_ERROR(check.NotNull("workspaceSize", workspaceSize));
    OPS_RETURN_IF_ERROR(check.NotNull("executor", executor));
    const ops::BSASelectBlockMaskCall call{query, key, blockShape, postBlockShape, actualSeqLengths, actualSeqLengthsK,
                                           actualBlockLenQuery, actualBlockLenKey, queryLayout, keyLayout, numKeyHeads,
                                           scaleValue, sparsity, blockSparseMaskOut};
    return ops::Guarded(check, [&] { return PlanChecked(check, call, workspaceSize, executor); });
}

aclnnStatus aclnnBSASelectBlockMask(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream)
{
    return nnop::Run(kOp, workspace, workspaceSize, executor, stream);
}
