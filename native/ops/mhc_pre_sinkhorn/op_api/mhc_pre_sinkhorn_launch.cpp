#include "ops/mhc_pre_sinkhorn/op_api/mhc_pre_sinkhorn_launch.h"

#include "ascendc/twin/registry.h"
#include "nnopbase/contiguous.h"
#include "ops/common/kernel_task.h"
#include "ops/mhc_pre_sinkhorn/op_host/mhc_pre_sinkhorn_tiling.h"

namespace ops {
namespace {

using Address = uint8_t *;
// x, phi, alpha, bias, hin, hPost, hRes, hPre, hcBeforeNorm, invRms, sumOut, normOut, workspace, tiling
using Entry = void (*)(Address, Address, Address, Address, Address, Address, Address, Address, Address, Address, Address,
                       Address, Address, Address);

constexpr uint64_t kAlignment = 512;

// Where an input lies when the kernel runs: in its own buffer, or made dense at an offset of the workspace.
struct Input {
    NamedTensor tensor;
    bool dense;
    uint64_t offset;
};

} // namespace

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
    plan->inputs = 4;
    plan->workspaceSize = AlignUp(tiling.workspaceSize, kAlignment);
    std::vector<Input> inputs;
    for (const NamedTensor &tensor : tensors.All()) {
        plan->tensors.push_back(tensor.tensor);
        if (plan->tensors.size() > plan->inputs) {
            continue;
        }
        const bool dense = tensor.tensor->IsContiguous();
        inputs.push_back({tensor, dense, plan->workspaceSize});
        if (!dense) {
            plan->launches.push_back(nnop::MakeContiguous(tensor.tensor, plan->workspaceSize));
            plan->workspaceSize = AlignUp(plan->workspaceSize + nnop::DenseBytes(*tensor.tensor), kAlignment);
        }
    }

    const KernelLaunch launch{"mhc_pre_sinkhorn", ascendc::TaskType::MIX_AIC_1_2, tiling.blockDim, tiling.key};
    const auto entry = reinterpret_cast<Entry>(variant->entry);
    const uint64_t kernelWorkspace = tiling.workspaceSize;
    plan->launches.push_back([=]() -> nnop::Kernel {
        // Runs inside phase 2: the addresses are those that the tensors hold now.
        std::vector<KernelBuffer> buffers;
        for (const Input &input : inputs) {
            KernelBuffer buffer = DenseBuffer(input.tensor.name, input.tensor.tensor);
            buffer.address = input.dense ? buffer.address : nullptr; // filled in when the workspace is known
            buffers.push_back(buffer);
        }
        for (const NamedTensor &output :
             {NamedTensor{"hin", tensors.hin}, {"hPost", tensors.hPost}, {"hRes", tensors.hRes}, {"hPre", tensors.hPre},
              {"hcBeforeNorm", tensors.hcBeforeNorm}, {"invRms", tensors.invRms}, {"sumOut", tensors.sumOut},
              {"normOut", tensors.normOut}}) {
            buffers.push_back(DenseBuffer(output.name, output.tensor));
        }
        return [=](uint8_t *workspace) -> aclemu::TaskResult {
            std::vector<KernelBuffer> b = buffers;
            for (size_t i = 0; i < inputs.size(); ++i) {
                if (!inputs[i].dense) {
                    b[i].address = workspace + inputs[i].offset;
                }
            }
            b.push_back({"workspace", workspace, kernelWorkspace});
            aclemu::TaskResult checked = CheckBuffers(b);
            if (checked.code != ACL_SUCCESS) {
                return checked;
            }
            auto data = tiling.data;
            return RunKernel(launch, [&] {
                entry(b[0].address, b[1].address, b[2].address, b[3].address, b[4].address, b[5].address, b[6].address,
                      b[7].address, b[8].address, b[9].address, b[10].address, b[11].address, b[12].address,
                      reinterpret_cast<Address>(&data));
            });
        };
    });
    return true;
}

} // namespace ops
