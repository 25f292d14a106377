// The two C functions of MhcPostBackward: checks in the documented order, the plan, the launch.
#include "aclnnop/aclnn_mhc_post_backward.h"

#include <vector>

#include "aclnn/opdev/op_errno.h"
#include "ascendc/twin/registry.h"
#include "ops/common/checks.h"
#include "ops/common/kernel_plan.h"
#include "ops/mhc_post_backward/op_host/mhc_post_backward_tiling.h"

namespace {

using ops::Checks;
using ops::Shape;

constexpr const char *kOp = "aclnnMhcPostBackward";
constexpr int64_t kTailStep = 128;
constexpr int64_t kTailLargest = 100000;

struct Tensors {
    const aclTensor *gradOutput;
    const aclTensor *x;
    const aclTensor *hRes; // nullptr: the identity
    const aclTensor *hOut;
    const aclTensor *hPost;
    const aclTensor *gradX;
    const aclTensor *gradHres;
    const aclTensor *gradHout;
    const aclTensor *gradHpost;
};

struct Named {
    const char *name;
    const aclTensor *tensor;
};

// Those that are given, in the order of the prototype; inputs first.
std::vector<Named> Given(const Tensors &t, bool outputs)
{
    std::vector<Named> given{{"gradOutput", t.gradOutput}, {"x", t.x}};
    if (t.hRes != nullptr) {
        given.push_back({"hRes", t.hRes});
    }
    given.insert(given.end(), {{"hOut", t.hOut}, {"hPost", t.hPost}});
    if (outputs) {
        given.insert(given.end(), {{"gradX", t.gradX},
                                   {"gradHres", t.gradHres},
                                   {"gradHout", t.gradHout},
                                   {"gradHpost", t.gradHpost}});
    }
    return given;
}

aclnnStatus CheckNotNull(const Checks &check, const Tensors &t)
{
    OPS_RETURN_IF_ERROR(check.NotNull("gradOutput", t.gradOutput));
    OPS_RETURN_IF_ERROR(check.NotNull("x", t.x));
    if (t.hRes == nullptr && !ops::On950()) {
        return check.Fail(ACLNN_ERR_PARAM_NULLPTR,
                          std::string("hRes is nullptr, expected a valid pointer on ") + aclemu::CurrentPlatform().soc +
                              ": the identity in its place is supported on Ascend 950 only.");
    }
    for (const Named &given : Given(t, true)) {
        OPS_RETURN_IF_ERROR(check.NotNull(given.name, given.tensor));
    }
    return ACLNN_SUCCESS;
}

aclnnStatus CheckDTypes(const Checks &check, const Tensors &t)
{
    OPS_RETURN_IF_ERROR(check.DType("gradOutput", t.gradOutput, {ACL_FLOAT16, ACL_BF16}));
    OPS_RETURN_IF_ERROR(check.DType("x", t.x, {ACL_FLOAT16, ACL_BF16}));
    OPS_RETURN_IF_ERROR(check.SameDType("x", t.x, "gradOutput", t.gradOutput));
    if (t.hRes != nullptr) {
        OPS_RETURN_IF_ERROR(check.DType("hRes", t.hRes, {ACL_FLOAT}));
    }
    OPS_RETURN_IF_ERROR(check.DType("hOut", t.hOut, {ACL_FLOAT16, ACL_BF16}));
    OPS_RETURN_IF_ERROR(check.SameDType("hOut", t.hOut, "x", t.x));
    OPS_RETURN_IF_ERROR(check.DType("hPost", t.hPost, {ACL_FLOAT}));
    OPS_RETURN_IF_ERROR(check.SameDType("gradX", t.gradX, "x", t.x));
    OPS_RETURN_IF_ERROR(check.DType("gradHres", t.gradHres, {ACL_FLOAT}));
    OPS_RETURN_IF_ERROR(check.SameDType("gradHout", t.gradHout, "hOut", t.hOut));
    return check.DType("gradHpost", t.gradHpost, {ACL_FLOAT});
}

aclnnStatus CheckSizes(const Checks &check, const Shape &x)
{
    const int64_t n = x[x.size() - 2];
    const int64_t tail = x.back();
    const bool known = n == 4 || (ops::On950() && (n == 6 || n == 8));
    if (!known) {
        return check.Fail(ACLNN_ERR_PARAM_INVALID, "x has n = " + std::to_string(n) + " streams, expected " +
                                                       (ops::On950() ? "4, 6 or 8" : "4") + " on " +
                                                       aclemu::CurrentPlatform().soc + ".");
    }
    if (tail % kTailStep != 0 || tail > kTailLargest) {
        return check.Fail(ACLNN_ERR_PARAM_INVALID, "x has tail axis D = " + std::to_string(tail) +
                                                       ", expected a multiple of 128 up to 100000.");
    }
    return ACLNN_SUCCESS;
}

aclnnStatus CheckShapes(const Checks &check, const Tensors &t)
{
    OPS_RETURN_IF_ERROR(check.Rank("x", t.x, {3, 4}));
    OPS_RETURN_IF_ERROR(check.Addressable("x", t.x));
    const Shape &x = t.x->viewShape;
    OPS_RETURN_IF_ERROR(CheckSizes(check, x));
    const size_t rank = x.size();
    for (const Named &given : Given(t, true)) {
        const bool shorter = given.tensor == t.hOut || given.tensor == t.hPost || given.tensor == t.gradHout ||
                             given.tensor == t.gradHpost;
        OPS_RETURN_IF_ERROR(check.Rank(given.name, given.tensor, {shorter ? rank - 1 : rank}));
    }
    const auto behind = [&x](const Shape &last) { return ops::AroundTokens(x, {}, last); };
    const int64_t n = x[rank - 2];
    OPS_RETURN_IF_ERROR(check.HasShape("gradOutput", t.gradOutput, x, "the shape of x"));
    if (t.hRes != nullptr) {
        OPS_RETURN_IF_ERROR(check.HasShape("hRes", t.hRes, behind({n, n}), "the token axes of x, then n, n"));
    }
    OPS_RETURN_IF_ERROR(check.HasShape("hOut", t.hOut, behind({x.back()}), "the token axes of x, then D"));
    OPS_RETURN_IF_ERROR(check.HasShape("hPost", t.hPost, behind({n}), "the token axes of x, then n"));
    OPS_RETURN_IF_ERROR(check.HasShape("gradX", t.gradX, x, "the shape of x"));
    OPS_RETURN_IF_ERROR(check.HasShape("gradHres", t.gradHres, behind({n, n}), "the token axes of x, then n, n"));
    OPS_RETURN_IF_ERROR(check.HasShape("gradHout", t.gradHout, behind({x.back()}), "the token axes of x, then D"));
    return check.HasShape("gradHpost", t.gradHpost, behind({n}), "the token axes of x, then n");
}

aclnnStatus PlanChecked(const Checks &check, const Tensors &t, uint64_t *workspaceSize, aclOpExecutor **executor)
{
    OPS_RETURN_IF_ERROR(CheckNotNull(check, t));
    for (const Named &input : Given(t, false)) {
        OPS_RETURN_IF_ERROR(check.NotEmpty(input.name, input.tensor));
    }
    for (const Named &given : Given(t, true)) {
        OPS_RETURN_IF_ERROR(check.PublicFormat(given.name, given.tensor));
    }
    OPS_RETURN_IF_ERROR(CheckDTypes(check, t));
    OPS_RETURN_IF_ERROR(CheckShapes(check, t));

    const Shape &x = t.x->viewShape;
    ops::MhcPostBackwardArguments arguments{};
    arguments.streams = static_cast<uint64_t>(x[x.size() - 2]);
    arguments.tail = static_cast<uint64_t>(x.back());
    arguments.tokens = static_cast<uint64_t>(t.x->Size()) / (arguments.streams * arguments.tail);
    arguments.bytes = nnop::TypeSize(t.x->dataType);
    arguments.mixed = t.hRes != nullptr;
    arguments.key = ops::ForcedTilingKey();
    const aclemu::Platform &platform = aclemu::CurrentPlatform();
    const auto tiling = ops::TileMhcPostBackward(arguments, ops::ToTilingPlatform(platform));
    if (!tiling.error.empty()) {
        return check.Fail(ACLNN_ERR_INNER_NULLPTR, "tiling failed for x: " + tiling.error + ".");
    }
    const ascendc::KernelVariant *kernel =
        ascendc::FindKernel("mhc_post_backward", ops::KernelDType(t.x->dataType), platform.npuArch);
    if (kernel == nullptr) {
        return check.Fail(ACLNN_ERR_INNER_NULLPTR, "no kernel was built for " + nnop::ToString(t.x->dataType) + " on " +
                                                       platform.soc + ".");
    }
    nnop::Plan plan;
    plan.opName = kOp;
    const ops::KernelLaunch launch{"mhc_post_backward", ascendc::TaskType::AIV_ONLY, tiling.blockDim, tiling.key};
    ops::PlanKernel(&plan,
                    {{"gradOutput", t.gradOutput, true},
                     {"x", t.x, true},
                     {"hRes", t.hRes, true},
                     {"hOut", t.hOut, true},
                     {"hPost", t.hPost, true},
                     {"gradX", t.gradX, false},
                     {"gradHres", t.gradHres, false},
                     {"gradHout", t.gradHout, false},
                     {"gradHpost", t.gradHpost, false}},
                    tiling.workspaceSize, launch, ops::EntryCall<9>(kernel->entry),
                    std::make_shared<MhcPostBackwardTilingData>(tiling.data));
    return nnop::Publish(std::move(plan), workspaceSize, executor);
}

} // namespace

aclnnStatus aclnnMhcPostBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *x, const aclTensor *hRes,
                                                 const aclTensor *hOut, const aclTensor *hPost, aclTensor *gradX,
                                                 aclTensor *gradHres, aclTensor *gradHout, aclTensor *gradHpost,
                                                 uint64_t *workspaceSize, aclOpExecutor **executor)
{
    const Checks check(kOp);
    OPS_RETURN_IF_ERROR(check.NotNull("workspaceSize", workspaceSize));
    OPS_RETURN_IF_ERROR(check.NotNull("executor", executor));
    const Tensors tensors{gradOutput, x, hRes, hOut, hPost, gradX, gradHres, gradHout, gradHpost};
    return ops::Guarded(check, [&] { return PlanChecked(check, tensors, workspaceSize, executor); });
}

aclnnStatus aclnnMhcPostBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream)
{
    return nnop::Run(kOp, workspace, workspaceSize, executor, stream);
}
