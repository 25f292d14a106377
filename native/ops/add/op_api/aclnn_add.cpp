// The two C functions of Add, for what the emulator's kernel does: operands of one dtype and one shape. CANN also promotes
// dtypes and broadcasts; here that is 161002 with a message that says so.
#include "aclnnop/aclnn_add.h"

#include "aclnn/opdev/op_errno.h"
#include "ascendc/twin/registry.h"
#include "ops/common/checks.h"
#include "ops/common/elementwise_tiling.h"
#include "ops/common/kernel_plan.h"
#include "ops/common/scalar.h"

namespace {

using ops::Checks;

constexpr const char *kOp = "aclnnAdd";
constexpr size_t kMaxDims = 8;

aclnnStatus Check(const Checks &check, const aclTensor *self, const aclTensor *other, const aclScalar *alpha,
                  const aclTensor *out)
{
    OPS_RETURN_IF_ERROR(check.NotNull("self", self));
    OPS_RETURN_IF_ERROR(check.NotNull("other", other));
    OPS_RETURN_IF_ERROR(check.NotNull("alpha", alpha));
    OPS_RETURN_IF_ERROR(check.NotNull("out", out));
    OPS_RETURN_IF_ERROR(check.DType("self", self, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT32}));
    OPS_RETURN_IF_ERROR(check.SameDType("other", other, "self", self));
    OPS_RETURN_IF_ERROR(check.SameDType("out", out, "self", self));
    if (self->dataType == ACL_INT32 && ops::IsFloating(*alpha)) {
        return check.Fail(ACLNN_ERR_PARAM_INVALID, "alpha has dtype " + nnop::ToString(alpha->dataType) +
                                                       ", which can't be cast to the dtype of self, DT_INT32.");
    }
    OPS_RETURN_IF_ERROR(check.AtMostDims("self", self, kMaxDims));
    OPS_RETURN_IF_ERROR(check.Addressable("self", self));
    OPS_RETURN_IF_ERROR(check.HasShape("other", other, self->viewShape, "the shape of self (the emulator does not broadcast)"));
    OPS_RETURN_IF_ERROR(check.HasShape("out", out, self->viewShape, "the shape of self and other"));
    OPS_RETURN_IF_ERROR(check.Dense("out", out));
    OPS_RETURN_IF_ERROR(check.PublicFormat("self", self));
    OPS_RETURN_IF_ERROR(check.PublicFormat("other", other));
    return check.PublicFormat("out", out);
}

aclnnStatus Plan(const Checks &check, const aclTensor *self, const aclTensor *other, const aclScalar *alpha,
                 const aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor)
{
    OPS_RETURN_IF_ERROR(Check(check, self, other, alpha, out));
    nnop::Plan plan;
    plan.opName = kOp;
    if (self->IsEmpty()) {
        return nnop::Publish(std::move(plan), workspaceSize, executor);
    }
    const aclemu::Platform &platform = aclemu::CurrentPlatform();
    auto tiling = ops::TileElementwise(static_cast<uint64_t>(self->Size()), ops::ToTilingPlatform(platform));
    tiling.data.scale = static_cast<float>(ops::ToDouble(*alpha));
    tiling.data.factor = self->dataType == ACL_INT32 ? static_cast<int32_t>(ops::ToDouble(*alpha)) : 0;
    const ascendc::KernelVariant *kernel = ascendc::FindKernel("add", "any", platform.npuArch);
    if (kernel == nullptr) {
        return check.Fail(ACLNN_ERR_INNER_NULLPTR, std::string("no kernel was built for ") + platform.soc + ".");
    }
    const ops::KernelLaunch launch{"add", ascendc::TaskType::AIV_ONLY, tiling.blockDim,
                                   static_cast<uint64_t>(self->dataType)};
    ops::PlanKernel(&plan, {{"self", self, true}, {"other", other, true}, {"out", out, false}}, tiling.workspaceSize, launch,
                    ops::EntryCall<3>(kernel->entry), std::make_shared<ElementwiseTilingData>(tiling.data));
    return nnop::Publish(std::move(plan), workspaceSize, executor);
}

} // namespace

aclnnStatus aclnnAddGetWorkspaceSize(const aclTensor *self, const aclTensor *other, const aclScalar *alpha, aclTensor *out,
                                     uint64_t *workspaceSize, aclOpExecutor **executor)
{
    const Checks check(kOp);
    OPS_RETURN_IF_ERROR(check.NotNull("workspaceSize", workspaceSize));
    OPS_RETURN_IF_ERROR(check.NotNull("executor", executor));
    return ops::Guarded(check, [&] { return Plan(check, self, other, alpha, out, workspaceSize, executor); });
}

aclnnStatus aclnnAdd(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream)
{
    return nnop::Run(kOp, workspace, workspaceSize, executor, stream);
}
