// The two C functions of MhcPreSinkhornBackward: checks in the documented order, the plan, the launch.
#include "aclnnop/aclnn_mhc_pre_sinkhorn_backward.h"

#include "aclnn/opdev/op_errno.h"
#include "nnopbase/executor.h"
#include "ops/common/checks.h"
#include "ops/mhc_pre_sinkhorn_backward/op_api/mhc_pre_sinkhorn_backward_launch.h"
#include "runtime/platform.h"

namespace {

using ops::Checks;
using ops::MhcPreSinkhornBackwardTensors;
using ops::Shape;

constexpr const char *kOp = "aclnnMhcPreSinkhornBackward";
constexpr int64_t kStreams = 4;           // n on A2 and A3
constexpr int64_t kMostStreams950 = 8;
constexpr int64_t kTailStep = 128;
constexpr int64_t kTailLimit = 100000;

aclnnStatus CheckNotNull(const Checks &check, const MhcPreSinkhornBackwardTensors &t)
{
    for (const auto &tensor : t.All()) {
        OPS_RETURN_IF_ERROR(check.NotNull(tensor.name, tensor.tensor));
    }
    return ACLNN_SUCCESS;
}

// The tensors that have an axis of tokens or of x's tail.
bool NothingToDo(const MhcPreSinkhornBackwardTensors &t)
{
    for (const aclTensor *tensor :
         {t.gradHin, t.gradHPost, t.gradHRes, t.x, t.hPre, t.hcBeforeNorm, t.invRms, t.sumOut, t.normOut}) {
        if (tensor->IsEmpty()) {
            return true;
        }
    }
    return false;
}

aclnnStatus CheckRanks(const Checks &check, const MhcPreSinkhornBackwardTensors &t)
{
    const aclemu::Platform &platform = aclemu::CurrentPlatform();
    const Shape &x = t.x->viewShape;
    if (x.size() == 3 && !ops::On950()) {
        return check.Fail(ACLNN_ERR_PARAM_INVALID,
                          "x has 3 dimensions, shape " + nnop::ToString(x) + ", expected 4 on " + platform.soc +
                              ": the TND layout is supported on Ascend 950 only.");
    }
    OPS_RETURN_IF_ERROR(check.Rank("x", t.x, {3, 4}));
    const size_t tokenAxes = x.size() - 2;
    OPS_RETURN_IF_ERROR(check.Rank("gradHin", t.gradHin, {tokenAxes + 1}));
    OPS_RETURN_IF_ERROR(check.Rank("gradHPost", t.gradHPost, {tokenAxes + 1}));
    OPS_RETURN_IF_ERROR(check.Rank("gradHRes", t.gradHRes, {tokenAxes + 1, tokenAxes + 2}));
    OPS_RETURN_IF_ERROR(check.Rank("phi", t.phi, {2}));
    OPS_RETURN_IF_ERROR(check.Rank("alpha", t.alpha, {1}));
    OPS_RETURN_IF_ERROR(check.Rank("bias", t.bias, {1}));
    OPS_RETURN_IF_ERROR(check.Rank("hPre", t.hPre, {tokenAxes + 1}));
    OPS_RETURN_IF_ERROR(check.Rank("hcBeforeNorm", t.hcBeforeNorm, {tokenAxes + 1}));
    OPS_RETURN_IF_ERROR(check.Rank("invRms", t.invRms, {tokenAxes + 1}));
    OPS_RETURN_IF_ERROR(check.Rank("sumOut", t.sumOut, {tokenAxes + 2}));
    OPS_RETURN_IF_ERROR(check.Rank("normOut", t.normOut, {tokenAxes + 3}));
    OPS_RETURN_IF_ERROR(check.Rank("gradX", t.gradX, {x.size()}));
    OPS_RETURN_IF_ERROR(check.Rank("gradPhi", t.gradPhi, {2}));
    OPS_RETURN_IF_ERROR(check.Rank("gradAlpha", t.gradAlpha, {1}));
    return check.Rank("gradBias", t.gradBias, {1});
}

aclnnStatus CheckShapes(const Checks &check, const MhcPreSinkhornBackwardTensors &t)
{
    const Shape &x = t.x->viewShape;
    OPS_RETURN_IF_ERROR(check.Addressable("x", t.x));
    const int64_t n = x[x.size() - 2];
    const int64_t c = x.back();
    // Unsigned: an n whose square leaves the range matches no tensor, and is refused in the end at the latest.
    const int64_t square = static_cast<int64_t>(static_cast<uint64_t>(n) * static_cast<uint64_t>(n));
    const int64_t mix = static_cast<int64_t>(static_cast<uint64_t>(square) + 2 * static_cast<uint64_t>(n));
    const int64_t slots = t.sumOut->viewShape[0];

    const auto around = [&x](const Shape &before, const Shape &after) { return ops::AroundTokens(x, before, after); };
    OPS_RETURN_IF_ERROR(check.HasShape("gradHin", t.gradHin, around({}, {c}), "the token axes of x, then c"));
    OPS_RETURN_IF_ERROR(check.HasShape("gradHPost", t.gradHPost, around({}, {n}), "the token axes of x, then n"));
    if (t.gradHRes->viewShape.size() == x.size()) {
        OPS_RETURN_IF_ERROR(check.HasShape("gradHRes", t.gradHRes, around({}, {n, n}), "the token axes of x, then n, n"));
    } else {
        OPS_RETURN_IF_ERROR(check.HasShape("gradHRes", t.gradHRes, around({}, {square}), "the token axes of x, then n*n"));
    }
    OPS_RETURN_IF_ERROR(check.HasShape("phi", t.phi, {mix, n * c}, "[n*n + 2n, n*c]"));
    OPS_RETURN_IF_ERROR(check.HasShape("alpha", t.alpha, {3}, "[3]"));
    OPS_RETURN_IF_ERROR(check.HasShape("bias", t.bias, {mix}, "[n*n + 2n]"));
    OPS_RETURN_IF_ERROR(check.HasShape("hPre", t.hPre, around({}, {n}), "the token axes of x, then n"));
    OPS_RETURN_IF_ERROR(
        check.HasShape("hcBeforeNorm", t.hcBeforeNorm, around({}, {mix}), "the token axes of x, then n*n + 2n"));
    OPS_RETURN_IF_ERROR(check.HasShape("invRms", t.invRms, around({}, {1}), "the token axes of x, then 1"));
    if (slots < 2 || slots % 2 != 0) {
        return check.Fail(ACLNN_ERR_PARAM_INVALID, "sumOut has shape " + nnop::ToString(t.sumOut->viewShape) +
                                                       ", expected axis 0 to be 2*numIters, two slots per iteration, got " +
                                                       std::to_string(slots) + ".");
    }
    OPS_RETURN_IF_ERROR(
        check.HasShape("sumOut", t.sumOut, around({slots}, {n}), "2*numIters, the token axes of x, then n"));
    OPS_RETURN_IF_ERROR(
        check.HasShape("normOut", t.normOut, around({slots}, {n, n}), "axis 0 of sumOut, the token axes of x, then n, n"));
    OPS_RETURN_IF_ERROR(check.Addressable("normOut", t.normOut));
    OPS_RETURN_IF_ERROR(check.HasShape("gradX", t.gradX, x, "the shape of x"));
    OPS_RETURN_IF_ERROR(check.HasShape("gradPhi", t.gradPhi, {mix, n * c}, "the shape of phi"));
    OPS_RETURN_IF_ERROR(check.HasShape("gradAlpha", t.gradAlpha, {3}, "[3]"));
    return check.HasShape("gradBias", t.gradBias, {mix}, "the shape of bias");
}

aclnnStatus CheckDTypes(const Checks &check, const MhcPreSinkhornBackwardTensors &t)
{
    for (const auto &tensor : t.All()) {
        const bool narrow = tensor.tensor == t.gradHin || tensor.tensor == t.x || tensor.tensor == t.gradX;
        OPS_RETURN_IF_ERROR(narrow ? check.DType(tensor.name, tensor.tensor, {ACL_FLOAT16, ACL_BF16})
                                   : check.DType(tensor.name, tensor.tensor, {ACL_FLOAT}));
        if (tensor.tensor == t.x) {
            OPS_RETURN_IF_ERROR(check.SameDType("x", t.x, "gradHin", t.gradHin));
        } else if (tensor.tensor == t.gradX) {
            OPS_RETURN_IF_ERROR(check.SameDType("gradX", t.gradX, "x", t.x));
        }
    }
    return ACLNN_SUCCESS;
}

aclnnStatus CheckFormats(const Checks &check, const MhcPreSinkhornBackwardTensors &t)
{
    for (const auto &tensor : t.All()) {
        OPS_RETURN_IF_ERROR(check.PublicFormat(tensor.name, tensor.tensor));
    }
    return ACLNN_SUCCESS;
}

aclnnStatus CheckLimits(const Checks &check, const MhcPreSinkhornBackwardTensors &t)
{
    const aclemu::Platform &platform = aclemu::CurrentPlatform();
    const Shape &x = t.x->viewShape;
    const int64_t n = x[x.size() - 2];
    const int64_t c = x.back();
    if (ops::On950() ? n > kMostStreams950 : n != kStreams) {
        return check.Fail(ACLNN_ERR_PARAM_INVALID,
                          "x has n = " + std::to_string(n) + " streams, expected " +
                              (ops::On950() ? "1 to 8" : "4") + " on " + platform.soc + ".");
    }
    if (c % kTailStep != 0 || c >= kTailLimit) {
        return check.Fail(ACLNN_ERR_PARAM_INVALID, "x has tail axis c = " + std::to_string(c) +
                                                       ", expected a multiple of 128 in [128, 100000).");
    }
    return ACLNN_SUCCESS;
}

aclnnStatus PlanChecked(const Checks &check, const MhcPreSinkhornBackwardTensors &tensors, double hcEps,
                        uint64_t *workspaceSize, aclOpExecutor **executor)
{
    OPS_RETURN_IF_ERROR(CheckNotNull(check, tensors));
    nnop::Plan plan;
    if (NothingToDo(tensors)) {
        plan.opName = kOp;
        return nnop::Publish(std::move(plan), workspaceSize, executor);
    }
    OPS_RETURN_IF_ERROR(CheckRanks(check, tensors));
    OPS_RETURN_IF_ERROR(CheckShapes(check, tensors));
    OPS_RETURN_IF_ERROR(CheckDTypes(check, tensors));
    OPS_RETURN_IF_ERROR(CheckFormats(check, tensors));
    OPS_RETURN_IF_ERROR(CheckLimits(check, tensors));

    std::string error;
    if (!ops::PlanMhcPreSinkhornBackward(kOp, tensors, hcEps, &plan, &error)) {
        return check.Fail(ACLNN_ERR_INNER_NULLPTR, "tiling failed: " + error + ".");
    }
    return nnop::Publish(std::move(plan), workspaceSize, executor);
}

} // namespace

