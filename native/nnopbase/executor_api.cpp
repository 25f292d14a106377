#include <unistd.h>

#include "aclnn/aclnn_base.h"
#include "nnopbase/api.h"
#include "nnopbase/executor_table.h"
#include "nnopbase/objects.h"
#include "nnopbase/registry.h"
#include "nnopbase/tensor.h"

namespace nnop {
namespace {

// Finds a live executor for the functions that change one.
std::shared_ptr<Executor> FindExecutor(const char *function, const aclOpExecutor *executor,
                                       aclnnStatus *status)
{
    if (executor == nullptr) {
        *status = Refuse(ACLNN_ERR_INNER_NULLPTR, function,
                         std::string(function) + " failed: executor is nullptr.");
        return nullptr;
    }
    std::shared_ptr<Executor> found = Executors().Find(executor);
    if (found == nullptr) {
        *status = Refuse(ACLNN_ERR_INNER, function,
                         std::string(function) + " failed: executor " + Text(executor) +
                             " is used up, destroyed, or none of this library.");
    }
    return found;
}

aclnnStatus SetAddress(const char *function, aclOpExecutor *executor, aclTensor *tensor, void *addr)
{
    return Api(function, [=]() -> aclnnStatus {
        if (tensor == nullptr) {
            return Refuse(ACLNN_ERR_INNER_NULLPTR, function,
                          std::string(function) + " failed: tensor is nullptr.");
        }
        aclnnStatus status = ACLNN_SUCCESS;
        if (FindExecutor(function, executor, &status) == nullptr) {
            return status;
        }
        if (SerialOf(tensor, Type::TENSOR) == 0) {
            return RefuseStale(function, "tensor");
        }
        tensor->address = addr;
        return ACLNN_SUCCESS;
    });
}

aclnnStatus SetListAddress(const char *function, aclOpExecutor *executor, size_t index,
                           aclTensorList *tensors, void *addr)
{
    return Api(function, [=]() -> aclnnStatus {
        if (tensors == nullptr) {
            return Refuse(ACLNN_ERR_INNER_NULLPTR, function,
                          std::string(function) + " failed: tensors is nullptr.");
        }
        if (SerialOf(tensors, Type::TENSOR_LIST) == 0) {
            return RefuseStale(function, "tensors");
        }
        if (index >= tensors->values.size()) {
            return Refuse(ACLNN_ERR_PARAM_INVALID, function,
                          std::string(function) + " failed: relativeIndex is " + std::to_string(index) +
                              ", but the list has " + std::to_string(tensors->values.size()) + " tensors.");
        }
        return SetAddress(function, executor, const_cast<aclTensor *>(tensors->values[index]), addr);
    });
}

} // namespace
} // namespace nnop

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor *executor)
{
    return nnop::Api("aclSetAclOpExecutorRepeatable", [=]() -> aclnnStatus {
        aclnnStatus status = ACLNN_SUCCESS;
        const auto found = nnop::FindExecutor("aclSetAclOpExecutorRepeatable", executor, &status);
        if (found != nullptr) {
            found->repeatable.store(true);
        }
        return status;
    });
}

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor *executor)
{
    return nnop::Api("aclDestroyAclOpExecutor", [=]() -> aclnnStatus {
        aclnnStatus status = ACLNN_SUCCESS;
        if (nnop::FindExecutor("aclDestroyAclOpExecutor", executor, &status) != nullptr) {
            nnop::Executors().Remove(executor);
        }
        return status;
    });
}

// An operator of ours reads addresses from its tensors in the second phase, so the index says nothing new.
aclnnStatus aclSetInputTensorAddr(aclOpExecutor *executor, const size_t, aclTensor *tensor, void *addr)
{
    return nnop::SetAddress("aclSetInputTensorAddr", executor, tensor, addr);
}

