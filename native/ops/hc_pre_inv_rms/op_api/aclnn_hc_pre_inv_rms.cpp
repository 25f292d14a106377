// The two C functions of HcPreInvRms: checks in the documented order, the plan.
#include "aclnn_hc_pre_inv_rms.h"

#include "aclnn/opdev/op_errno.h"
#include "ascendc/twin/registry.h"
#include "ops/common/checks.h"
#include "ops/common/kernel_plan.h"
#include "ops/hc_pre_inv_rms/op_host/hc_pre_inv_rms_tiling.h"

namespace {

using ops::Checks;
using ops::Shape;

constexpr const char *kOp = "aclnnHcPreInvRms";

aclnnStatus CheckShapes(const Checks &check, const aclTensor *x, double epsilon, const aclTensor *out)
{
    OPS_RETURN_IF_ERROR(check.Rank("x", x, {2, 3, 4}));
    OPS_RETURN_IF_ERROR(check.Addressable("x", x));
    const Shape &shape = x->viewShape;
    OPS_RETURN_IF_ERROR(check.NotEmpty("x", x));
    OPS_RETURN_IF_ERROR(check.DenseInput("x", x));
    if (!(static_cast<float>(epsilon) > 0)) {
        return check.Fail(ACLNN_ERR_INNER_TILING_ERROR,
                          "epsilon is " + std::to_string(epsilon) + ", expected a number greater than 0 in float32.");
    }
    // [.., n, d] or, told by an out of as many axes, [.., n*d]
    const bool flat = shape.size() == 2 || (shape.size() == 3 && out->viewShape.size() == 3);
    Shape expected(shape.begin(), shape.end() - (flat ? 1 : 2));
    expected.push_back(1);
    OPS_RETURN_IF_ERROR(check.HasShape("out", out, expected, flat ? "the axes of x but the last, then 1"
                                                                  : "the token axes of x, then 1"));
    return check.Dense("out", out);
}

aclnnStatus Plan(const Checks &check, const aclTensor *x, double epsilon, const aclTensor *out, uint64_t *workspaceSize,
                 aclOpExecutor **executor)
{
    OPS_RETURN_IF_ERROR(check.NotNull("x", x));
    OPS_RETURN_IF_ERROR(check.NotNull("out", out));
    OPS_RETURN_IF_ERROR(check.DType("x", x, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}));
    OPS_RETURN_IF_ERROR(check.DType("out", out, {ACL_FLOAT}));
    OPS_RETURN_IF_ERROR(check.PublicFormat("x", x));
    OPS_RETURN_IF_ERROR(check.PublicFormat("out", out));
    OPS_RETURN_IF_ERROR(CheckShapes(check, x, epsilon, out));

    const uint64_t rows = static_cast<uint64_t>(out->Size());
    const ops::HcPreInvRmsArguments arguments{rows, static_cast<uint64_t>(x->Size()) / rows,
                                              static_cast<uint32_t>(nnop::TypeSize(x->dataType)), epsilon,
                                              ops::ForcedTilingKey()};
    const aclemu::Platform &platform = aclemu::CurrentPlatform();
    const auto tiling = ops::TileHcPreInvRms(arguments, ops::ToTilingPlatform(platform));
    if (!tiling.error.empty()) {
        return check.Fail(ACLNN_ERR_INNER_TILING_ERROR, "tiling failed: " + tiling.error + ".");
    }
    const ascendc::KernelVariant *kernel =
        ascendc::FindKernel("hc_pre_inv_rms", ops::KernelDType(x->dataType), platform.npuArch);
    if (kernel == nullptr) {
        return check.Fail(ACLNN_ERR_INNER_FIND_KERNEL_ERROR,
                          "no kernel was built for " + nnop::ToString(x->dataType) + " on " + platform.soc + ".");
    }
    nnop::Plan plan;
    plan.opName = kOp;
    plan.generated = true;
    const ops::KernelLaunch launch{"hc_pre_inv_rms", ascendc::TaskType::AIV_ONLY, tiling.blockDim, tiling.key};
    ops::PlanKernel(&plan, {{"x", x, true}, {"out", out, false}}, tiling.workspaceSize, launch,
                    ops::EntryCall<2>(kernel->entry), std::make_shared<HcPreInvRmsTilingData>(tiling.data));
    return nnop::Publish(std::move(plan), workspaceSize, executor);
}

} // namespace

aclnnStatus aclnnHcPreInvRmsGetWorkspaceSize(const aclTensor *x, double epsilon, const aclTensor *out,
                                             uint64_t *workspaceSize, aclOpExecutor **executor)
{
    const Checks check = Checks::Generated(kOp);
    OPS_RETURN_IF_ERROR(check.NotNull("workspaceSize", workspaceSize));
    OPS_RETURN_IF_ERROR(check.NotNull("executor", executor));
    return ops::Guarded(check, [&] { return Plan(check, x, epsilon, out, workspaceSize, executor); });
}

aclnnStatus aclnnHcPreInvRms(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream)
{
    return nnop::Run(kOp, workspace, workspaceSize, executor, stream);
}
