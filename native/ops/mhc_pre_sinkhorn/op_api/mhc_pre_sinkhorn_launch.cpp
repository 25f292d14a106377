#include "ops/mhc_pre_sinkhorn/op_api/mhc_pre_sinkhorn_launch.h"

#include "ascendc/twin/registry.h"
#include "ops/common/kernel_plan.h"
#include "ops/mhc_pre_sinkhorn/op_host/mhc_pre_sinkhorn_tiling.h"

namespace ops {

std::vector<NamedTensor> MhcPreSinkhornTensors::Backward() const
{
    if (!needBackward) {
        return {};
    }
    return {{"hPre", hPre}, {"hcBeforeNorm", hcBeforeNorm}, {"invRms", invRms}, {"sumOut", sumOut}, {"normOut", normOut}};
}

std::vector<NamedTensor> MhcPreSinkhornTensors::All() const
{
    std::vector<NamedTensor> all{{"x", x},     {"phi", phi},     {"alpha", alpha}, {"bias", bias},
                                 {"hin", hin}, {"hPost", hPost}, {"hRes", hRes}};
    for (const NamedTensor &tensor : Backward()) {
        all.push_back(tensor);
    }
    return all;
}

bool PlanMhcPreSinkhorn(const char *op, const MhcPreSinkhornTensors &tensors, uint32_t numIters, double hcEps, double normEps,
                        nnop::Plan *plan, std::string *error)
{
    const auto &shape = tensors.x->viewShape;
    MhcPreSinkhornArguments arguments{};
    arguments.tokens = static_cast<uint64_t>(tensors.x->Size() / (shape[shape.size() - 2] * shape.back()));
    arguments.tail = static_cast<uint64_t>(shape.back());
    arguments.numIters = numIters;
    arguments.hcEps = hcEps;
    arguments.normEps = normEps;
    arguments.needBackward = tensors.needBackward;
    arguments.key = ForcedTilingKey();
    const aclemu::Platform &platform = aclemu::CurrentPlatform();
    const auto tiling = TileMhcPreSinkhorn(arguments, ToTilingPlatform(platform));
    if (!tiling.error.empty()) {
        *error = tiling.error;
        return false;
    }
    const ascendc::KernelVariant *variant =
        ascendc::FindKernel("mhc_pre_sinkhorn", KernelDType(tensors.x->dataType), platform.npuArch);
    if (variant == nullptr) {
        *error = "no kernel was built for " + nnop::ToString(tensors.x->dataType) + " on " + platform.soc;
        return false;
    }

    plan->opName = op;
    const MhcPreSinkhornTensors &t = tensors;
    const std::vector<KernelArgument> kernelArguments{
        {"x", t.x, true},           {"phi", t.phi, true},       {"alpha", t.alpha, true},
        {"bias", t.bias, true},     {"hin", t.hin, false},      {"hPost", t.hPost, false},
        {"hRes", t.hRes, false},    {"hPre", t.hPre, false},    {"hcBeforeNorm", t.hcBeforeNorm, false},
        {"invRms", t.invRms, false}, {"sumOut", t.sumOut, false}, {"normOut", t.normOut, false}};
    const KernelLaunch launch{"mhc_pre_sinkhorn", ascendc::TaskType::MIX_AIC_1_2, tiling.blockDim, tiling.key};
    PlanKernel(plan, kernelArguments, tiling.workspaceSize, launch, EntryCall<12>(variant->entry),
               std::make_shared<MhcPreSinkhornTilingData>(tiling.data));
    return true;
}

} // namespace ops