aclnnStatus aclSetOutputTensorAddr(aclOpExecutor *executor, const size_t, aclTensor *tensor, void *addr)
{
    return nnop::SetAddress("aclSetOutputTensorAddr", executor, tensor, addr);
}

aclnnStatus aclSetTensorAddr(aclOpExecutor *executor, const size_t, aclTensor *tensor, void *addr)
{
    return nnop::SetAddress("aclSetTensorAddr", executor, tensor, addr);
}

aclnnStatus aclSetDynamicInputTensorAddr(aclOpExecutor *executor, size_t, const size_t relativeIndex,
                                         aclTensorList *tensors, void *addr)
{
    return nnop::SetListAddress("aclSetDynamicInputTensorAddr", executor, relativeIndex, tensors, addr);
}

aclnnStatus aclSetDynamicOutputTensorAddr(aclOpExecutor *executor, size_t, const size_t relativeIndex,
                                          aclTensorList *tensors, void *addr)
{
    return nnop::SetListAddress("aclSetDynamicOutputTensorAddr", executor, relativeIndex, tensors, addr);
}

aclnnStatus aclSetDynamicTensorAddr(aclOpExecutor *executor, size_t, const size_t relativeIndex,
                                    aclTensorList *tensors, void *addr)
{
    return nnop::SetListAddress("aclSetDynamicTensorAddr", executor, relativeIndex, tensors, addr);
}

aclnnStatus AclSetInputTensorAddr(aclOpExecutor *executor, const size_t index, aclTensor *tensor, void *addr)
{
    return aclSetInputTensorAddr(executor, index, tensor, addr);
}

aclnnStatus AclSetOutputTensorAddr(aclOpExecutor *executor, const size_t index, aclTensor *tensor, void *addr)
{
    return aclSetOutputTensorAddr(executor, index, tensor, addr);
}

aclnnStatus AclSetTensorAddr(aclOpExecutor *executor, const size_t index, aclTensor *tensor, void *addr)
{
    return aclSetTensorAddr(executor, index, tensor, addr);
}

aclnnStatus AclSetDynamicInputTensorAddr(aclOpExecutor *executor, size_t irIndex, const size_t relativeIndex,
                                         aclTensorList *tensors, void *addr)
{
    return aclSetDynamicInputTensorAddr(executor, irIndex, relativeIndex, tensors, addr);
}

aclnnStatus AclSetDynamicOutputTensorAddr(aclOpExecutor *executor, size_t irIndex, const size_t relativeIndex,
                                          aclTensorList *tensors, void *addr)
{
    return aclSetDynamicOutputTensorAddr(executor, irIndex, relativeIndex, tensors, addr);
}

aclnnStatus AclSetDynamicTensorAddr(aclOpExecutor *executor, size_t irIndex, const size_t relativeIndex,
                                    aclTensorList *tensors, void *addr)
{
    return aclSetDynamicTensorAddr(executor, irIndex, relativeIndex, tensors, addr);
}

aclnnStatus aclDumpOpTensors(const char *, const char *, aclTensor **, size_t, size_t, aclrtStream)
{
    return nnop::Api("aclDumpOpTensors", []() -> aclnnStatus {
        return nnop::Refuse(ACL_ERROR_FEATURE_UNSUPPORTED, "aclDumpOpTensors",
                            "aclDumpOpTensors is not available: the emulator writes no dumps.");
    });
}

aclnnStatus aclnnInit(const char *configPath)
{
    return nnop::Api("aclnnInit", [=]() -> aclnnStatus {
        if (configPath != nullptr && *configPath != '\0' && access(configPath, R_OK) != 0) {
            return nnop::Refuse(ACLNN_ERR_PARAM_INVALID, "aclnnInit",
                                std::string("aclnnInit failed: configPath \"") + configPath +
                                    "\" cannot be read.");
        }
        return ACLNN_SUCCESS;
    });
}

aclnnStatus aclnnFinalize()
{
    return ACLNN_SUCCESS;
}
