#include <algorithm>
#include <cstdio>
#include <mutex>
#include <vector>

#include "acl/acl_rt.h"
#include "runtime/api.h"
#include "runtime/check.h"
#include "runtime/config.h"
#include "runtime/counters.h"

using aclemu::Api;
using aclemu::Fail;
using aclemu::FailNull;

namespace {

std::mutex g_mutex;
uint64_t g_references = 0;

// Functions of the program that run at the first aclInit, or at the end.
template <typename Function>
struct Callback {
    aclRegisterCallbackType type;
    Function function;
    void *data;
};

template <typename Function>
std::vector<Callback<Function>> &Callbacks()
{
    static auto *callbacks = new std::vector<Callback<Function>>();
    return *callbacks;
}

template <typename Function>
aclError Register(aclRegisterCallbackType type, Function function, void *data)
{
    if (function == nullptr) {
        return FailNull("cbFunc");
    }
    const std::lock_guard<std::mutex> lock(g_mutex);
    Callbacks<Function>().push_back({type, function, data});
    return ACL_SUCCESS;
}

template <typename Function>
aclError Unregister(aclRegisterCallbackType type, Function function)
{
    const std::lock_guard<std::mutex> lock(g_mutex);
    auto &all = Callbacks<Function>();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Callback<Function> &callback) {
        return callback.type == type && callback.function == function;
    });
    if (found == all.end()) {
        return Fail(ACL_ERROR_INVALID_PARAM, "parameter cbFunc is not registered for type %d", type);
    }
    all.erase(found);
    return ACL_SUCCESS;
}

// Calls one after the other, without the lock; the first failure is returned.
template <typename Function, typename Call>
aclError CallAll(Call call)
{
    std::vector<Callback<Function>> all;
    {
        const std::lock_guard<std::mutex> lock(g_mutex);
        all = Callbacks<Function>();
    }
    for (const auto &callback : all) {
        const aclError status = call(callback.function, callback.data);
        if (status != ACL_SUCCESS) {
            return Fail(status, "a registered callback returned %d", status);
        }
    }
    return ACL_SUCCESS;
}

// The last reference is gone.
aclError End()
{
    if ((aclemu::Checks() & aclemu::CHECK_LEAKS) != 0) {
        const std::string report = aclemu::LeakReport();
        if (!report.empty()) {
            std::fprintf(stderr, "at the end of the runtime some objects are alive:\n%s", report.c_str());
        }
    }
    return CallAll<aclFinalizeCallbackFunc>([](aclFinalizeCallbackFunc call, void *data) { return call(data); });
}

} // namespace

aclError aclInit(const char *configPath)
{
    return Api("aclInit", [=]() -> aclError {
        std::string config;
        {
            const std::lock_guard<std::mutex> lock(g_mutex);
            if (g_references > 0) {
                ++g_references;
                return Fail(ACL_ERROR_REPEAT_INITIALIZE,
                            "this process is initialised already; the call was counted, and aclFinalizeReference "
                            "takes it back");
            }
            const aclError status = aclemu::ReadConfig(configPath, &config);
            if (status != ACL_SUCCESS) {
                return status;
            }
            g_references = 1;
        }
        return CallAll<aclInitCallbackFunc>([&](aclInitCallbackFunc call, void *data) {
            return call(config.c_str(), config.size(), data);
        });
    });
}

aclError aclFinalize()
{
    return Api("aclFinalize", []() -> aclError {
        {
            const std::lock_guard<std::mutex> lock(g_mutex);
            if (g_references == 0) {
                return Fail(ACL_ERROR_REPEAT_FINALIZE,
                            "aclInit was not called, or aclFinalize was called already");
            }
            g_references = 0;
        }
        return End();
    });
}

aclError aclFinalizeReference(uint64_t *refCount)
{
    return Api("aclFinalizeReference", [=]() -> aclError {
        uint64_t left = 0;
        {
            const std::lock_guard<std::mutex> lock(g_mutex);
            if (g_references == 0) {
                return Fail(ACL_ERROR_REPEAT_FINALIZE,
                            "aclInit was not called, or everything was finalised already");
            }
            left = --g_references;
        }
        if (refCount != nullptr) {
            *refCount = left;
        }
        return left > 0 ? ACL_SUCCESS : End();
    });
}

aclError aclInitCallbackRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc, void *userData)
{
    return Api("aclInitCallbackRegister", [=] { return Register(type, cbFunc, userData); });
}

aclError aclInitCallbackUnRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc)
{
    return Api("aclInitCallbackUnRegister", [=] { return Unregister(type, cbFunc); });
}

aclError aclFinalizeCallbackRegister(aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc, void *userData)
{
    return Api("aclFinalizeCallbackRegister", [=] { return Register(type, cbFunc, userData); });
}

aclError aclFinalizeCallbackUnRegister(aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc)
{
    return Api("aclFinalizeCallbackUnRegister", [=] { return Unregister(type, cbFunc); });
}
