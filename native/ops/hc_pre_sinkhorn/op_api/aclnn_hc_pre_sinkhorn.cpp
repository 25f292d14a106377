// The two C functions of HcPreSinkhorn: checks in the documented order, the plan.
#include "aclnn_hc_pre_sinkhorn.h"

#include "aclnn/opdev/op_errno.h"
#include "ascendc/twin/registry.h"
#include "ops/common/checks.h"
#include "ops/common/kernel_plan.h"
#include "ops/hc_pre_sinkhorn/op_host/hc_pre_sinkhorn_tiling.h"

namespace {

using ops::Checks;
using ops::KernelArgument;
using ops::Shape;

constexpr const char *kOp = "aclnnHcPreSinkhorn";
constexpr int64_t kHcMult = 4;
constexpr int64_t kMix = kHcMult * kHcMult + 2 * kHcMult;
constexpr int64_t kMostIters = 100;
constexpr int64_t kLargestTail = int64_t{1} << 30; // the gap between streams is a 32-bit number of bytes

// In the order of the prototype and of the kernel's entry.
enum Index { MIXES, RSQRT, HC_SCALE, HC_BASE, X, Y_OUT, POST_OUT, COMB_FRAG_OUT, TENSORS };
using Tensors = std::vector<KernelArgument>;

struct Attributes {
    int64_t hcMult;
    int64_t hcSinkhornIters;
    double hcEps;
};

aclnnStatus CheckTypes(const Checks &check, const Tensors &t)
{
    for (size_t i = 0; i < t.size(); ++i) {
        const bool streams = i == X || i == Y_OUT;
        OPS_RETURN_IF_ERROR(check.DType(t[i].name, t[i].tensor, {streams ? ACL_BF16 : ACL_FLOAT}));
    }
    for (const KernelArgument &argument : t) {
        OPS_RETURN_IF_ERROR(check.PublicFormat(argument.name, argument.tensor));
    }
    return ACLNN_SUCCESS;
}

aclnnStatus CheckShapes(const Checks &check, const Tensors &t, const Attributes &attributes)
{
    const auto hasShape = [&](Index index, const Shape &expected, const char *rule) {
        return check.HasShape(t[index].name, t[index].tensor, expected, rule);
    };
    const aclTensor *mixes = t[MIXES].tensor;
    OPS_RETURN_IF_ERROR(check.Rank("mixes", mixes, {2, 3}));
    OPS_RETURN_IF_ERROR(check.Addressable("mixes", mixes));
    OPS_RETURN_IF_ERROR(check.NotEmpty("mixes", mixes));
    const Shape tokens(mixes->viewShape.begin(), mixes->viewShape.end() - 1); // [b, s] or [T]
    const auto behind = [&tokens](const Shape &last) {
        Shape shape = tokens;
        shape.insert(shape.end(), last.begin(), last.end());
        return shape;
    };
    OPS_RETURN_IF_ERROR(hasShape(MIXES, behind({kMix}), "token axes, then 24"));
    if (t[RSQRT].tensor->viewShape != tokens) {
        OPS_RETURN_IF_ERROR(hasShape(RSQRT, behind({1}), "the token axes of mixes, then 1 or nothing"));
    }
    OPS_RETURN_IF_ERROR(hasShape(HC_SCALE, {3}, "[3]"));
    OPS_RETURN_IF_ERROR(hasShape(HC_BASE, {kMix}, "[24]"));
    const aclTensor *x = t[X].tensor;
    OPS_RETURN_IF_ERROR(check.Rank("x", x, {tokens.size() + 2}));
    OPS_RETURN_IF_ERROR(check.Addressable("x", x));
    OPS_RETURN_IF_ERROR(check.NotEmpty("x", x));
    const int64_t d = x->viewShape.back();
    OPS_RETURN_IF_ERROR(hasShape(X, behind({kHcMult, d}), "the token axes of mixes, then 4, d"));
    if (d > kLargestTail) {
        return check.Fail(ACLNN_ERR_INNER_TILING_ERROR, "x has d = " + std::to_string(d) + ", expected at most 2^30.");
    }

    OPS_RETURN_IF_ERROR(check.Equals("hcMult", attributes.hcMult, kHcMult));
    if (attributes.hcSinkhornIters < 1 || attributes.hcSinkhornIters > kMostIters) {
        return check.Fail(ACLNN_ERR_INNER_TILING_ERROR,
                          "hcSinkhornIters is " + std::to_string(attributes.hcSinkhornIters) + ", expected 1 to 100.");
    }

    OPS_RETURN_IF_ERROR(hasShape(Y_OUT, behind({d}), "the token axes of mixes, then d"));
    OPS_RETURN_IF_ERROR(hasShape(POST_OUT, behind({kHcMult}), "the token axes of mixes, then 4"));
    OPS_RETURN_IF_ERROR(hasShape(COMB_FRAG_OUT, behind({kHcMult, kHcMult}), "the token axes of mixes, then 4, 4"));
    for (const KernelArgument &argument : t) {
        OPS_RETURN_IF_ERROR(argument.input ? check.DenseInput(argument.name, argument.tensor)
                                           : check.Dense(argument.name, argument.tensor));
    }
    return ACLNN_SUCCESS;
}

aclnnStatus Plan(const Checks &check, const Tensors &t, const Attributes &attributes, uint64_t *workspaceSize,
                 aclOpExecutor **executor)
{
    for (const KernelArgument &argument : t) {
        OPS_RETURN_IF_ERROR(check.NotNull(argument.name, argument.tensor));
    }
    OPS_RETURN_IF_ERROR(CheckTypes(check, t));
    OPS_RETURN_IF_ERROR(CheckShapes(check, t, attributes));

    ops::HcPreSinkhornArguments arguments{};
    arguments.tokens = static_cast<uint64_t>(t[MIXES].tensor->Size() / kMix);
    arguments.tail = static_cast<uint64_t>(t[X].tensor->viewShape.back());
    arguments.numIters = static_cast<uint32_t>(attributes.hcSinkhornIters);
    arguments.hcEps = attributes.hcEps;
    arguments.key = ops::ForcedTilingKey();
    const aclemu::Platform &platform = aclemu::CurrentPlatform();
    const auto tiling = ops::TileHcPreSinkhorn(arguments, ops::ToTilingPlatform(platform));
    if (!tiling.error.empty()) {
        return check.Fail(ACLNN_ERR_INNER_TILING_ERROR, "tiling failed: " + tiling.error + ".");
    }
    const ascendc::KernelVariant *kernel =
        ascendc::FindKernel("hc_pre_sinkhorn", ops::KernelDType(t[X].tensor->dataType), platform.npuArch);
    if (kernel == nullptr) {
        return check.Fail(ACLNN_ERR_INNER_FIND_KERNEL_ERROR, std::string("no kernel was built for ") + platform.soc + ".");
    }
    nnop::Plan plan;
    plan.opName = kOp;
    plan.generated = true;
    const ops::KernelLaunch launch{"hc_pre_sinkhorn", ascendc::TaskType::AIV_ONLY, tiling.blockDim, tiling.key};
    ops::PlanKernel(&plan, t, tiling.workspaceSize, launch, ops::EntryCall<TENSORS>(kernel->entry),
                    std::make_shared<HcPreSinkhornTilingData>(tiling.data));
    return nnop::Publish(std::move(plan), workspaceSize, executor);
}

} // namespace

