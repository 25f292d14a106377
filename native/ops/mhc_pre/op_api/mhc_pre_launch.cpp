#include "ops/mhc_pre/op_api/mhc_pre_launch.h"

#include "ascendc/twin/registry.h"
#include "ops/common/kernel_plan.h"
#include "ops/mhc_pre/op_host/mhc_pre_tiling.h"

namespace ops {

bool PlanMhcPre(const char *op, const MhcPreTensors &tensors, const MhcPreAttributes &attributes, nnop::Plan *plan,
                std::string *error)
{
    const MhcPreTensors &t = tensors;
    const auto &shape = t.x->viewShape;
    MhcPreArguments arguments{};
    arguments.streams = static_cast<uint64_t>(shape[shape.size() - 2]);
    arguments.tail = static_cast<uint64_t>(shape.back());
    arguments.tokens = static_cast<uint64_t>(t.x->Size()) / (arguments.streams * arguments.tail);
    arguments.hasRes = t.HasRes();
    arguments.hasGamma = t.gammaOptional != nullptr;
    arguments.outFlag = t.HasOptional();
    arguments.hf32 = attributes.opImplMode == 1;
    arguments.normEps = attributes.normEps;
    arguments.hcEps = attributes.hcEps;
    arguments.key = ForcedTilingKey();
    const aclemu::Platform &platform = aclemu::CurrentPlatform();
    const auto tiling = TileMhcPre(arguments, ToTilingPlatform(platform));
    if (!tiling.error.empty()) {
        *error = tiling.error;
        return false;
    }
    const ascendc::KernelVariant *variant =
        ascendc::FindKernel("mhc_pre", KernelDType(t.x->dataType), platform.npuArch);
    if (variant == nullptr) {
        *error = "no kernel was built for " + nnop::ToString(t.x->dataType) + " on " + platform.soc;
        return false;
    }

    plan->opName = op;
    const std::vector<KernelArgument> kernelArguments{
        {"x", t.x, true},
        {"phi", t.phi, true},
        {"alpha", t.alpha, true},
        {"bias", t.bias, true},
        {"gammaOptional", t.gammaOptional, true},
        {"hIn", t.hIn, false},
        {"hPost", t.hPost, false},
        {"hRes", t.HasRes() ? t.hRes : nullptr, false},
        {"invRmsOptional", t.invRmsOptional, false},
        {"hMixOptional", t.hMixOptional, false},
        {"hPreOptional", t.hPreOptional, false}};
    const KernelLaunch launch{"mhc_pre", ascendc::TaskType::MIX_AIC_1_2, tiling.blockDim, tiling.key};
    PlanKernel(plan, kernelArguments, tiling.workspaceSize, launch, EntryCall<11>(variant->entry),
               std::make_shared<MhcPreTilingData>(tiling.data));
    return true;
}

} // namespace ops
