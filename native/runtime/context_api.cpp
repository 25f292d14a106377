#include "acl/acl_rt.h"
#include "runtime/api.h"
#include "runtime/context.h"
#include "runtime/counters.h"
#include "runtime/device.h"

using aclemu::Api;
using aclemu::Fail;
using aclemu::FailNull;

aclError aclrtCreateContext(aclrtContext *context, int32_t deviceId)
{
    return Api("aclrtCreateContext", [=]() -> aclError {
        if (context == nullptr) {
            return FailNull("context");
        }
        const aclError status = aclemu::CheckDevice(deviceId);
        if (status != ACL_SUCCESS) {
            return status;
        }
        aclemu::MarkUsed();
        const auto made = aclemu::NewContext(deviceId);
        aclemu::Contexts().Insert(made->handle, made);
        aclemu::HoldDevice(deviceId);
        aclemu::CountObject(aclemu::Kind::CONTEXT, 1);
        aclemu::SetCurrentContext(*made);
        *context = made->handle;
        return ACL_SUCCESS;
    });
}

aclError aclrtDestroyContext(aclrtContext context)
{
    return Api("aclrtDestroyContext", [=]() -> aclError {
        if (context == nullptr) {
            return FailNull("context");
        }
        const auto found = aclemu::Contexts().Find(context);
        if (found == nullptr) {
            return Fail(ACL_ERROR_RT_PARAM_INVALID, "context %p is not alive", context);
        }
        if (found->isDefault) {
            return Fail(ACL_ERROR_RT_PARAM_INVALID,
                        "context %p is the default context of device %d, which aclrtResetDevice ends",
                        context, found->device);
        }
        if (aclemu::Contexts().Remove(context) == nullptr) { // another thread was faster
            return Fail(ACL_ERROR_RT_PARAM_INVALID, "context %p is not alive", context);
        }
        aclemu::EndContext(found);
        aclemu::DropDevice(found->device);
        aclemu::CountObject(aclemu::Kind::CONTEXT, -1);
        return ACL_SUCCESS;
    });
}

aclError aclrtSetCurrentContext(aclrtContext context)
{
    return Api("aclrtSetCurrentContext", [=]() -> aclError {
        if (context == nullptr) {
            return FailNull("context");
        }
        const auto found = aclemu::Contexts().Find(context);
        if (found == nullptr) {
            return Fail(ACL_ERROR_RT_PARAM_INVALID, "context %p is not alive", context);
        }
        aclemu::SetCurrentContext(*found);
        return ACL_SUCCESS;
    });
}

aclError aclrtGetCurrentContext(aclrtContext *context)
{
    return Api("aclrtGetCurrentContext", [=]() -> aclError {
        if (context == nullptr) {
            return FailNull("context");
        }
        const auto current = aclemu::RequireContext();
        if (current == nullptr) {
            return ACL_ERROR_RT_CONTEXT_NULL;
        }
        *context = current->handle;
        return ACL_SUCCESS;
    });
}

aclError aclrtCtxGetCurrentDefaultStream(aclrtStream *stream)
{
    return Api("aclrtCtxGetCurrentDefaultStream", [=]() -> aclError {
        if (stream == nullptr) {
            return FailNull("stream");
        }
        const auto current = aclemu::RequireContext();
        if (current == nullptr) {
            return ACL_ERROR_RT_CONTEXT_NULL;
        }
        *stream = current->defaultStream;
        return ACL_SUCCESS;
    });
}

namespace {

aclError CheckOption(aclSysParamOpt opt)
{
    if (opt < ACL_OPT_DETERMINISTIC || opt > ACL_OPT_ENABLE_KERNEL_EARLY_START) {
        return Fail(ACL_ERROR_RT_PARAM_INVALID, "parameter opt is %d; it must be from %d to %d", opt,
                    ACL_OPT_DETERMINISTIC, ACL_OPT_ENABLE_KERNEL_EARLY_START);
    }
    return ACL_SUCCESS;
}

struct SystemParameters {
    std::mutex mutex;
    std::map<aclSysParamOpt, int64_t> values;
};

SystemParameters &ProcessParameters()
{
    static auto *parameters = new SystemParameters();
    return *parameters;
}

aclError SetParameter(std::mutex &mutex, std::map<aclSysParamOpt, int64_t> &values, aclSysParamOpt opt,
                      int64_t value)
{
    const aclError status = CheckOption(opt);
    if (status == ACL_SUCCESS) {
        const std::lock_guard<std::mutex> lock(mutex);
        values[opt] = value;
    }
    return status;
}

aclError GetParameter(std::mutex &mutex, const std::map<aclSysParamOpt, int64_t> &values, aclSysParamOpt opt,
                      int64_t *value)
{
    if (value == nullptr) {
        return FailNull("value");
    }
    const aclError status = CheckOption(opt);
    if (status != ACL_SUCCESS) {
        return status;
    }
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = values.find(opt);
    if (found == values.end()) {
        return Fail(ACL_ERROR_RT_SYSPARAMOPT_NOT_SET, "parameter %d was never set", opt);
    }
    *value = found->second;
    return ACL_SUCCESS;
}

} // namespace

aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value)
{
    return Api("aclrtSetSysParamOpt", [=] {
        auto &process = ProcessParameters();
        return SetParameter(process.mutex, process.values, opt, value);
    });
}

aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t *value)
{
    return Api("aclrtGetSysParamOpt", [=] {
        auto &process = ProcessParameters();
        return GetParameter(process.mutex, process.values, opt, value);
    });
}

aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value)
{
    return Api("aclrtCtxSetSysParamOpt", [=] {
        const auto context = aclemu::RequireContext();
        return context == nullptr ? ACL_ERROR_RT_CONTEXT_NULL
                                  : SetParameter(context->mutex, context->parameters, opt, value);
    });
}

aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t *value)
{
    return Api("aclrtCtxGetSysParamOpt", [=] {
        const auto context = aclemu::RequireContext();
        return context == nullptr ? ACL_ERROR_RT_CONTEXT_NULL
                                  : GetParameter(context->mutex, context->parameters, opt, value);
    });
}
