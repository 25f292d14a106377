#include "ops/common/kernel_plan.h"

#include "nnopbase/contiguous.h"

namespace ops {
namespace {

constexpr uint64_t kAlignment = 512; // of what lies in workspace

// A tensor that the kernel finds in workspace.
struct Moved {
    size_t argument;
    uint64_t offset;
};

// The tensor with its last two axes swapped.
aclTensor Swapped(const aclTensor &tensor)
{
    aclTensor view = tensor;
    const size_t last = view.viewShape.size() - 1;
    std::swap(view.viewShape[last - 1], view.viewShape[last]);
    std::swap(view.viewStrides[last - 1], view.viewStrides[last]);
    return view;
}

// MakeContiguous for that view; the address is the tensor's in phase 2.
std::function<nnop::Kernel()> MakeSwappedContiguous(const aclTensor *tensor, uint64_t offset)
{
    auto view = std::make_shared<aclTensor>(Swapped(*tensor));
    return [tensor, view, copy = nnop::MakeContiguous(view.get(), offset)] {
        view->address = tensor->address;
        view->viewOffset = tensor->viewOffset;
        return copy();
    };
}

} // namespace

void PlanKernel(nnop::Plan *plan, const std::vector<KernelArgument> &arguments, uint64_t kernelWorkspace,
                const KernelLaunch &launch, KernelCall call, std::shared_ptr<void> tilingData)
{
    plan->workspaceSize = AlignUp(kernelWorkspace, kAlignment);
    std::vector<Moved> moved;
    std::vector<std::function<nnop::Kernel()>> copiesBack;
    for (size_t i = 0; i < arguments.size(); ++i) {
        const KernelArgument &argument = arguments[i];
        if (argument.tensor == nullptr) {
            continue;
        }
        plan->tensors.push_back(argument.tensor);
        plan->names.push_back(argument.name);
        plan->inputs += argument.input ? 1 : 0;
        const bool dense = argument.transposed ? Swapped(*argument.tensor).IsContiguous() : argument.tensor->IsContiguous();
        if (argument.input && !dense) {
            moved.push_back({i, plan->workspaceSize});
            plan->launches.push_back(argument.transposed ? MakeSwappedContiguous(argument.tensor, plan->workspaceSize)
                                                         : nnop::MakeContiguous(argument.tensor, plan->workspaceSize));
            plan->workspaceSize = AlignUp(plan->workspaceSize + nnop::DenseBytes(*argument.tensor), kAlignment);
        } else if (!argument.input && !dense) {
            moved.push_back({i, plan->workspaceSize});
            copiesBack.push_back(nnop::CopyBack(argument.tensor, plan->workspaceSize));
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
            for (const Moved &tensor : moved) {
                given[tensor.argument].address = workspace + tensor.offset;
            }
            given.push_back({"workspace", workspace, kernelWorkspace});
            aclemu::TaskResult checked = CheckBuffers(given);
            if (checked.code != ACL_SUCCESS) {
                return checked;
            }
            return RunKernel(launch, [&] { call(given, static_cast<uint8_t *>(tilingData.get())); });
        };
    });
    plan->launches.insert(plan->launches.end(), copiesBack.begin(), copiesBack.end());
}

} // namespace ops
