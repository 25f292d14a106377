#include "runtime/device.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "acl/acl_rt.h"
#include "runtime/allocator.h"
#include "runtime/api.h"
#include "runtime/call_log.h"
#include "runtime/check.h"
#include "runtime/context.h"
#include "runtime/environment.h"
#include "runtime/error_text.h"
#include "runtime/fault.h"
#include "runtime/platform.h"
#include "runtime/state_callback.h"

namespace aclemu {
namespace {

constexpr int64_t kMaxDevices = 64;
constexpr uint64_t GiB = uint64_t{1} << 30;

struct Device {
    std::mutex mutex;
    uint64_t references = 0; // aclrtSetDevice less aclrtResetDevice
    uint64_t holders = 0; // contexts the program made
    std::shared_ptr<Context> primary;
};

Device &DeviceAt(int32_t device)
{
    static auto *devices = new Device[kMaxDevices];
    return devices[device];
}

// Device memory goes with the last context; what was not freed is not found afterwards.
void ReleaseIfUnused(int32_t id, const Device &device)
{
    if (device.references == 0 && device.holders == 0) {
        FreeAllOn(id);
    }
}

// ids of ASCEND_RT_VISIBLE_DEVICES that exist; the list ends at the first that does not, or repeats.
std::vector<int32_t> ReadVisible(int64_t existing)
{
    std::vector<int32_t> ids;
    const char *list = std::getenv("ASCEND_RT_VISIBLE_DEVICES");
    for (int32_t id = 0; list == nullptr && id < existing; ++id) {
        ids.push_back(id);
    }
    while (list != nullptr) {
        char *end = nullptr;
        const long id = std::strtol(list, &end, 10);
        const bool valid = end != list && (*end == '\0' || *end == ',') && id >= 0 && id < existing &&
                           std::find(ids.begin(), ids.end(), id) == ids.end();
        if (!valid) {
            break;
        }
        ids.push_back(static_cast<int32_t>(id));
        if (*end == '\0') {
            break;
        }
        list = end + 1;
    }
    return ids;
}

} // namespace

const std::vector<int32_t> &VisibleIds()
{
    static const std::vector<int32_t> ids = ReadVisible(EnvironmentInteger("ACLEMU_DEVICES", 1, 1, kMaxDevices));
    return ids;
}

uint32_t VisibleDevices()
{
    return static_cast<uint32_t>(VisibleIds().size());
}

bool HasPrimaryContext(int32_t id)
{
    Device &device = DeviceAt(id);
    const std::lock_guard<std::mutex> lock(device.mutex);
    return device.primary != nullptr;
}

uint64_t DeviceMemorySize()
{
    static const uint64_t size = EnvironmentBytes("ACLEMU_MEMORY", 64 * GiB, 1 << 20, 1024 * GiB);
    return size;
}

aclError CheckDevice(int64_t deviceId)
{
    uint32_t count = 0;
    try {
        count = VisibleDevices();
        DeviceMemorySize();
        CurrentPlatform();
        WorkerThreads();
        DelayedStreams();
        Checks();
        OlderErrorForm();
        ReadFaults();
        CheckCallLog();
    } catch (const std::invalid_argument &error) {
        return Fail(ACL_ERROR_RT_DEV_SETUP_ERROR, "%s", error.what());
    }
    if (count == 0) {
        return Fail(ACL_ERROR_RT_NO_DEVICE,
                    "ASCEND_RT_VISIBLE_DEVICES is \"%s\", which names no device of this machine",
                    EnvironmentText("ASCEND_RT_VISIBLE_DEVICES").c_str());
    }
    if (deviceId < 0 || deviceId >= static_cast<int64_t>(count)) {
        return Fail(ACL_ERROR_RT_INVALID_DEVICEID, "parameter deviceId is %lld; it must be from 0 to %u",
                    static_cast<long long>(deviceId), count - 1);
    }
    return ACL_SUCCESS;
}

void HoldDevice(int32_t id)
{
    Device &device = DeviceAt(id);
    const std::lock_guard<std::mutex> lock(device.mutex);
    ++device.holders;
}

void DropDevice(int32_t id)
{
    Device &device = DeviceAt(id);
    const std::lock_guard<std::mutex> lock(device.mutex);
    --device.holders;
    ReleaseIfUnused(id, device);
}

aclError SynchronizeDevice(int32_t device, int64_t timeoutMs)
{
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::milliseconds(std::max<int64_t>(timeoutMs, 0));
    aclError first = ACL_SUCCESS;
    for (const auto &stream :
         Streams().Select([device](const Stream &s) { return s.context->device == device; })) {
        int64_t left = timeoutMs;
        if (timeoutMs >= 0) {
            left = std::max<int64_t>(
                0, std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count());
        }
        const aclError status = WaitFor(*stream, stream->queue->Last(), left);
        first = first == ACL_SUCCESS ? status : first;
    }
    return first;
}

namespace {

aclError SetDevice(int32_t id)
{
    MarkUsed();
    Device &device = DeviceAt(id);
    const std::lock_guard<std::mutex> lock(device.mutex);
    if (device.primary == nullptr) {
        device.primary = NewContext(id);
        device.primary->isDefault = true;
        Contexts().Insert(device.primary->handle, device.primary);
    }
    ++device.references;
    SetCurrentContext(*device.primary);
    return ACL_SUCCESS;
}

aclError ResetDevice(int32_t id, bool force)
{
    Device &device = DeviceAt(id);
    const std::lock_guard<std::mutex> lock(device.mutex);
    if (device.references == 0) {
        return Fail(ACL_ERROR_RT_CONTEXT_NULL, "device %d is not set, or was reset already", id);
    }
    device.references = force ? 0 : device.references - 1;
    if (device.references == 0) {
        Contexts().Remove(device.primary->handle);
        EndContext(device.primary);
        device.primary = nullptr;
        ReleaseIfUnused(id, device);
    }
    return ACL_SUCCESS;
}

// Does `change` between the two calls that tell what happens to the device.
template <typename Function>
aclError Tell(int32_t id, aclrtDeviceState before, aclrtDeviceState after, Function change)
{
    aclError status = CheckDevice(id);
    if (status != ACL_SUCCESS) {
        return status;
    }
    TellDeviceState(id, before);
    status = change();
    if (status == ACL_SUCCESS) {
        TellDeviceState(id, after);
    }
    return status;
}

aclError Set(int32_t id)
{
    return Tell(id, ACL_RT_DEVICE_STATE_SET_PRE, ACL_RT_DEVICE_STATE_SET_POST, [id] { return SetDevice(id); });
}

aclError Reset(int32_t id, bool force)
{
    return Tell(id, ACL_RT_DEVICE_STATE_RESET_PRE, ACL_RT_DEVICE_STATE_RESET_POST,
                [=] { return ResetDevice(id, force); });
}

} // namespace
} // namespace aclemu

