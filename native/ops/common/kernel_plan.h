// From checked tensors to the plan of one kernel, the same for every operator.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "ops/common/kernel_task.h"

namespace ops {

// One tensor argument of a kernel, under the name of its prototype; a null tensor becomes a null address.
struct KernelArgument {
    const char *name;
    const aclTensor *tensor;
    bool input; // strided inputs are made dense in front of the kernel, strided outputs are written behind it
    bool transposed = false; // an input that the kernel wants with its last two axes swapped
};

// Calls a kernel's entry on the core at hand with the addresses of its arguments, then workspace and tiling.
using KernelCall = std::function<void(const std::vector<KernelBuffer> &arguments, uint8_t *tiling)>;

template <size_t... index>
void CallEntry(void (*entry)(), const std::vector<KernelBuffer> &arguments, uint8_t *tiling, std::index_sequence<index...>)
{
    using Address = uint8_t *;
    using Entry = void (*)(decltype(static_cast<void>(index), Address{})..., Address);
    reinterpret_cast<Entry>(entry)(arguments[index].address..., tiling);
}

// For an entry that takes `count` tensors, then workspace and tiling.
template <size_t count>
KernelCall EntryCall(void (*entry)())
{
    return [entry](const std::vector<KernelBuffer> &arguments, uint8_t *tiling) {
        CallEntry(entry, arguments, tiling, std::make_index_sequence<count + 1>{});
    };
}

// Adds to `plan`: a step for each strided input that copies it densely into workspace, behind the `kernelWorkspace` bytes of
// the kernel itself; then the kernel; then a step for each strided output that copies to it what the kernel has written to
// workspace. A kernel must write all of such an output. An operator that documents dense outputs only checks that first. Addresses are read inside phase 2 and checked when the kernel runs.
void PlanKernel(nnop::Plan *plan, const std::vector<KernelArgument> &arguments, uint64_t kernelWorkspace,
                const KernelLaunch &launch, KernelCall call, std::shared_ptr<void> tilingData);

} // namespace ops
