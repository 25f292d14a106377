#include "ops/common/kernel_plan.h"

#include "nnopbase/contiguous.h"

namespace ops {
namespace {

constexpr uint64_t kAlignment = 512; // of what lies in workspace

// An input that the kernel reads from workspace.
struct Moved {
    size_t argument;
    uint64_t offset;
};

} // namespace

void PlanKernel(nnop::Plan *plan, const std::vector<KernelArgument> &arguments, uint64_t kernelWorkspace,
                const KernelLaunch &launch, KernelCall call, std::shared_ptr<void> tilingData)
{
    plan->workspaceSize = AlignUp(kernelWorkspace, kAlignment);
    std::vector<Moved> moved;
    for (size_t i = 0; i < arguments.size(); ++i) {
        const KernelArgument &argument = arguments[i];
        if (argument.tensor == nullptr) {
            continue;
        }
        plan->tensors.push_back(argument.tensor);
        plan->names.push_back(argument.name);
        plan->inputs += argument.input ? 1 : 0;
        if (argument.input && !argument.tensor->IsContiguous()) {
            moved.push_back({i, plan->workspaceSize});
            plan->launches.push_back(nnop::MakeContiguous(argument.tensor, plan->workspaceSize));
            plan->workspaceSize = AlignUp(plan->workspaceSize + nnop::DenseBytes(*argument.tensor), kAlignment);
        }
    }

    plan->launches.push_back([=]() -> nnop::Kernel {
        std::vector<KernelBuffer> buffers;
        for (const KernelArgument &argument : arguments) {
            buffers.push_back(DenseBuffer(argument.name, argument.tensor));
        }
        return [=](uint8_t *workspace) -> aclemu::TaskResult {
            std::vector<KernelBuffer> given = buffers;
            for (const Moved &input : moved) {
                given[input.argument].address = workspace + input.offset;
            }
            given.push_back({"workspace", workspace, kernelWorkspace});
            aclemu::TaskResult checked = CheckBuffers(given);
            if (checked.code != ACL_SUCCESS) {
                return checked;
            }
            return RunKernel(launch, [&] { call(given, static_cast<uint8_t *>(tilingData.get())); });
        };
    });
}

} // namespace ops
