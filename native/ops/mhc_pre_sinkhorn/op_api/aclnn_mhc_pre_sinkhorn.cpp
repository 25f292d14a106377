// The two C functions of MhcPreSinkhorn: checks in the documented order, the plan, the launch.
#include "aclnnop/aclnn_mhc_pre_sinkhorn.h"

#include "aclnn/opdev/op_errno.h"
#include "nnopbase/executor.h"
#include "ops/common/checks.h"
#include "ops/mhc_pre_sinkhorn/op_api/mhc_pre_sinkhorn_launch.h"
#include "runtime/platform.h"

namespace {

using ops::Checks;
using ops::MhcPreSinkhornTensors;
using ops::Shape;

constexpr const char *kOp = "aclnnMhcPreSinkhorn";
constexpr int64_t kHcMult = 4;
constexpr int64_t kNumIters = 20;
constexpr int64_t kTailStep = 128;
constexpr int64_t kTailLargest = 100000;

struct Attributes {
    int64_t hcMult;
    int64_t numIters;
};

aclnnStatus CheckNotNull(const Checks &check, const MhcPreSinkhornTensors &t)
{
    OPS_RETURN_IF_ERROR(check.NotNull("x", t.x));
    OPS_RETURN_IF_ERROR(check.NotNull("phi", t.phi));
    OPS_RETURN_IF_ERROR(check.NotNull("alpha", t.alpha));
    OPS_RETURN_IF_ERROR(check.NotNull("bias", t.bias));
    OPS_RETURN_IF_ERROR(check.NotNull("hin", t.hin));
    OPS_RETURN_IF_ERROR(check.NotNull("hPost", t.hPost));
    OPS_RETURN_IF_ERROR(check.NotNull("hRes", t.hRes));
    for (const auto &output : t.Backward()) {
        OPS_RETURN_IF_ERROR(check.NotNull(output.name, output.tensor));
    }
    return ACLNN_SUCCESS;
}

aclnnStatus CheckDTypes(const Checks &check, const MhcPreSinkhornTensors &t)
{
    OPS_RETURN_IF_ERROR(check.DType("x", t.x, {ACL_FLOAT16, ACL_BF16}));
    OPS_RETURN_IF_ERROR(check.DType("phi", t.phi, {ACL_FLOAT}));
    OPS_RETURN_IF_ERROR(check.DType("alpha", t.alpha, {ACL_FLOAT}));
    OPS_RETURN_IF_ERROR(check.DType("bias", t.bias, {ACL_FLOAT}));
    OPS_RETURN_IF_ERROR(check.DType("hin", t.hin, {ACL_FLOAT16, ACL_BF16}));
    OPS_RETURN_IF_ERROR(check.SameDType("hin", t.hin, "x", t.x));
    OPS_RETURN_IF_ERROR(check.DType("hPost", t.hPost, {ACL_FLOAT}));
    OPS_RETURN_IF_ERROR(check.DType("hRes", t.hRes, {ACL_FLOAT}));
    for (const auto &output : t.Backward()) {
        OPS_RETURN_IF_ERROR(check.DType(output.name, output.tensor, {ACL_FLOAT}));
    }
    return ACLNN_SUCCESS;
}

aclnnStatus CheckShapes(const Checks &check, const MhcPreSinkhornTensors &t, const Attributes &attributes)
{
    const aclemu::Platform &platform = aclemu::CurrentPlatform();
    const Shape &x = t.x->viewShape;
    if (x.size() == 3 && !ops::On950()) {
        return check.Fail(ACLNN_ERR_PARAM_INVALID,
                          "x has 3 dimensions, shape " + nnop::ToString(x) + ", expected 4 on " + platform.soc +
                              ": the TND layout is supported on Ascend 950 only.");
    }
    OPS_RETURN_IF_ERROR(check.Rank("x", t.x, {3, 4}));
    OPS_RETURN_IF_ERROR(check.Addressable("x", t.x));
    OPS_RETURN_IF_ERROR(check.Equals("hcMult", attributes.hcMult, kHcMult));
    const int64_t n = attributes.hcMult;
    const int64_t c = x.back();
    if (x[x.size() - 2] != n) {
        return check.Fail(ACLNN_ERR_PARAM_INVALID, "x has shape " + nnop::ToString(x) + ", expected axis " +
                                                       std::to_string(x.size() - 2) + " to be hcMult = " +
                                                       std::to_string(n) + ", got " + std::to_string(x[x.size() - 2]) +
                                                       ".");
    }
    OPS_RETURN_IF_ERROR(check.Equals("numIters", attributes.numIters, kNumIters));

    const auto around = [&x](const Shape &before, const Shape &after) { return ops::AroundTokens(x, before, after); };
    const int64_t mix = n * n + 2 * n;
    OPS_RETURN_IF_ERROR(check.HasShape("hin", t.hin, around({}, {c}), "the token axes of x, then c"));
    OPS_RETURN_IF_ERROR(check.Rank("phi", t.phi, {2}));
    OPS_RETURN_IF_ERROR(check.HasShape("phi", t.phi, {mix, n * c}, "[n*n + 2n, n*c]"));
    OPS_RETURN_IF_ERROR(check.HasShape("alpha", t.alpha, {3}, "[3]"));
    OPS_RETURN_IF_ERROR(check.HasShape("bias", t.bias, {mix}, "[n*n + 2n]"));
    OPS_RETURN_IF_ERROR(check.HasShape("hPost", t.hPost, around({}, {n}), "the token axes of x, then n"));
    OPS_RETURN_IF_ERROR(check.HasShape("hRes", t.hRes, around({}, {n * n}), "the token axes of x, then n*n"));
    if (t.needBackward) {
        const int64_t slots = 2 * attributes.numIters;
        OPS_RETURN_IF_ERROR(check.HasShape("hPre", t.hPre, around({}, {n}), "the token axes of x, then n"));
        OPS_RETURN_IF_ERROR(
            check.HasShape("hcBeforeNorm", t.hcBeforeNorm, around({}, {mix}), "the token axes of x, then n*n + 2n"));
        OPS_RETURN_IF_ERROR(check.HasShape("invRms", t.invRms, around({}, {1}), "the token axes of x, then 1"));
        OPS_RETURN_IF_ERROR(
            check.HasShape("sumOut", t.sumOut, around({slots}, {n}), "2*numIters, the token axes of x, then n"));
        OPS_RETURN_IF_ERROR(
            check.HasShape("normOut", t.normOut, around({slots}, {n, n}), "2*numIters, the token axes of x, then n, n"));
    }
    return ACLNN_SUCCESS;
}

// The kernel writes the outputs as if they were dense, and no copy follows it.
aclnnStatus CheckDenseOutputs(const Checks &check, const MhcPreSinkhornTensors &t)
{
    OPS_RETURN_IF_ERROR(check.Dense("hin", t.hin));
    OPS_RETURN_IF_ERROR(check.Dense("hPost", t.hPost));
    OPS_RETURN_IF_ERROR(check.Dense("hRes", t.hRes));
    for (const auto &output : t.Backward()) {
        OPS_RETURN_IF_ERROR(check.Dense(output.name, output.tensor));
    }
    return ACLNN_SUCCESS;
}

aclnnStatus CheckFormats(const Checks &check, const MhcPreSinkhornTensors &t)
{
    for (const auto &tensor : t.All()) {
        OPS_RETURN_IF_ERROR(check.PublicFormat(tensor.name, tensor.tensor));
    }
    return ACLNN_SUCCESS;
}

aclnnStatus CheckTail(const Checks &check, const MhcPreSinkhornTensors &t)
{
    const aclemu::Platform &platform = aclemu::CurrentPlatform();
    const int64_t c = t.x->viewShape.back();
    if (ops::On950()) {
        if (c != 4096 && c != 7168) {
            return check.Fail(ACLNN_ERR_PARAM_INVALID, "x has tail axis c = " + std::to_string(c) +
                                                           ", expected 4096 or 7168 on " + platform.soc + ".");
        }
    } else if (c % kTailStep != 0 || c > kTailLargest) {
        return check.Fail(ACLNN_ERR_PARAM_INVALID, "x has tail axis c = " + std::to_string(c) +
                                                       ", expected a multiple of 128 in [1, 100000] on " + platform.soc +
                                                       ".");
    }
    return ACLNN_SUCCESS;
}

aclnnStatus PlanChecked(const Checks &check, const MhcPreSinkhornTensors &tensors, const Attributes &attributes,
                        double hcEps, double normEps, uint64_t *workspaceSize, aclOpExecutor **executor)
{
    OPS_RETURN_IF_ERROR(CheckNotNull(check, tensors));
    OPS_RETURN_IF_ERROR(CheckDTypes(check, tensors));
    OPS_RETURN_IF_ERROR(CheckShapes(check, tensors, attributes));
    OPS_RETURN_IF_ERROR(CheckDenseOutputs(check, tensors));
    OPS_RETURN_IF_ERROR(CheckFormats(check, tensors));

    if (tensors.x->IsEmpty() || tensors.hin->IsEmpty() || tensors.hPost->IsEmpty() || tensors.hRes->IsEmpty()) {
        nnop::Plan nothing;
        nothing.opName = kOp;
        return nnop::Publish(std::move(nothing), workspaceSize, executor);
    }
    OPS_RETURN_IF_ERROR(CheckTail(check, tensors));

    nnop::Plan plan;
    std::string error;
    if (!ops::PlanMhcPreSinkhorn(kOp, tensors, static_cast<uint32_t>(attributes.numIters), hcEps, normEps, &plan, &error)) {
        return check.Fail(ACLNN_ERR_INNER_NULLPTR, "tiling failed: " + error + ".");
    }
    return nnop::Publish(std::move(plan), workspaceSize, executor);
}

} // namespace

