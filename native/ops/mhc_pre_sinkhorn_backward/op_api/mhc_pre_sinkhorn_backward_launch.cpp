#include "ops/mhc_pre_sinkhorn_backward/op_api/mhc_pre_sinkhorn_backward_launch.h"

#include "ascendc/twin/registry.h"
#include "ops/common/kernel_plan.h"
#include "ops/mhc_pre_sinkhorn_backward/op_host/mhc_pre_sinkhorn_backward_tiling.h"

namespace ops {

std::vector<MhcPreSinkhornBackwardTensors::Named> MhcPreSinkhornBackwardTensors::All() const
{
    return {{"gradHin", gradHin},
            {"gradHPost", gradHPost},
            {"gradHRes", gradHRes},
            {"x", x},
            {"phi", phi},
            {"alpha", alpha},
            {"bias", bias},
            {"hPre", hPre},
            {"hcBeforeNorm", hcBeforeNorm},
            {"invRms", invRms},
            {"sumOut", sumOut},
            {"normOut", normOut},
            {"gradX", gradX},
            {"gradPhi", gradPhi},
            {"gradAlpha", gradAlpha},
            {"gradBias", gradBias}};
}

bool PlanMhcPreSinkhornBackward(const char *op, const MhcPreSinkhornBackwardTensors &tensors, double hcEps, nnop::Plan *plan,
                                std::string *error)
{
    const auto &shape = tensors.x->viewShape;
    const int64_t n = shape[shape.size() - 2];
    MhcPreSinkhornBackwardArguments arguments{};
    arguments.tokens = static_cast<uint64_t>(tensors.x->Size() / (n * shape.back()));
    arguments.streams = static_cast<uint32_t>(n);
    arguments.tail = static_cast<uint64_t>(shape.back());
    arguments.numIters = static_cast<uint32_t>(tensors.sumOut->viewShape[0] / 2);
    arguments.hcEps = hcEps;
    arguments.key = ForcedTilingKey();
    const aclemu::Platform &platform = aclemu::CurrentPlatform();
    const auto tiling = TileMhcPreSinkhornBackward(arguments, ToTilingPlatform(platform));
    if (!tiling.error.empty()) {
        *error = tiling.error;
        return false;
    }
    const ascendc::KernelVariant *variant =
        ascendc::FindKernel("mhc_pre_sinkhorn_backward", KernelDType(tensors.x->dataType), platform.npuArch);
    if (variant == nullptr) {
        *error = "no kernel was built for " + nnop::ToString(tensors.x->dataType) + " on " + platform.soc;
        return false;
    }

    plan->opName = op;
    std::vector<KernelArgument> kernelArguments;
    for (const auto &named : tensors.All()) {
        const bool input = kernelArguments.size() < 12;
        kernelArguments.push_back({named.name, named.tensor, input});
    }
    const KernelLaunch launch{"mhc_pre_sinkhorn_backward", ascendc::TaskType::MIX_AIC_1_2, tiling.blockDim, tiling.key};
    PlanKernel(plan, kernelArguments, tiling.workspaceSize, launch, EntryCall<16>(variant->entry),
               std::make_shared<MhcPreSinkhornBackwardTilingData>(tiling.data));
    return true;
}

} // namespace ops