aclnnStatus aclnnMhcPreSinkhornBackwardGetWorkspaceSize(
    const aclTensor *gradHin, const aclTensor *gradHPost, const aclTensor *gradHRes, const aclTensor *x,
    const aclTensor *phi, const aclTensor *alpha, const aclTensor *bias, const aclTensor *hPre,
    const aclTensor *hcBeforeNorm, const aclTensor *invRms, const aclTensor *sumOut, const aclTensor *normOut,
    double hcEps, aclTensor *gradX, aclTensor *gradPhi, aclTensor *gradAlpha, aclTensor *gradBias,
    uint64_t *workspaceSize, aclOpExecutor **executor)
{
    const Checks check(kOp);
    OPS_RETURN_IF_ERROR(check.NotNull("workspaceSize", workspaceSize));
    OPS_RETURN_IF_ERROR(check.NotNull("executor", executor));
    const MhcPreSinkhornBackwardTensors tensors{gradHin, gradHPost,    gradHRes, x,      phi,     alpha, bias,      hPre,
                                                hcBeforeNorm, invRms, sumOut,   normOut, gradX, gradPhi, gradAlpha, gradBias};
    return ops::Guarded(check, [&] { return PlanChecked(check, tensors, hcEps, workspaceSize, executor); });
}

aclnnStatus aclnnMhcPreSinkhornBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream)
{
    return nnop::Run(kOp, workspace, workspaceSize, executor, stream);
}
