#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "aclemu.h"
#include "runtime/api.h"
#include "runtime/call_log.h"
#include "runtime/check.h"
#include "runtime/context.h"
#include "runtime/counters.h"
#include "runtime/fault.h"
#include "runtime/log.h"

using aclemu::Api;
using aclemu::Fail;
using aclemu::FailNull;

namespace {

// Settings that make no sense are the caller's mistake here, not the machine's.
template <typename Function>
aclError Set(const char *name, Function function)
{
    return Api(name, [&]() -> aclError {
        try {
            function();
            return ACL_SUCCESS;
        } catch (const std::invalid_argument &error) {
            return Fail(ACL_ERROR_INVALID_PARAM, "%s", error.what());
        }
    });
}

// Looks in every library of the process: those of dlopen are not in the global scope.
bool IsExported(const std::string &name)
{
    std::vector<std::string> libraries;
    dl_iterate_phdr(
        [](dl_phdr_info *info, size_t, void *names) {
            static_cast<std::vector<std::string> *>(names)->emplace_back(info->dlpi_name);
            return 0;
        },
        &libraries);
    for (const std::string &library : libraries) {
        void *handle = dlopen(library.empty() ? nullptr : library.c_str(), RTLD_LAZY | RTLD_NOLOAD);
        const bool found = handle != nullptr && dlsym(handle, name.c_str()) != nullptr;
        if (handle != nullptr) {
            dlclose(handle);
        }
        if (found) {
            return true;
        }
    }
    return false;
}

} // namespace

int64_t aclemuLiveObjects(const char *kind)
{
    return kind != nullptr ? aclemu::LiveObjects(kind) : -1;
}

size_t aclemuLeakReport(char *text, size_t size)
{
    const std::string report = aclemu::LeakReport();
    if (text != nullptr && size > 0) {
        const size_t count = std::min(report.size(), size - 1);
        std::memcpy(text, report.data(), count);
        text[count] = '\0';
    }
    return report.size();
}

aclError aclemuSetChecks(const char *list)
{
    return Set("aclemuSetChecks", [=] { aclemu::SetChecks(list != nullptr ? list : ""); });
}

aclError aclemuSetStreamMode(const char *mode)
{
    return Set("aclemuSetStreamMode", [=] { aclemu::SetDelayedStreams(mode != nullptr ? mode : ""); });
}

aclError aclemuLogCalls(const char *path)
{
    return Set("aclemuLogCalls", [=] {
        if (!aclemu::LogCallsTo(path != nullptr ? path : "")) {
            throw std::invalid_argument(std::string("parameter path is \"") + path + "\", which cannot be written");
        }
    });
}

aclError aclemuFailAllocation(uint64_t nth)
{
    return Set("aclemuFailAllocation", [=] { aclemu::SetAllocationFault(nth); });
}

aclError aclemuFailOperator(const char *op, int phase, int32_t code)
{
    return Api("aclemuFailOperator", [=]() -> aclError {
        if (op == nullptr) {
            return FailNull("op");
        }
        if (phase != 1 && phase != 2) {
            return Fail(ACL_ERROR_INVALID_PARAM, "parameter phase is %d; it must be 1 or 2", phase);
        }
        if (aclemu::LogEnabled(aclemu::LogLevel::WARNING, "RUNTIME") && !IsExported(op)) {
            aclemu::WriteLog(aclemu::LogLevel::WARNING, "RUNTIME",
                             std::string("aclemuFailOperator: no loaded library exports ") + op);
        }
        aclemu::SetOperatorFault(op, phase, code);
        return ACL_SUCCESS;
    });
}

aclError aclemuFailSynchronize(aclError code)
{
    return Set("aclemuFailSynchronize", [=] { aclemu::SetSynchronizeFault(code); });
}