using aclemu::Api;
using aclemu::FailNull;

aclError aclrtSetDevice(int32_t deviceId)
{
    return Api("aclrtSetDevice", [=] { return aclemu::Set(deviceId); });
}

aclError aclrtResetDevice(int32_t deviceId)
{
    return Api("aclrtResetDevice", [=] { return aclemu::Reset(deviceId, false); });
}

aclError aclrtResetDeviceForce(int32_t deviceId)
{
    return Api("aclrtResetDeviceForce", [=] { return aclemu::Reset(deviceId, true); });
}

aclError aclrtGetDevice(int32_t *deviceId)
{
    return Api("aclrtGetDevice", [=]() -> aclError {
        if (deviceId == nullptr) {
            return FailNull("deviceId");
        }
        const auto context = aclemu::RequireContext();
        if (context == nullptr) {
            return ACL_ERROR_RT_CONTEXT_NULL;
        }
        *deviceId = context->device;
        return ACL_SUCCESS;
    });
}

aclError aclrtGetDeviceCount(uint32_t *count)
{
    return Api("aclrtGetDeviceCount", [=]() -> aclError {
        if (count == nullptr) {
            return FailNull("count");
        }
        const aclError status = aclemu::CheckDevice(0);
        if (status == ACL_SUCCESS) {
            *count = aclemu::VisibleDevices();
        }
        return status;
    });
}

aclError aclrtQueryDeviceStatus(int32_t deviceId, aclrtDeviceStatus *deviceStatus)
{
    return Api("aclrtQueryDeviceStatus", [=]() -> aclError {
        if (deviceStatus == nullptr) {
            return FailNull("deviceStatus");
        }
        const aclError status = aclemu::CheckDevice(deviceId);
        if (status == ACL_SUCCESS) {
            *deviceStatus = ACL_RT_DEVICE_STATUS_NORMAL;
        }
        return status;
    });
}

aclError aclrtGetRunMode(aclrtRunMode *runMode)
{
    return Api("aclrtGetRunMode", [=]() -> aclError {
        if (runMode == nullptr) {
            return FailNull("runMode");
        }
        *runMode = ACL_HOST;
        return ACL_SUCCESS;
    });
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout)
{
    return Api("aclrtSynchronizeDeviceWithTimeout", [=]() -> aclError {
        if (timeout < -1) {
            return aclemu::Fail(ACL_ERROR_RT_PARAM_INVALID,
                                "parameter timeout is %d; it must be -1 or a number of milliseconds",
                                timeout);
        }
        const auto context = aclemu::RequireContext();
        return context == nullptr ? ACL_ERROR_RT_CONTEXT_NULL
                                  : aclemu::SynchronizeDevice(context->device, timeout);
    });
}

aclError aclrtSynchronizeDevice()
{
    return Api("aclrtSynchronizeDevice", []() -> aclError {
        const auto context = aclemu::RequireContext();
        return context == nullptr ? ACL_ERROR_RT_CONTEXT_NULL
                                  : aclemu::SynchronizeDevice(context->device, -1);
    });
}
