#include "nnopbase/executor.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>

#include "aclnn/aclnn_base.h"
#include "nnopbase/api.h"
#include "nnopbase/objects.h"
#include "nnopbase/registry.h"
#include "nnopbase/tensor.h"
#include "runtime/api.h"
#include "runtime/counters.h"
#include "runtime/handle_table.h"
#include "runtime/memory.h"

namespace nnop {
namespace {

struct Executor {
    explicit Executor(Plan made) : plan(std::move(made)) { aclemu::CountObject(aclemu::Kind::EXECUTOR, 1); }
    ~Executor() { aclemu::CountObject(aclemu::Kind::EXECUTOR, -1); }
    Executor(const Executor &) = delete;
    Executor &operator=(const Executor &) = delete;

    const Plan plan;
    std::vector<uint64_t> serials; // of plan.tensors when they were planned
    std::atomic<bool> repeatable{false};
};

using Table = aclemu::HandleTable<Executor>;

Table &Executors()
{
    static Table *const table = [] {
        auto *made = new Table();
        pthread_atfork([] { Executors().Lock(); }, [] { Executors().Unlock(); },
                       [] { Executors().Unlock(); });
        return made;
    }();
    return *table;
}

std::string Text(const void *address)
{
    char text[32];
    std::snprintf(text, sizeof(text), "%p", address);
    return text;
}

aclnnStatus CheckWorkspace(const Plan &plan, const void *workspace, uint64_t workspaceSize)
{
    const char *op = plan.opName.c_str();
    if (workspace == nullptr && workspaceSize > 0) {
        return Refuse(ACLNN_ERR_PARAM_NULLPTR, op,
                      "workspace is nullptr although workspaceSize is " + std::to_string(workspaceSize) +
                          ".");
    }
    if (workspaceSize < plan.workspaceSize) {
        return Refuse(ACLNN_ERR_PARAM_INVALID, op,
                      "workspaceSize is " + std::to_string(workspaceSize) +
                          ", but the first phase asked for " + std::to_string(plan.workspaceSize) + ".");
    }
    if (plan.workspaceSize == 0) {
        return ACLNN_SUCCESS;
    }
    aclemu::Allocation found;
    if (!aclemu::FindAllocation(workspace, &found)) {
        return Refuse(ACLNN_ERR_PARAM_INVALID, op,
                      "workspace " + Text(workspace) + " is not live device memory.");
    }
    const auto before =
        static_cast<size_t>(static_cast<const char *>(workspace) - static_cast<const char *>(found.base));
    if (found.size - before < plan.workspaceSize) {
        return Refuse(ACLNN_ERR_PARAM_INVALID, op,
                      "workspace has " + std::to_string(found.size - before) +
                          " bytes, but the first phase asked for " + std::to_string(plan.workspaceSize) +
                          ".");
    }
    return ACLNN_SUCCESS;
}

aclnnStatus CheckTensors(const Executor &executor)
{
    const Plan &plan = executor.plan;
    for (size_t i = 0; i < plan.tensors.size(); ++i) {
        if (plan.tensors[i] != nullptr && SerialOf(plan.tensors[i], Type::TENSOR) != executor.serials[i]) {
            const bool input = i < plan.inputs;
            return Refuse(ACLNN_ERR_INNER_NULLPTR, plan.opName.c_str(),
                          (input ? "input " : "output ") + std::to_string(input ? i : i - plan.inputs) +
                              " was destroyed between the two phases.");
        }
    }
    return ACLNN_SUCCESS;
}

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

aclnnStatus Publish(Plan plan, uint64_t *workspaceSize, aclOpExecutor **executor)
{
    const std::string op = plan.opName;
    if (workspaceSize == nullptr || executor == nullptr) {
        return Refuse(ACLNN_ERR_PARAM_NULLPTR, op.c_str(),
                      std::string(workspaceSize == nullptr ? "workspaceSize" : "executor") + " is nullptr.");
    }
    try {
        const uint64_t size = plan.workspaceSize;
        auto made = std::make_shared<Executor>(std::move(plan));
        made->serials.reserve(made->plan.tensors.size());
        for (const aclTensor *tensor : made->plan.tensors) {
            made->serials.push_back(SerialOf(tensor, Type::TENSOR));
        }
        void *handle = aclemu::NewHandle();
        Executors().Insert(handle, std::move(made));
        *workspaceSize = size;
        *executor = static_cast<aclOpExecutor *>(handle);
        return ACLNN_SUCCESS;
    } catch (const std::bad_alloc &) {
        return Refuse(ACLNN_ERR_INNER_CREATE_EXECUTOR, op.c_str(), "no host memory for the executor.");
    }
}

aclnnStatus Run(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream)
{
    return Api("aclnn", [=]() -> aclnnStatus {
        if (aclemu::IsForkedChild()) {
            const aclemu::Call call("second phase");
            aclemu::FailForked();
            return Refuse(ACLNN_ERR_RUNTIME_ERROR, "aclnn", "the device cannot be used in a forked process.");
        }
        if (executor == nullptr) {
            return Refuse(ACLNN_ERR_PARAM_NULLPTR, "aclnn", "executor is nullptr.");
        }
        std::shared_ptr<Executor> found = Executors().Find(executor);
        if (found != nullptr && !found->repeatable.load()) {
            found = Executors().Remove(executor); // used up from here on, whatever happens
        }
        if (found == nullptr) {
            return Refuse(
                ACLNN_ERR_INNER_NULLPTR, "aclnn",
                "executor " + Text(executor) +
                    " is used up, destroyed, or none of this library; the first phase makes one for "
                    "each call, or aclSetAclOpExecutorRepeatable keeps one.");
        }
        const Plan &plan = found->plan;
        const aclemu::Call call(plan.opName.c_str());
        aclnnStatus status = CheckWorkspace(plan, workspace, workspaceSize);
        if (status == ACLNN_SUCCESS) {
            status = CheckTensors(*found);
        }
        for (size_t i = 0; status == ACLNN_SUCCESS && i < plan.launches.size(); ++i) {
            auto step = [kernel = plan.launches[i](), at = static_cast<uint8_t *>(workspace)] {
                return kernel(at);
            };
            const aclError code = aclemu::Enqueue(stream, plan.opName, std::move(step));
            if (code != ACL_SUCCESS) {
                status = Refuse(ACLNN_ERR_RUNTIME_ERROR, plan.opName.c_str(),
                                plan.opName + " could not be put on the stream: the runtime returned " +
                                    std::to_string(code) + ".");
            }
        }
        return status;
    });
}

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
