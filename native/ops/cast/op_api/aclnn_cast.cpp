// The two C functions of Cast, for FLOAT, FLOAT16, BFLOAT16 and INT32 in any combination.
#include "aclnnop/aclnn_cast.h"

#include "aclnn/opdev/op_errno.h"
#include "ascendc/twin/registry.h"
#include "ops/common/checks.h"
#include "ops/common/elementwise_tiling.h"
#include "ops/common/kernel_plan.h"

namespace {

using ops::Checks;

constexpr const char *kOp = "aclnnCast";
constexpr size_t kMaxDims = 8;

aclnnStatus Check(const Checks &check, const aclTensor *self, aclDataType dtype, const aclTensor *out)
{
    OPS_RETURN_IF_ERROR(check.NotNull("self", self));
    OPS_RETURN_IF_ERROR(check.NotNull("out", out));
    OPS_RETURN_IF_ERROR(check.DType("self", self, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT32}));
    OPS_RETURN_IF_ERROR(check.DType("out", out, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT32}));
    if (out->dataType != dtype) {
        return check.Fail(ACLNN_ERR_PARAM_INVALID, "out has dtype " + nnop::ToString(out->dataType) + ", expected dtype, " +
                                                       nnop::ToString(dtype) + ".");
    }
    OPS_RETURN_IF_ERROR(check.AtMostDims("self", self, kMaxDims));
    OPS_RETURN_IF_ERROR(check.Addressable("self", self));
    OPS_RETURN_IF_ERROR(check.HasShape("out", out, self->viewShape, "the shape of self"));
    OPS_RETURN_IF_ERROR(check.Dense("out", out));
    OPS_RETURN_IF_ERROR(check.PublicFormat("self", self));
    return check.PublicFormat("out", out);
}

aclnnStatus Plan(const Checks &check, const aclTensor *self, aclDataType dtype, const aclTensor *out,
                 uint64_t *workspaceSize, aclOpExecutor **executor)
{
    OPS_RETURN_IF_ERROR(Check(check, self, dtype, out));
    nnop::Plan plan;
    plan.opName = kOp;
    if (self->IsEmpty()) {
        return nnop::Publish(std::move(plan), workspaceSize, executor);
    }
    const aclemu::Platform &platform = aclemu::CurrentPlatform();
    const auto tiling = ops::TileElementwise(static_cast<uint64_t>(self->Size()), ops::ToTilingPlatform(platform));
    const ascendc::KernelVariant *kernel = ascendc::FindKernel("cast", "any", platform.npuArch);
    if (kernel == nullptr) {
        return check.Fail(ACLNN_ERR_INNER_NULLPTR, std::string("no kernel was built for ") + platform.soc + ".");
    }
    const ops::KernelLaunch launch{"cast", ascendc::TaskType::AIV_ONLY, tiling.blockDim,
                                   100 * static_cast<uint64_t>(self->dataType) + static_cast<uint64_t>(dtype)};
    ops::PlanKernel(&plan, {{"self", self, true}, {"out", out, false}}, tiling.workspaceSize, launch,
                    ops::EntryCall<2>(kernel->entry), std::make_shared<ElementwiseTilingData>(tiling.data));
    return nnop::Publish(std::move(plan), workspaceSize, executor);
}

} // namespace

aclnnStatus aclnnCastGetWorkspaceSize(const aclTensor *self, const aclDataType dtype, aclTensor *out,
                                      uint64_t *workspaceSize, aclOpExecutor **executor)
{
    const Checks check(kOp);
    OPS_RETURN_IF_ERROR(check.NotNull("workspaceSize", workspaceSize));
    OPS_RETURN_IF_ERROR(check.NotNull("executor", executor));
    return ops::Guarded(check, [&] { return Plan(check, self, dtype, out, workspaceSize, executor); });
}

aclnnStatus aclnnCast(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream)
{
    return nnop::Run(kOp, workspace, workspaceSize, executor, stream);
}
