// The two C functions of MhcPost: checks in the documented order, the plan, the launch.
#include "aclnnop/aclnn_mhc_post.h"

#include "aclnn/opdev/op_errno.h"
#include "ascendc/twin/registry.h"
#include "ops/common/checks.h"
#include "ops/common/kernel_plan.h"
#include "ops/mhc_common/op_host/mhc_post_tiling.h"

namespace {

using ops::Checks;
using ops::Shape;

constexpr const char *kOp = "aclnnMhcPost";
constexpr int64_t kStreams = 4; // off 950
constexpr int64_t kTailStep = 128;
constexpr int64_t kTailLimit = 100000; // itself refused
constexpr aclnnStatus kRuntimeError = 361001; // ACLNN_ERR_RUNTIME_ERROR

struct Tensors {
    const aclTensor *x;
    const aclTensor *hRes; // nullptr: the identity
    const aclTensor *hOut;
    const aclTensor *hPost;
    const aclTensor *out;
};

aclnnStatus CheckNotNull(const Checks &check, const Tensors &t)
{
    if (t.hRes == nullptr && !ops::On950()) {
        return check.Fail(kRuntimeError, std::string("hRes is nullptr, expected a tensor on ") +
                                             aclemu::CurrentPlatform().soc +
                                             ": the identity in its place is supported on Ascend 950 only.");
    }
    OPS_RETURN_IF_ERROR(check.NotNull("x", t.x));
    if (t.hRes != nullptr) {
        OPS_RETURN_IF_ERROR(check.NotNull("hRes", t.hRes));
    }
    OPS_RETURN_IF_ERROR(check.NotNull("hOut", t.hOut));
    OPS_RETURN_IF_ERROR(check.NotNull("hPost", t.hPost));
    return check.NotNull("out", t.out);
}

aclnnStatus CheckDTypes(const Checks &check, const Tensors &t)
{
    OPS_RETURN_IF_ERROR(check.DType("x", t.x, {ACL_FLOAT16, ACL_BF16}));
    if (t.hRes != nullptr) {
        OPS_RETURN_IF_ERROR(check.DType("hRes", t.hRes, {ACL_FLOAT}));
    }
    OPS_RETURN_IF_ERROR(check.SameDType("hOut", t.hOut, "x", t.x));
    OPS_RETURN_IF_ERROR(check.DType("hPost", t.hPost, {ACL_FLOAT}));
    return check.SameDType("out", t.out, "x", t.x);
}

aclnnStatus CheckShapes(const Checks &check, const Tensors &t)
{
    OPS_RETURN_IF_ERROR(check.Rank("x", t.x, {3, 4}));
    const Shape &x = t.x->viewShape;
    if (t.hRes != nullptr) {
        OPS_RETURN_IF_ERROR(check.Rank("hRes", t.hRes, {x.size()}));
    }
    OPS_RETURN_IF_ERROR(check.Rank("hOut", t.hOut, {x.size() - 1}));
    OPS_RETURN_IF_ERROR(check.Rank("hPost", t.hPost, {x.size() - 1}));
    OPS_RETURN_IF_ERROR(check.Rank("out", t.out, {x.size()}));

    OPS_RETURN_IF_ERROR(check.Addressable("x", t.x));
    const int64_t n = x[x.size() - 2];
    const auto behind = [&x](const Shape &last) { return ops::AroundTokens(x, {}, last); };
    if (t.hRes != nullptr) {
        OPS_RETURN_IF_ERROR(check.HasShape("hRes", t.hRes, behind({n, n}), "the token axes of x, then n, n"));
    }
    OPS_RETURN_IF_ERROR(check.HasShape("hOut", t.hOut, behind({x.back()}), "the token axes of x, then D"));
    OPS_RETURN_IF_ERROR(check.HasShape("hPost", t.hPost, behind({n}), "the token axes of x, then n"));
    return check.HasShape("out", t.out, x, "the shape of x");
}

// What the source refuses while it tiles.
aclnnStatus CheckLimits(const Checks &check, const Tensors &t)
{
    if (ops::On950()) {
        return ACLNN_SUCCESS;
    }
    const char *soc = aclemu::CurrentPlatform().soc;
    const Shape &x = t.x->viewShape;
    const int64_t n = x[x.size() - 2];
    const int64_t tail = x.back();
    if (n != kStreams) {
        return check.Fail(ACLNN_ERR_INNER_NULLPTR, "tiling failed: x has n = " + std::to_string(n) +
                                                       " streams, expected 4 on " + soc + ".");
    }
    if (tail % kTailStep != 0 || tail >= kTailLimit) {
        return check.Fail(ACLNN_ERR_INNER_NULLPTR, "tiling failed: x has tail axis D = " + std::to_string(tail) +
                                                       ", expected a multiple of 128 below 100000 on " + soc + ".");
    }
    return ACLNN_SUCCESS;
}

aclnnStatus PlanChecked(const Checks &check, const Tensors &t, uint64_t *workspaceSize, aclOpExecutor **executor)
{
    OPS_RETURN_IF_ERROR(CheckNotNull(check, t));
    OPS_RETURN_IF_ERROR(check.PublicFormat("x", t.x));
    OPS_RETURN_IF_ERROR(check.PublicFormat("out", t.out));
    OPS_RETURN_IF_ERROR(CheckDTypes(check, t));
    OPS_RETURN_IF_ERROR(CheckShapes(check, t));

    nnop::Plan plan;
    plan.opName = kOp;
    if (t.x->IsEmpty() || t.hOut->IsEmpty() || t.hPost->IsEmpty() || (t.hRes != nullptr && t.hRes->IsEmpty())) {
        return nnop::Publish(std::move(plan), workspaceSize, executor);
    }
    OPS_RETURN_IF_ERROR(CheckLimits(check, t));

    const Shape &x = t.x->viewShape;
    ops::MhcPostArguments arguments{};
    arguments.streams = static_cast<uint64_t>(x[x.size() - 2]);
    arguments.tail = static_cast<uint64_t>(x.back());
    arguments.tokens = static_cast<uint64_t>(t.x->Size()) / (arguments.streams * arguments.tail);
    arguments.xBytes = nnop::TypeSize(t.x->dataType);
    arguments.coefficientBytes = sizeof(float);
    arguments.mixed = t.hRes != nullptr;
    arguments.key = ops::ForcedTilingKey();
    const aclemu::Platform &platform = aclemu::CurrentPlatform();
    const auto tiling = ops::TileMhcPost(arguments, ops::ToTilingPlatform(platform));
    if (!tiling.error.empty()) {
        return check.Fail(ACLNN_ERR_INNER_NULLPTR, "tiling failed for x: " + tiling.error + ".");
    }
    const ascendc::KernelVariant *kernel =
        ascendc::FindKernel("mhc_post", ops::KernelDType(t.x->dataType), platform.npuArch);
    if (kernel == nullptr) {
        return check.Fail(ACLNN_ERR_INNER_NULLPTR, "no kernel was built for " + nnop::ToString(t.x->dataType) + " on " +
                                                       platform.soc + ".");
    }
    const ops::KernelLaunch launch{"mhc_post", ascendc::TaskType::AIV_ONLY, tiling.blockDim, tiling.key};
    ops::PlanKernel(&plan,
                    {{"x", t.x, true},
                     {"hRes", t.hRes, true},
                     {"hOut", t.hOut, true},
                     {"hPost", t.hPost, true},
                     {"out", t.out, false}},
                    tiling.workspaceSize, launch, ops::EntryCall<5>(kernel->entry),
                    std::make_shared<MhcPostTilingData>(tiling.data));
    return nnop::Publish(std::move(plan), workspaceSize, executor);
}

} // namespace

aclnnStatus aclnnMhcPostGetWorkspaceSize(const aclTensor *x, const aclTensor *hRes, const aclTensor *hOut,
                                         const aclTensor *hPost, aclTensor *out, uint64_t *workspaceSize,
                                         aclOpExecutor **executor)
{
    const Checks check(kOp);
    OPS_RETURN_IF_ERROR(check.NotNull("workspaceSize", workspaceSize));
    OPS_RETURN_IF_ERROR(check.NotNull("executor", executor));
    return ops::Guarded(check, [&] { return PlanChecked(check, {x, hRes, hOut, hPost, out}, workspaceSize, executor); });
}

aclnnStatus aclnnMhcPost(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream)
{
    return nnop::Run(kOp, workspace, workspaceSize, executor, stream, ACLNN_ERR_INNER);
}
