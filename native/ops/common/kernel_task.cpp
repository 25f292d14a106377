#include "ops/common/kernel_task.h"

#include <cstdlib>
#include <stdexcept>

#include "acl/acl_rt.h"
#include "runtime/memory.h"

namespace ops {
namespace {

aclError RuntimeCode(ascendc::Fault fault)
{
    switch (fault) {
        case ascendc::Fault::NONE:
            return ACL_SUCCESS;
        case ascendc::Fault::AIC_EXCEPTION:
            return 507015; // ACL_ERROR_RT_AICORE_EXCEPTION
        case ascendc::Fault::AIV_EXCEPTION:
            return 507035; // ACL_ERROR_RT_VECTOR_CORE_EXCEPTION
        case ascendc::Fault::AIC_TIMEOUT:
            return 507014; // ACL_ERROR_RT_AICORE_TIMEOUT
        case ascendc::Fault::AIV_TIMEOUT:
            return 507034; // ACL_ERROR_RT_VECTOR_CORE_TIMEOUT
    }
    return 507000; // ACL_ERROR_RT_INTERNAL_ERROR
}

} // namespace

TilingPlatform ToTilingPlatform(const aclemu::Platform &platform)
{
    return {platform.npuArch, platform.aicCores, platform.aivCores, platform.ubSize - platform.ubReserved,
            platform.l1Size,  platform.l0aSize,  platform.l0bSize,  platform.l0cSize,
            platform.systemWorkspace};
}

std::optional<uint64_t> ForcedTilingKey()
{
    const char *text = std::getenv("ACLEMU_TILING_KEY");
    if (text == nullptr || *text == '\0') {
        return std::nullopt;
    }
    char *end = nullptr;
    const uint64_t key = std::strtoull(text, &end, 10);
    if (*end != '\0') {
        throw std::invalid_argument(std::string("ACLEMU_TILING_KEY is '") + text + "', expected a number");
    }
    return key;
}

const char *KernelDType(aclDataType type)
{
    switch (type) {
        case ACL_FLOAT16:
            return "half";
        case ACL_BF16:
            return "bfloat16_t";
        case ACL_FLOAT:
            return "float";
        default:
            return nullptr;
    }
}

KernelBuffer DenseBuffer(const char *name, const aclTensor *tensor)
{
    if (tensor == nullptr) {
        return {name, nullptr, 0};
    }
    return {name, tensor->Data(), static_cast<uint64_t>(tensor->Size()) * nnop::TypeSize(tensor->dataType)};
}

aclemu::TaskResult CheckBuffers(const std::vector<KernelBuffer> &buffers)
{
    for (const KernelBuffer &buffer : buffers) {
        if (buffer.bytes == 0) {
            continue;
        }
        aclemu::Allocation allocation;
        std::string problem;
        if (!aclemu::FindAllocation(buffer.address, &allocation)) {
            problem = buffer.address == nullptr ? "is a null address" : "is not (or no longer) device memory";
        } else {
            const uint64_t offset = static_cast<uint64_t>(buffer.address - static_cast<const uint8_t *>(allocation.base));
            if (buffer.bytes <= allocation.size - offset) {
                continue;
            }
            problem = "needs " + std::to_string(buffer.bytes) + " bytes, but its buffer has " +
                      std::to_string(allocation.size - offset) + " from there on";
        }
        return {507015, "the DDR address of the MTE instruction is out of range: " + buffer.name + " " + problem + "."};
    }
    return {};
}

aclemu::TaskResult RunKernel(const KernelLaunch &launch, const std::function<void()> &body)
{
    const aclemu::Platform &platform = aclemu::CurrentPlatform();
    ascendc::LaunchConfig config;
    config.kernel = launch.kernel;
    config.taskType = launch.taskType;
    config.blockDim = launch.blockDim;
    config.tilingKey = launch.tilingKey;
    config.npuArch = platform.npuArch;
    config.memory = {static_cast<uint32_t>(platform.ubSize),  static_cast<uint32_t>(platform.ubReserved),
                     static_cast<uint32_t>(platform.l1Size),  static_cast<uint32_t>(platform.l0aSize),
                     static_cast<uint32_t>(platform.l0bSize), static_cast<uint32_t>(platform.l0cSize),
                     static_cast<uint32_t>(platform.biasTableSize)};
    config.threads = aclemu::WorkerThreads();
    const ascendc::LaunchResult result = ascendc::Launch(config, body);
    if (result.fault == ascendc::Fault::NONE) {
        return {};
    }
    return {RuntimeCode(result.fault), result.message};
}

} // namespace ops
