#include "ops/hc_pre/op_api/hc_pre_front_end.h"

#include "aclnn/opdev/op_errno.h"
#include "ascendc/twin/registry.h"
#include "ops/common/kernel_plan.h"
#include "ops/hc_pre/op_host/hc_pre_tiling.h"

namespace ops {
namespace {

constexpr int64_t kHcMult = 4;
constexpr int64_t kIters = 20;
constexpr int64_t kMix = kHcMult * kHcMult + 2 * kHcMult;

// In the order of the prototype; without the optional ones that are not given.
std::vector<KernelArgument> Arguments(const HcPreTensors &t)
{
    std::vector<KernelArgument> all{{"x", t.x, true}, {"hcFn", t.hcFn, true}, {"hcScale", t.hcScale, true},
                                    {"hcBase", t.hcBase, true}};
    if (t.v2) {
        all.push_back({"preMixOptional", t.preMix, true});
    }
    all.insert(all.end(), {{"yOut", t.y, false}, {"postOut", t.post, false}, {"combFragOut", t.combFrag, false}});
    if (t.v2) {
        all.push_back({"hcPreOut", t.hcPre, false});
    }
    return all;
}

bool LeftOut(const HcPreTensors &t, const KernelArgument &argument)
{
    return t.v2 && argument.tensor == nullptr && std::string(argument.name) == "preMixOptional";
}

aclnnStatus CheckShapes(const Checks &check, const HcPreTensors &t, const HcPreAttributes &attributes)
{
    const Shape &x = t.x->viewShape;
    OPS_RETURN_IF_ERROR(check.Rank("x", t.x, {3, 4}));
    OPS_RETURN_IF_ERROR(check.Addressable("x", t.x));
    OPS_RETURN_IF_ERROR(check.NotEmpty("x", t.x));
    if (x[x.size() - 2] != kHcMult) {
        return check.Fail(ACLNN_ERR_INNER_TILING_ERROR, "x has shape " + nnop::ToString(x) + ", expected axis " +
                                                            std::to_string(x.size() - 2) + " to be 4, the residual streams.");
    }
    const int64_t d = x.back();
    if (d != 4096 && d != 5120 && d != 7168) {
        return check.Fail(ACLNN_ERR_INNER_TILING_ERROR,
                          "x has tail axis d = " + std::to_string(d) + ", expected 4096, 5120 or 7168.");
    }
    // The token axes of x, [b, s] or [T], then `after`.
    const auto tokens = [&x](const Shape &after) {
        Shape shape(x.begin(), x.end() - 2);
        shape.insert(shape.end(), after.begin(), after.end());
        return shape;
    };
    OPS_RETURN_IF_ERROR(check.HasShape("hcFn", t.hcFn, {kMix, kHcMult * d}, "[24, 4*d]"));
    OPS_RETURN_IF_ERROR(check.HasShape("hcScale", t.hcScale, {3}, "[3]"));
    OPS_RETURN_IF_ERROR(check.HasShape("hcBase", t.hcBase, {kMix}, "[24]"));
    if (t.preMix != nullptr) {
        OPS_RETURN_IF_ERROR(check.HasShape("preMixOptional", t.preMix, tokens({kHcMult}), "the token axes of x, then 4"));
    }
    OPS_RETURN_IF_ERROR(check.Equals("hcMult", attributes.hcMult, kHcMult));
    OPS_RETURN_IF_ERROR(check.Equals("hcSinkhornIters", attributes.hcSinkhornIters, kIters));
    OPS_RETURN_IF_ERROR(check.HasShape("yOut", t.y, tokens({d}), "the token axes of x, then d"));
    OPS_RETURN_IF_ERROR(check.HasShape("postOut", t.post, tokens({kHcMult}), "the token axes of x, then 4"));
    OPS_RETURN_IF_ERROR(
        check.HasShape("combFragOut", t.combFrag, tokens({kHcMult, kHcMult}), "the token axes of x, then 4, 4"));
    if (t.v2) {
        OPS_RETURN_IF_ERROR(check.HasShape("hcPreOut", t.hcPre, tokens({kHcMult}), "the token axes of x, then 4"));
    }
    return ACLNN_SUCCESS;
}

aclnnStatus CheckAll(const Checks &check, const HcPreTensors &t, const HcPreAttributes &attributes)
{
    const std::vector<KernelArgument> arguments = Arguments(t);
    for (const KernelArgument &argument : arguments) {
        if (!LeftOut(t, argument)) {
            OPS_RETURN_IF_ERROR(check.NotNull(argument.name, argument.tensor));
        }
    }
    for (const KernelArgument &argument : arguments) {
        if (!LeftOut(t, argument)) {
            const bool narrow = argument.tensor == t.x || argument.tensor == t.y;
            OPS_RETURN_IF_ERROR(check.DType(argument.name, argument.tensor, {narrow ? ACL_BF16 : ACL_FLOAT}));
        }
    }
    for (const KernelArgument &argument : arguments) {
        if (!LeftOut(t, argument)) {
            OPS_RETURN_IF_ERROR(check.PublicFormat(argument.name, argument.tensor));
        }
    }
    OPS_RETURN_IF_ERROR(CheckShapes(check, t, attributes));
    // The kernel walks every tensor as if it were dense, and no copy stands before or behind it.
    for (const KernelArgument &argument : arguments) {
        if (!LeftOut(t, argument)) {
            OPS_RETURN_IF_ERROR(argument.input ? check.DenseInput(argument.name, argument.tensor)
                                               : check.Dense(argument.name, argument.tensor));
        }
    }
    return ACLNN_SUCCESS;
}

aclnnStatus PlanChecked(const Checks &check, const char *op, const HcPreTensors &tensors, const HcPreAttributes &attributes,
                        uint64_t *workspaceSize, aclOpExecutor **executor)
{
    OPS_RETURN_IF_ERROR(CheckAll(check, tensors, attributes));
    const Shape &x = tensors.x->viewShape;
    HcPreArguments arguments{};
    arguments.tokens = static_cast<uint64_t>(tensors.x->Size() / (kHcMult * x.back()));
    arguments.tail = static_cast<uint64_t>(x.back());
    arguments.iters = static_cast<uint32_t>(attributes.hcSinkhornIters);
    arguments.hcEps = attributes.hcEps;
    arguments.normEps = attributes.normEps;
    arguments.preMix = tensors.preMix != nullptr;
    arguments.key = ForcedTilingKey();
    const aclemu::Platform &platform = aclemu::CurrentPlatform();
    const auto tiling = TileHcPre(arguments, ToTilingPlatform(platform));
    if (!tiling.error.empty()) {
        return check.Fail(ACLNN_ERR_INNER_TILING_ERROR, "tiling failed: " + tiling.error + ".");
    }
    const char *kernel = tensors.v2 ? "hc_pre_v2" : "hc_pre";
    const ascendc::KernelVariant *variant = ascendc::FindKernel(kernel, "bfloat16_t", platform.npuArch);
    if (variant == nullptr) {
        return check.Fail(ACLNN_ERR_INNER_FIND_KERNEL_ERROR, std::string("no kernel was built for ") + platform.soc + ".");
    }
    nnop::Plan plan;
    plan.opName = op;
    plan.generated = true;
    const KernelLaunch launch{kernel, ascendc::TaskType::MIX_AIC_1_2, tiling.blockDim, tiling.key};
    PlanKernel(&plan, Arguments(tensors), tiling.workspaceSize, launch,
               tensors.v2 ? EntryCall<9>(variant->entry) : EntryCall<7>(variant->entry),
               std::make_shared<HcPreTilingData>(tiling.data));
    return nnop::Publish(std::move(plan), workspaceSize, executor);
}

} // namespace

aclnnStatus HcPreFirstPhase(const char *op, const HcPreTensors &tensors, const HcPreAttributes &attributes,
                            uint64_t *workspaceSize, aclOpExecutor **executor)
{
    const Checks check = Checks::Generated(op);
    OPS_RETURN_IF_ERROR(check.NotNull("workspaceSize", workspaceSize));
    OPS_RETURN_IF_ERROR(check.NotNull("executor", executor));
    return Guarded(check, [&] { return PlanChecked(check, op, tensors, attributes, workspaceSize, executor); });
}

} // namespace ops
