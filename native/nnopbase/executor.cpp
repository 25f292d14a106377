#include "nnopbase/executor.h"

#include <pthread.h>

#include <algorithm>
#include <map>

#include "nnopbase/api.h"
#include "nnopbase/executor_table.h"
#include "nnopbase/registry.h"
#include "nnopbase/tensor.h"
#include "runtime/api.h"
#include "runtime/call_log.h"
#include "runtime/check.h"
#include "runtime/fault.h"
#include "runtime/memory.h"

namespace nnop {
namespace {

// How many of each operator: they are left over when a first phase has no second, or a repeatable one is kept.
std::string DescribeExecutors()
{
    std::map<std::string, size_t> counts;
    for (const auto &executor : Executors().Select([](const Executor &) { return true; })) {
        ++counts[executor->plan.opName];
    }
    std::string text;
    for (const auto &entry : counts) {
        text += "  " + std::to_string(entry.second) + " of " + entry.first + "\n";
    }
    return text;
}

} // namespace

aclemu::HandleTable<Executor> &Executors()
{
    static auto *const table = [] {
        auto *made = new aclemu::HandleTable<Executor>();
        pthread_atfork([] { Executors().Lock(); }, [] { Executors().Unlock(); },
                       [] { Executors().Unlock(); });
        aclemu::DescribeLive(aclemu::Kind::EXECUTOR, DescribeExecutors);
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

namespace {

// Refuses a second phase; the text leads with the operator.
aclnnStatus RefuseCall(aclnnStatus status, const char *op, const std::string &text)
{
    return Refuse(status, op, std::string(op) + ": " + text);
}

// What a generated front end looks at before it takes the executor.
aclnnStatus CheckGivenWorkspace(const Plan &plan, const void *workspace, uint64_t workspaceSize)
{
    const char *op = plan.opName.c_str();
    if (workspace == nullptr && workspaceSize > 0) {
        return RefuseNull(op, "workspace");
    }
    if (workspaceSize < plan.workspaceSize) {
        aclemu::ReportError("EZ1010", "Invalid_Argument",
                            plan.opName + " failed: workspaceSize is " + std::to_string(workspaceSize) +
                                ", but the first phase asked for " + std::to_string(plan.workspaceSize) + ".");
        return ACLNN_ERR_PARAM_INVALID;
    }
    return ACLNN_SUCCESS;
}

aclnnStatus CheckWorkspace(const Plan &plan, const void *workspace, uint64_t workspaceSize)
{
    const char *op = plan.opName.c_str();
    if (workspace == nullptr && workspaceSize > 0) {
        return RefuseCall(ACLNN_ERR_PARAM_NULLPTR, op,
                      "workspace is nullptr although workspaceSize is " + std::to_string(workspaceSize) +
                          ".");
    }
    if (workspaceSize < plan.workspaceSize) {
        return RefuseCall(ACLNN_ERR_PARAM_INVALID, op,
                      "workspaceSize is " + std::to_string(workspaceSize) +
                          ", but the first phase asked for " + std::to_string(plan.workspaceSize) + ".");
    }
    if (plan.workspaceSize == 0) {
        return ACLNN_SUCCESS;
    }
    aclemu::Allocation found;
    if (!aclemu::FindAllocation(workspace, &found)) {
        return RefuseCall(ACLNN_ERR_PARAM_INVALID, op,
                      "workspace " + Text(workspace) + " is not live device memory.");
    }
    const auto before =
        static_cast<size_t>(static_cast<const char *>(workspace) - static_cast<const char *>(found.base));
    if (found.size - before < plan.workspaceSize) {
        return RefuseCall(ACLNN_ERR_PARAM_INVALID, op,
                      "workspace has " + std::to_string(found.size - before) +
                          " bytes, but the first phase asked for " + std::to_string(plan.workspaceSize) +
                          ".");
    }
    return ACLNN_SUCCESS;
}

std::string NameOf(const Plan &plan, size_t i)
{
    const bool input = i < plan.inputs;
    std::string name = (input ? "input " : "output ") + std::to_string(input ? i : i - plan.inputs);
    return i < plan.names.size() ? name + " (" + plan.names[i] + ")" : name;
}

// What the launches touch, for the checks of ACLEMU_CHECK; the tensors are alive.
aclemu::Uses FindUses(const Plan &plan, const void *workspace)
{
    aclemu::Uses uses;
    if (!aclemu::UsesMatter()) {
        return uses;
    }
    for (size_t i = 0; i < plan.tensors.size(); ++i) {
        const aclTensor *tensor = plan.tensors[i];
        if (tensor == nullptr || tensor->IsEmpty()) {
            continue;
        }
        uint64_t elements = 1; // from the first to the last that the view reaches
        for (size_t d = 0; d < tensor->viewShape.size(); ++d) {
            elements += static_cast<uint64_t>(std::max<int64_t>(tensor->viewStrides[d], 0)) *
                        static_cast<uint64_t>(tensor->viewShape[d] - 1);
        }
        uses.push_back({NameOf(plan, i), tensor->Data(), elements * TypeSize(tensor->dataType), i >= plan.inputs});
    }
    if (plan.workspaceSize > 0) {
        uses.push_back({"the workspace", workspace, plan.workspaceSize, true});
    }
    return uses;
}

aclnnStatus CheckTensors(const Executor &executor)
{
    const Plan &plan = executor.plan;
    for (size_t i = 0; i < plan.tensors.size(); ++i) {
        if (plan.tensors[i] != nullptr && SerialOf(plan.tensors[i], Type::TENSOR) != executor.serials[i]) {
            return RefuseCall(ACLNN_ERR_INNER_NULLPTR, plan.opName.c_str(),
                              NameOf(plan, i) + " was destroyed between the two phases.");
        }
    }
    return ACLNN_SUCCESS;
}

// What the device would say of a buffer that is on another one.
aclemu::TaskResult CheckReach(const Plan &plan, const void *workspace)
{
    const auto fault = [](const std::string &name, const std::string &problem) -> aclemu::TaskResult {
        return {ACL_ERROR_RT_AICORE_EXCEPTION,
                "the DDR address of the MTE instruction is out of range: " + name + " " + problem + "."};
    };
    for (size_t i = 0; i < plan.tensors.size(); ++i) {
        const aclTensor *tensor = plan.tensors[i];
        if (tensor == nullptr || tensor->IsEmpty()) {
            continue;
        }
        const std::string problem = aclemu::OutOfReach(tensor->Data());
        if (!problem.empty()) {
            return fault(NameOf(plan, i), problem);
        }
    }
    const std::string problem = plan.workspaceSize > 0 ? aclemu::OutOfReach(workspace) : "";
    return problem.empty() ? aclemu::TaskResult() : fault("the workspace", problem);
}

// The code a test wants an operator to fail with, 0 for none.
aclnnStatus WantedFault(const std::string &op, int phase)
{
    const int32_t code = aclemu::OperatorFault(op, phase);
    return code == 0 ? ACLNN_SUCCESS
                     : Refuse(code, op.c_str(), op + " fails in phase " + std::to_string(phase) +
                                                    " because aclemuFailOperator asked for it.");
}

// Notes a phase in the call log.
aclnnStatus Logged(const std::string &name, aclnnStatus status)
{
    if (aclemu::CallsLogged()) {
        aclemu::LogCall(name.c_str(), status);
    }
    return status;
}

aclnnStatus MakeExecutor(Plan plan, uint64_t *workspaceSize, aclOpExecutor **executor)
{
    const std::string op = plan.opName;
    if (workspaceSize == nullptr || executor == nullptr) {
        return Refuse(ACLNN_ERR_PARAM_NULLPTR, op.c_str(),
                      std::string(workspaceSize == nullptr ? "workspaceSize" : "executor") + " is nullptr.");
    }
    const aclnnStatus wanted = WantedFault(op, 1);
    if (wanted != ACLNN_SUCCESS) {
        return wanted;
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

aclnnStatus Launch(const char *op, void *workspace, uint64_t workspaceSize, aclOpExecutor *executor,
                   aclrtStream stream)
{
    if (aclemu::IsForkedChild()) {
        aclemu::FailForked();
        return RefuseCall(ACLNN_ERR_RUNTIME_ERROR, op, "the device cannot be used in a forked process.");
    }
    if (executor == nullptr) {
        return RefuseCall(ACLNN_ERR_PARAM_NULLPTR, op,
                          std::string("executor is nullptr, expected the one that ") + op +
                              "GetWorkspaceSize made.");
    }
    std::shared_ptr<Executor> found = Executors().Find(executor);
    if (found != nullptr && found->plan.opName != op) { // it stays for the operator that it belongs to
        return RefuseCall(ACLNN_ERR_INNER_NULLPTR, op,
                          "executor " + Text(executor) + " was planned by " + found->plan.opName +
                              "GetWorkspaceSize, expected one of " + op + "GetWorkspaceSize.");
    }
    if (found != nullptr && found->plan.generated) {
        const aclnnStatus refused = CheckGivenWorkspace(found->plan, workspace, workspaceSize);
        if (refused != ACLNN_SUCCESS) {
            return refused;
        }
    }
    if (found != nullptr && !found->repeatable.load()) {
        found = Executors().Remove(executor); // used up from here on, whatever happens
    }
    if (found == nullptr) {
        return RefuseCall(
            ACLNN_ERR_INNER_NULLPTR, op,
            "executor " + Text(executor) +
                " is used up, destroyed, or none of this library; the first phase makes one for "
                "each call, or aclSetAclOpExecutorRepeatable keeps one.");
    }
    const Plan &plan = found->plan;
    aclnnStatus status = CheckWorkspace(plan, workspace, workspaceSize);
    if (status == ACLNN_SUCCESS) {
        status = CheckTensors(*found);
    }
    if (status == ACLNN_SUCCESS) {
        status = WantedFault(plan.opName, 2);
    }
    const aclemu::TaskResult reach = status == ACLNN_SUCCESS ? CheckReach(plan, workspace) : aclemu::TaskResult();
    for (size_t i = 0; status == ACLNN_SUCCESS && i < plan.launches.size(); ++i) {
        auto step = [reach, kernel = plan.launches[i](), at = static_cast<uint8_t *>(workspace)] {
            return reach.code == ACL_SUCCESS ? kernel(at) : reach;
        };
        const aclError code = aclemu::Enqueue(stream, plan.opName, std::move(step), FindUses(plan, workspace));
        if (code != ACL_SUCCESS) {
            status = Refuse(ACLNN_ERR_RUNTIME_ERROR, plan.opName.c_str(),
                            plan.opName + " could not be put on the stream: the runtime returned " +
                                std::to_string(code) + ".");
        }
    }
    return status;
}

} // namespace

aclnnStatus Publish(Plan plan, uint64_t *workspaceSize, aclOpExecutor **executor)
{
    const std::string name = aclemu::CallsLogged() ? plan.opName + "GetWorkspaceSize" : "";
    return Logged(name, MakeExecutor(std::move(plan), workspaceSize, executor));
}

aclnnStatus Run(const char *op, void *workspace, uint64_t workspaceSize, aclOpExecutor *executor,
                aclrtStream stream, aclnnStatus failure)
{
    return Api(op, [=]() -> aclnnStatus {
        const aclemu::Call call(op);
        const aclnnStatus status = Launch(op, workspace, workspaceSize, executor, stream);
        if (status == ACLNN_SUCCESS || failure == ACLNN_SUCCESS || status == aclemu::OperatorFault(op, 2)) {
            return status;
        }
        return failure;
    });
}

} // namespace nnop
