#include "ops/bsa_select_block_mask/op_api/bsa_select_block_mask_launch.h"

#include <algorithm>

#include "ascendc/twin/registry.h"
#include "ops/common/kernel_plan.h"

namespace ops {
namespace {

constexpr uint64_t kAlignment = 512; // of what lies in workspace

// Host numbers that the kernel reads from device memory, at the end of its workspace: the value-dependent inputs.
struct Tables {
    std::vector<int64_t> values[3]; // batches, query block lengths, key block lengths
    uint64_t offset[3];
    uint64_t end;

    Tables(uint64_t begin, std::vector<int64_t> batches, const BSASelectBlockMaskArguments &arguments)
        : values{std::move(batches), arguments.queryLens, arguments.keyLens}, end(AlignUp(begin, kAlignment))
    {
        for (size_t i = 0; i < 3; ++i) {
            offset[i] = end;
            end = AlignUp(end + values[i].size() * sizeof(int64_t), kAlignment);
        }
    }

    uint8_t *Address(uint8_t *workspace, size_t table) const
    {
        return values[table].empty() ? nullptr : workspace + offset[table];
    }
};

aclemu::TaskResult Upload(const Tables &tables, uint8_t *workspace)
{
    aclemu::TaskResult checked = CheckBuffers({{"workspace", workspace, tables.end}});
    if (checked.code != ACL_SUCCESS) {
        return checked;
    }
    for (size_t i = 0; i < 3; ++i) {
        const auto *bytes = reinterpret_cast<const uint8_t *>(tables.values[i].data());
        std::copy_n(bytes, tables.values[i].size() * sizeof(int64_t), workspace + tables.offset[i]);
    }
    return {};
}

} // namespace

bool PlanBSASelectBlockMask(const char *op, const BSASelectBlockMaskCall &call, const BSASelectBlockMaskArguments &arguments,
                            nnop::Plan *plan, std::string *error)
{
    const aclemu::Platform &platform = aclemu::CurrentPlatform();
    BSASelectBlockMaskPlan planned = TileBSASelectBlockMask(arguments, ToTilingPlatform(platform));
    const auto &tiling = planned.tiling;
    if (!tiling.error.empty()) {
        *error = tiling.error;
        return false;
    }
    const ascendc::KernelVariant *variant =
        ascendc::FindKernel("bsa_select_block_mask", KernelDType(call.query->dataType), platform.npuArch);
    if (variant == nullptr) {
        *error = "no kernel was built for " + nnop::ToString(call.query->dataType) + " on " + platform.soc;
        return false;
    }

    plan->opName = op;
    const auto tables = std::make_shared<const Tables>(tiling.workspaceSize, std::move(planned.batches), arguments);
    plan->launches.push_back([tables]() -> nnop::Kernel {
        return [tables](uint8_t *workspace) { return Upload(*tables, workspace); };
    });
    using Entry = void (*)(uint8_t *, uint8_t *, uint8_t *, uint8_t *, uint8_t *, uint8_t *, uint8_t *, uint8_t *);
    const auto entry = reinterpret_cast<Entry>(variant->entry);
    const KernelCall callEntry = [tables, entry](const std::vector<KernelBuffer> &given, uint8_t *data) {
        uint8_t *workspace = given[3].address;
        entry(given[0].address, given[1].address, tables->Address(workspace, 0), tables->Address(workspace, 1),
              tables->Address(workspace, 2), given[2].address, workspace, data);
    };
    const std::vector<KernelArgument> kernelArguments{
        {"query", call.query, true}, {"key", call.key, true}, {"blockSparseMaskOut", call.blockSparseMaskOut, false}};
    const KernelLaunch launch{"bsa_select_block_mask", ascendc::TaskType::MIX_AIC_1_2, tiling.blockDim, tiling.key};
    PlanKernel(plan, kernelArguments, tables->end, launch, callEntry,
               std::make_shared<BSASelectBlockMaskTilingData>(tiling.data));
    return true;
}

} // namespace ops
