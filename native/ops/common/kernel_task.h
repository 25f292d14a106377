// From tensors to a kernel on the emulated cores: what CANN's launcher does between an executor and the chip.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ascendc/twin/launch.h"
#include "nnopbase/executor.h"
#include "nnopbase/tensor.h"
#include "ops/common/tiling.h"
#include "runtime/platform.h"

namespace ops {

TilingPlatform ToTilingPlatform(const aclemu::Platform &platform);

// The key that ACLEMU_TILING_KEY forces on every operator, so that a test can run each one. Read at each call; throws
// std::invalid_argument when it is not a number.
std::optional<uint64_t> ForcedTilingKey();

// "half", "bfloat16_t", "float": what DTYPE_X is for a kernel compiled for this type; nullptr for others.
const char *KernelDType(aclDataType type);

// One pointer argument of a kernel: a device address and how many bytes the kernel may touch there.
struct KernelBuffer {
    std::string name;          // the parameter, for fault texts
    uint8_t *address = nullptr;
    uint64_t bytes = 0;
};

KernelBuffer DenseBuffer(const char *name, const aclTensor *tensor);

// Whether each buffer lies inside one live device allocation. A device answers a wild address with 507015 at the next
// synchronise; so does this, naming the tensor.
aclemu::TaskResult CheckBuffers(const std::vector<KernelBuffer> &buffers);

struct KernelLaunch {
    const char *kernel; // "mhc_pre_sinkhorn"
    ascendc::TaskType taskType;
    uint32_t blockDim;
    uint64_t tilingKey;
};

// Runs `body` on every core of the launch and turns a fault into the runtime's code and a message.
aclemu::TaskResult RunKernel(const KernelLaunch &launch, const std::function<void()> &body);

} // namespace ops
