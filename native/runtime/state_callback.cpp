#include "runtime/state_callback.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/api.h"
#include "runtime/context.h"
#include "runtime/device.h"

using aclemu::Api;
using aclemu::Fail;
using aclemu::FailNull;

// What a callback can ask about a fault.
struct rtExceptionInfo {
    uint32_t task;
    uint32_t stream;
    uint32_t thread;
    uint32_t device;
    uint32_t code;
};

namespace aclemu {
namespace {

// One function per name; a name given again replaces the first, and NULL takes it out.
template <typename Function>
class NamedCallbacks {
public:
    aclError Set(const char *name, Function function, void *args)
    {
        if (name == nullptr) {
            return FailNull("regName");
        }
        const std::lock_guard<std::mutex> lock(mutex_);
        if (function == nullptr) {
            callbacks_.erase(name);
        } else {
            callbacks_[name] = {function, args};
        }
        return ACL_SUCCESS;
    }

    // Calls without the lock: a callback may register others.
    template <typename Call>
    void ForEach(Call call)
    {
        std::vector<std::pair<Function, void *>> all;
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            for (const auto &entry : callbacks_) {
                all.push_back(entry.second);
            }
        }
        for (const auto &entry : all) {
            call(entry.first, entry.second);
        }
    }

private:
    std::mutex mutex_;
    std::map<std::string, std::pair<Function, void *>> callbacks_;
};

template <typename Function>
NamedCallbacks<Function> &Callbacks()
{
    static auto *callbacks = new NamedCallbacks<Function>();
    return *callbacks;
}

struct ExceptionCallbacks {
    std::mutex mutex;
    std::vector<aclrtExceptionInfoCallback> all;
    aclrtExceptionInfoCallback set = nullptr; // by aclrtSetExceptionInfoCallback, which knows only one
};

ExceptionCallbacks &Exceptions()
{
    static auto *callbacks = new ExceptionCallbacks();
    return *callbacks;
}

} // namespace

void TellDeviceState(int32_t device, aclrtDeviceState state)
{
    Callbacks<aclrtDeviceStateCallback>().ForEach(
        [&](aclrtDeviceStateCallback call, void *args) { call(device, state, args); });
}

void TellStreamState(aclrtStream stream, aclrtStreamState state)
{
    Callbacks<aclrtStreamStateCallback>().ForEach(
        [&](aclrtStreamStateCallback call, void *args) { call(stream, state, args); });
}

void TellException(uint32_t task, uint32_t stream, uint32_t device, aclError code)
{
    std::vector<aclrtExceptionInfoCallback> calls;
    {
        ExceptionCallbacks &known = Exceptions();
        const std::lock_guard<std::mutex> lock(known.mutex);
        calls = known.all;
        if (known.set != nullptr) {
            calls.push_back(known.set);
        }
    }
    rtExceptionInfo info = {task, stream, static_cast<uint32_t>(syscall(SYS_gettid)), device,
                            static_cast<uint32_t>(code)};
    for (const aclrtExceptionInfoCallback call : calls) {
        call(&info);
    }
}

namespace {

// Drops what is queued on the device's streams, between the two stages that callbacks may stop.
aclError AbortTasks(int32_t device, uint32_t timeout)
{
    bool stopped = false;
    const auto tell = [&](aclrtDeviceTaskAbortStage stage) {
        Callbacks<aclrtDeviceTaskAbortCallback>().ForEach([&](aclrtDeviceTaskAbortCallback call, void *args) {
            stopped = stopped || call(device, stage, timeout, args) != 0;
        });
        return stopped;
    };
    if (tell(ACL_RT_DEVICE_TASK_ABORT_PRE)) {
        return Fail(ACL_ERROR_RT_TASK_ABORT_STOP, "a callback refused to abort the tasks of device %d", device);
    }
    for (const auto &stream :
         Streams().Select([device](const Stream &s) { return s.context->device == device; })) {
        stream->queue->Clear();
    }
    if (tell(ACL_RT_DEVICE_TASK_ABORT_POST)) {
        return Fail(ACL_ERROR_RT_TASK_ABORT_STOP, "a callback failed after the tasks of device %d were dropped",
                    device);
    }
    return ACL_SUCCESS;
}

} // namespace
} // namespace aclemu

aclError aclrtRegDeviceStateCallback(const char *regName, aclrtDeviceStateCallback callback, void *args)
{
    return Api("aclrtRegDeviceStateCallback",
               [=] { return aclemu::Callbacks<aclrtDeviceStateCallback>().Set(regName, callback, args); });
}

aclError aclrtRegStreamStateCallback(const char *regName, aclrtStreamStateCallback callback, void *args)
{
    return Api("aclrtRegStreamStateCallback",
               [=] { return aclemu::Callbacks<aclrtStreamStateCallback>().Set(regName, callback, args); });
}

aclError aclrtSetDeviceTaskAbortCallback(const char *regName, aclrtDeviceTaskAbortCallback callback, void *args)
{
    return Api("aclrtSetDeviceTaskAbortCallback",
               [=] { return aclemu::Callbacks<aclrtDeviceTaskAbortCallback>().Set(regName, callback, args); });
}

aclError aclrtDeviceTaskAbort(int32_t deviceId, uint32_t timeout)
{
    return Api("aclrtDeviceTaskAbort", [=] {
        const aclError status = aclemu::CheckDevice(deviceId);
        return status != ACL_SUCCESS ? status : aclemu::AbortTasks(deviceId, timeout);
    });
}

aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback)
{
    return Api("aclrtSetExceptionInfoCallback", [=]() -> aclError {
        aclemu::ExceptionCallbacks &known = aclemu::Exceptions();
        const std::lock_guard<std::mutex> lock(known.mutex);
        known.set = callback;
        return ACL_SUCCESS;
    });
}

aclError aclrtExceptionInfoCallbackRegister(aclrtExceptionInfoCallback callback)
{
    return Api("aclrtExceptionInfoCallbackRegister", [=]() -> aclError {
        if (callback == nullptr) {
            return FailNull("callback");
        }
        aclemu::ExceptionCallbacks &known = aclemu::Exceptions();
        const std::lock_guard<std::mutex> lock(known.mutex);
        if (std::find(known.all.begin(), known.all.end(), callback) == known.all.end()) {
            known.all.push_back(callback);
        }
        return ACL_SUCCESS;
    });
}

aclError aclrtExceptionInfoCallbackUnregister(aclrtExceptionInfoCallback callback)
{
    return Api("aclrtExceptionInfoCallbackUnregister", [=]() -> aclError {
        aclemu::ExceptionCallbacks &known = aclemu::Exceptions();
        const std::lock_guard<std::mutex> lock(known.mutex);
        const auto found = std::find(known.all.begin(), known.all.end(), callback);
        if (found == known.all.end()) {
            return Fail(ACL_ERROR_INVALID_PARAM, "parameter callback is not registered");
        }
        known.all.erase(found);
        return ACL_SUCCESS;
    });
}

uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo *info)
{
    return info != nullptr ? info->task : UINT32_MAX;
}

uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo *info)
{
    return info != nullptr ? info->stream : UINT32_MAX;
}

uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo *info)
{
    return info != nullptr ? info->thread : UINT32_MAX;
}

uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo *info)
{
    return info != nullptr ? info->device : UINT32_MAX;
}

uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo *info)
{
    return info != nullptr ? info->code : UINT32_MAX;
}