aclnnStatus aclnnMhcPreSinkhornGetWorkspaceSize(
    const aclTensor *x, const aclTensor *phi, const aclTensor *alpha, const aclTensor *bias, int64_t hcMult,
    int64_t numIters, double hcEps, double normEps, bool needBackward, aclTensor *hin, aclTensor *hPost, aclTensor *hRes,
    aclTensor *hPre, aclTensor *hcBeforeNorm, aclTensor *invRms, aclTensor *sumOut, aclTensor *normOut,
    uint64_t *workspaceSize, aclOpExecutor **executor)
{
    const Checks check(kOp);
    OPS_RETURN_IF_ERROR(check.NotNull("workspaceSize", workspaceSize));
    OPS_RETURN_IF_ERROR(check.NotNull("executor", executor));

    MhcPreSinkhornTensors tensors{x, phi, alpha, bias, hin, hPost, hRes};
    tensors.needBackward = needBackward;
    if (needBackward) {
        tensors.hPre = hPre;
        tensors.hcBeforeNorm = hcBeforeNorm;
        tensors.invRms = invRms;
        tensors.sumOut = sumOut;
        tensors.normOut = normOut;
    }
    return ops::Guarded(check, [&] { return PlanChecked(check, tensors, {hcMult, numIters}, hcEps, normEps, workspaceSize,
                                                        executor); });
}

aclnnStatus aclnnMhcPreSinkhorn(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream)
{
    return nnop::Run(kOp, workspace, workspaceSize, executor, stream);
}