aclnnStatus aclnnHcPreSinkhornGetWorkspaceSize(
    const aclTensor *mixes, const aclTensor *rsqrt, const aclTensor *hcScale, const aclTensor *hcBase, const aclTensor *x,
    int64_t hcMult, int64_t hcSinkhornIters, double hcEps, const aclTensor *yOut, const aclTensor *postOut,
    const aclTensor *combFragOut, uint64_t *workspaceSize, aclOpExecutor **executor)
{
    const Checks check = Checks::Generated(kOp);
    OPS_RETURN_IF_ERROR(check.NotNull("workspaceSize", workspaceSize));
    OPS_RETURN_IF_ERROR(check.NotNull("executor", executor));
    return ops::Guarded(check, [&] {
        const Tensors tensors{{"mixes", mixes, true},     {"rsqrt", rsqrt, true},     {"hcScale", hcScale, true},
                              {"hcBase", hcBase, true},   {"x", x, true},             {"yOut", yOut, false},
                              {"postOut", postOut, false}, {"combFragOut", combFragOut, false}};
        return Plan(check, tensors, {hcMult, hcSinkhornIters, hcEps}, workspaceSize, executor);
    });
}

aclnnStatus aclnnHcPreSinkhorn(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream)
{
    return nnop::Run(kOp, workspace, workspaceSize, executor, stream);
}
