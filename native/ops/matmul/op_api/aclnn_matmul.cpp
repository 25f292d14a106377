// The two C functions of Matmul, for two matrices of one dtype.
#include "aclnnop/aclnn_matmul.h"

#include "aclnn/opdev/op_errno.h"
#include "ascendc/twin/registry.h"
#include "ops/common/checks.h"
#include "ops/common/kernel_plan.h"
#include "ops/matmul/op_host/matmul_tiling.h"

namespace {

using ops::Checks;

constexpr const char *kOp = "aclnnMatmul";
constexpr int8_t kAllowDownPrecision = 1;
constexpr int8_t kUseFp16 = 2;
constexpr int8_t kUseHf32 = 3;

aclnnStatus Check(const Checks &check, const aclTensor *self, const aclTensor *mat2, const aclTensor *out,
                  int8_t cubeMathType)
{
    OPS_RETURN_IF_ERROR(check.NotNull("self", self));
    OPS_RETURN_IF_ERROR(check.NotNull("mat2", mat2));
    OPS_RETURN_IF_ERROR(check.NotNull("out", out));
    OPS_RETURN_IF_ERROR(check.DType("self", self, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}));
    OPS_RETURN_IF_ERROR(check.SameDType("mat2", mat2, "self", self));
    OPS_RETURN_IF_ERROR(check.SameDType("out", out, "self", self));
    OPS_RETURN_IF_ERROR(check.Rank("self", self, {2}));
    OPS_RETURN_IF_ERROR(check.Rank("mat2", mat2, {2}));
    OPS_RETURN_IF_ERROR(check.Addressable("self", self));
    OPS_RETURN_IF_ERROR(check.Addressable("mat2", mat2));
    const ops::Shape &a = self->viewShape;
    const ops::Shape &b = mat2->viewShape;
    if (a[1] != b[0]) {
        return check.Fail(ACLNN_ERR_PARAM_INVALID, "mat2 has shape " + nnop::ToString(b) +
                                                       ", expected axis 0 to be axis 1 of self, " + std::to_string(a[1]) + ".");
    }
    OPS_RETURN_IF_ERROR(check.HasShape("out", out, {a[0], b[1]}, "[rows of self, columns of mat2]"));
    if (a[1] == 0 && !out->IsEmpty()) {
        return check.Fail(ACLNN_ERR_PARAM_INVALID,
                          "self has shape " + nnop::ToString(a) + ", expected at least one column.");
    }
    const bool fp16Math = cubeMathType == kUseFp16 && self->dataType != ACL_FLOAT16;
    if (cubeMathType < 0 || cubeMathType > kUseHf32 || fp16Math) {
        return check.Fail(ACLNN_ERR_PARAM_INVALID, "cubeMathType is " + std::to_string(cubeMathType) + ", expected 0, 1" +
                                                       (self->dataType == ACL_FLOAT16 ? ", 2" : "") + " or 3 for " +
                                                       nnop::ToString(self->dataType) + ".");
    }
    OPS_RETURN_IF_ERROR(check.Dense("out", out));
    OPS_RETURN_IF_ERROR(check.PublicFormat("self", self));
    OPS_RETURN_IF_ERROR(check.PublicFormat("mat2", mat2));
    return check.PublicFormat("out", out);
}

aclnnStatus Plan(const Checks &check, const aclTensor *self, const aclTensor *mat2, const aclTensor *out,
                 int8_t cubeMathType, uint64_t *workspaceSize, aclOpExecutor **executor)
{
    OPS_RETURN_IF_ERROR(Check(check, self, mat2, out, cubeMathType));
    nnop::Plan plan;
    plan.opName = kOp;
    if (out->IsEmpty()) {
        return nnop::Publish(std::move(plan), workspaceSize, executor);
    }
    const aclemu::Platform &platform = aclemu::CurrentPlatform();
    ops::MatmulArguments arguments{};
    arguments.m = static_cast<uint64_t>(self->viewShape[0]);
    arguments.k = static_cast<uint64_t>(self->viewShape[1]);
    arguments.n = static_cast<uint64_t>(mat2->viewShape[1]);
    arguments.elementBytes = static_cast<uint32_t>(nnop::TypeSize(self->dataType));
    arguments.hf32 =
        self->dataType == ACL_FLOAT && (cubeMathType == kAllowDownPrecision || cubeMathType == kUseHf32);
    const auto tiling = ops::TileMatmul(arguments, ops::ToTilingPlatform(platform));
    if (!tiling.error.empty()) {
        return check.Fail(ACLNN_ERR_INNER_NULLPTR, "tiling failed: " + tiling.error + ".");
    }
    const ascendc::KernelVariant *kernel =
        ascendc::FindKernel("matmul", ops::KernelDType(self->dataType), platform.npuArch);
    if (kernel == nullptr) {
        return check.Fail(ACLNN_ERR_INNER_NULLPTR, std::string("no kernel was built for ") + platform.soc + ".");
    }
    const ops::KernelLaunch launch{"matmul", ascendc::TaskType::AIC_ONLY, tiling.blockDim, tiling.key};
    ops::PlanKernel(&plan, {{"self", self, true}, {"mat2", mat2, true, true}, {"out", out, false}}, tiling.workspaceSize,
                    launch, ops::EntryCall<3>(kernel->entry), std::make_shared<MatmulTilingData>(tiling.data));
    return nnop::Publish(std::move(plan), workspaceSize, executor);
}

} // namespace

aclnnStatus aclnnMatmulGetWorkspaceSize(const aclTensor *self, const aclTensor *mat2, aclTensor *out, int8_t cubeMathType,
                                        uint64_t *workspaceSize, aclOpExecutor **executor)
{
    const Checks check(kOp);
    OPS_RETURN_IF_ERROR(check.NotNull("workspaceSize", workspaceSize));
    OPS_RETURN_IF_ERROR(check.NotNull("executor", executor));
    return ops::Guarded(check, [&] { return Plan(check, self, mat2, out, cubeMathType, workspaceSize, executor); });
}

aclnnStatus aclnnMatmul(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream)
{
    return nnop::Run(kOp, workspace, workspaceSize, executor, stream);
}
