// What a program can ask about devices beyond their number and state.
#include <unistd.h>

#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "acl/acl_rt.h"
#include "runtime/api.h"
#include "runtime/context.h"
#include "runtime/device.h"
#include "runtime/memory.h"
#include "runtime/place.h"
#include "runtime/platform.h"

using aclemu::Api;
using aclemu::Fail;
using aclemu::FailNull;

namespace aclemu {
namespace {

constexpr int32_t kLeastPriority = 7;

// From one numbering of devices to another: the program's own, in which ASCEND_RT_VISIBLE_DEVICES counts from
// 0, and that of the machine, in which the logic and the physical number are the same here.
aclError ToMachine(const char *name, int32_t user, int32_t *machine)
{
    if (machine == nullptr) {
        return FailNull(name);
    }
    const aclError status = CheckDevice(user);
    if (status == ACL_SUCCESS) {
        *machine = VisibleIds()[static_cast<size_t>(user)];
    }
    return status;
}

aclError ToUser(const char *name, int32_t machine, int32_t *user)
{
    if (user == nullptr) {
        return FailNull(name);
    }
    const aclError status = CheckDevice(0);
    if (status != ACL_SUCCESS) {
        return status;
    }
    const std::vector<int32_t> &ids = VisibleIds();
    for (size_t i = 0; i < ids.size(); ++i) {
        if (ids[i] == machine) {
            *user = static_cast<int32_t>(i);
            return ACL_SUCCESS;
        }
    }
    return Fail(ACL_ERROR_RT_INVALID_DEVICEID, "device %d of the machine is not visible to this process", machine);
}

aclError SameMachine(const char *name, int32_t machine, int32_t *out)
{
    int32_t user = 0;
    const aclError status = ToUser(name, machine, out == nullptr ? nullptr : &user);
    if (status == ACL_SUCCESS) {
        *out = machine;
    }
    return status;
}

struct Peers {
    std::mutex mutex;
    std::set<std::pair<int32_t, int32_t>> enabled; // from, to
};

Peers &PeerAccess()
{
    static auto *peers = new Peers();
    return *peers;
}

aclError SetPeer(int32_t peer, bool enable)
{
    const auto context = RequireContext();
    if (context == nullptr) {
        return ACL_ERROR_RT_CONTEXT_NULL;
    }
    const aclError status = CheckDevice(peer);
    if (status != ACL_SUCCESS) {
        return status;
    }
    if (peer == context->device) {
        return Fail(ACL_ERROR_RT_PARAM_INVALID, "parameter peerDeviceId is %d, the current device itself", peer);
    }
    Peers &peers = PeerAccess();
    const std::lock_guard<std::mutex> lock(peers.mutex);
    if (enable) {
        peers.enabled.insert({context->device, peer});
    } else if (peers.enabled.erase({context->device, peer}) == 0) {
        return Fail(ACL_ERROR_RT_PARAM_INVALID, "device %d has no access to device %d", context->device, peer);
    }
    return ACL_SUCCESS;
}

aclError Cores(aclrtDevResLimitType type, uint32_t *value)
{
    if (value == nullptr) {
        return FailNull("value");
    }
    const Platform &platform = CurrentPlatform();
    switch (type) {
        case ACL_RT_DEV_RES_CUBE_CORE:
            *value = platform.aicCores;
            return ACL_SUCCESS;
        case ACL_RT_DEV_RES_VECTOR_CORE:
            *value = platform.aivCores;
            return ACL_SUCCESS;
    }
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "parameter type is %d; it must be %d or %d", type,
                ACL_RT_DEV_RES_CUBE_CORE, ACL_RT_DEV_RES_VECTOR_CORE);
}

} // namespace

std::string OutOfReach(const void *address)
{
    if (VisibleDevices() < 2) {
        return "";
    }
    const auto context = CurrentContext();
    Allocation found;
    if (context == nullptr || !FindAllocation(address, &found) || found.device == context->device) {
        return "";
    }
    Peers &peers = PeerAccess();
    const std::lock_guard<std::mutex> lock(peers.mutex);
    if (peers.enabled.count({context->device, found.device}) != 0) {
        return "";
    }
    return "is memory of device " + std::to_string(found.device) + ", to which device " +
           std::to_string(context->device) + " has no access";
}

} // namespace aclemu

aclError aclrtGetPhyDevIdByUserDevId(const int32_t userDevId, int32_t *const phyDevId)
{
    return Api("aclrtGetPhyDevIdByUserDevId", [=] { return aclemu::ToMachine("phyDevId", userDevId, phyDevId); });
}

aclError aclrtGetLogicDevIdByUserDevId(const int32_t userDevid, int32_t *const logicDevId)
{
    return Api("aclrtGetLogicDevIdByUserDevId",
               [=] { return aclemu::ToMachine("logicDevId", userDevid, logicDevId); });
}

aclError aclrtGetUserDevIdByPhyDevId(const int32_t phyDevId, int32_t *const userDevId)
{
    return Api("aclrtGetUserDevIdByPhyDevId", [=] { return aclemu::ToUser("userDevId", phyDevId, userDevId); });
}

aclError aclrtGetUserDevIdByLogicDevId(const int32_t logicDevId, int32_t *const userDevid)
{
    return Api("aclrtGetUserDevIdByLogicDevId",
               [=] { return aclemu::ToUser("userDevid", logicDevId, userDevid); });
}

aclError aclrtGetPhyDevIdByLogicDevId(const int32_t logicDevId, int32_t *const phyDevId)
{
    return Api("aclrtGetPhyDevIdByLogicDevId",
               [=] { return aclemu::SameMachine("phyDevId", logicDevId, phyDevId); });
}

aclError aclrtGetLogicDevIdByPhyDevId(const int32_t phyDevId, int32_t *const logicDevId)
{
    return Api("aclrtGetLogicDevIdByPhyDevId",
               [=] { return aclemu::SameMachine("logicDevId", phyDevId, logicDevId); });
}

aclError aclrtDeviceCanAccessPeer(int32_t *canAccessPeer, int32_t deviceId, int32_t peerDeviceId)
{
    return Api("aclrtDeviceCanAccessPeer", [=]() -> aclError {
        if (canAccessPeer == nullptr) {
            return FailNull("canAccessPeer");
        }
        aclError status = aclemu::CheckDevice(deviceId);
        if (status == ACL_SUCCESS) {
            status = aclemu::CheckDevice(peerDeviceId);
        }
        if (status == ACL_SUCCESS) {
            *canAccessPeer = deviceId != peerDeviceId ? 1 : 0;
        }
        return status;
    });
}

aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags)
{
    return Api("aclrtDeviceEnablePeerAccess", [=]() -> aclError {
        if (flags != 0) {
            return Fail(ACL_ERROR_INVALID_PARAM, "parameter flags is %u; it must be 0", flags);
        }
        return aclemu::SetPeer(peerDeviceId, true);
    });
}

aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId)
{
    return Api("aclrtDeviceDisablePeerAccess", [=] { return aclemu::SetPeer(peerDeviceId, false); });
}

aclError aclrtDevicePeerAccessStatus(int32_t deviceId, int32_t peerDeviceId, int32_t *status)
{
    return Api("aclrtDevicePeerAccessStatus", [=]() -> aclError {
        if (status == nullptr) {
            return FailNull("status");
        }
        aclError code = aclemu::CheckDevice(deviceId);
        if (code == ACL_SUCCESS) {
            code = aclemu::CheckDevice(peerDeviceId);
        }
        if (code == ACL_SUCCESS) {
            aclemu::Peers &peers = aclemu::PeerAccess();
            const std::lock_guard<std::mutex> lock(peers.mutex);
            *status = static_cast<int32_t>(peers.enabled.count({deviceId, peerDeviceId}));
        }
        return code;
    });
}

aclError aclrtDeviceGetBareTgid(int32_t *pid)
{
    return Api("aclrtDeviceGetBareTgid", [=]() -> aclError {
        if (pid == nullptr) {
            return FailNull("pid");
        }
        *pid = getpid();
        return ACL_SUCCESS;
    });
}

aclError aclrtDeviceGetStreamPriorityRange(int32_t *leastPriority, int32_t *greatestPriority)
{
    return Api("aclrtDeviceGetStreamPriorityRange", [=]() -> aclError {
        if (aclemu::RequireContext() == nullptr) {
            return ACL_ERROR_RT_CONTEXT_NULL;
        }
        if (leastPriority != nullptr) {
            *leastPriority = aclemu::kLeastPriority;
        }
        if (greatestPriority != nullptr) {
            *greatestPriority = 0;
        }
        return ACL_SUCCESS;
    });
}

aclError aclrtGetDeviceCapability(int32_t deviceId, aclrtDevFeatureType devFeatureType, int32_t *value)
{
    return Api("aclrtGetDeviceCapability", [=]() -> aclError {
        if (value == nullptr) {
            return FailNull("value");
        }
        if (devFeatureType != ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV &&
            devFeatureType != ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV) {
            return Fail(ACL_ERROR_INVALID_PARAM, "parameter devFeatureType is %d; it must be %d or %d",
                        devFeatureType, ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV,
                        ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV);
        }
        const aclError status = aclemu::CheckDevice(deviceId);
        if (status == ACL_SUCCESS) {
            *value = ACL_DEV_FEATURE_NOT_SUPPORT; // neither task updates nor queues
        }
        return status;
    });
}

aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t *value)
{
    return Api("aclrtGetDeviceResLimit", [=] {
        const aclError status = aclemu::CheckDevice(deviceId);
        return status != ACL_SUCCESS ? status : aclemu::Cores(type, value);
    });
}

aclError aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t *value)
{
    return Api("aclrtGetStreamResLimit", [=] {
        aclError status = ACL_SUCCESS;
        return aclemu::RequireStream(stream, &status) == nullptr ? status : aclemu::Cores(type, value);
    });
}

aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t *value)
{
    return Api("aclrtGetResInCurrentThread", [=]() -> aclError {
        return aclemu::RequireContext() == nullptr ? ACL_ERROR_RT_CONTEXT_NULL : aclemu::Cores(type, value);
    });
}

aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode *mode)
{
    return Api("aclrtGetDeviceSatMode", [=]() -> aclError {
        if (mode == nullptr) {
            return FailNull("mode");
        }
        if (aclemu::RequireContext() == nullptr) {
            return ACL_ERROR_RT_CONTEXT_NULL;
        }
        *mode = ACL_RT_OVERFLOW_MODE_INFNAN;
        return ACL_SUCCESS;
    });
}

aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode)
{
    return Api("aclrtSetDeviceSatMode", [=]() -> aclError {
        if (aclemu::RequireContext() == nullptr) {
            return ACL_ERROR_RT_CONTEXT_NULL;
        }
        if (mode == ACL_RT_OVERFLOW_MODE_INFNAN) {
            return ACL_SUCCESS;
        }
        return Fail(mode == ACL_RT_OVERFLOW_MODE_SATURATION ? ACL_ERROR_RT_FEATURE_NOT_SUPPORT
                                                            : ACL_ERROR_RT_PARAM_INVALID,
                    "parameter mode is %d; the emulated chips keep infinities and NaN, "
                    "ACL_RT_OVERFLOW_MODE_INFNAN",
                    mode);
    });
}

aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t *flags, int32_t *active)
{
    return Api("aclrtGetPrimaryCtxState", [=]() -> aclError {
        if (active == nullptr) {
            return FailNull("active");
        }
        const aclError status = aclemu::CheckDevice(deviceId);
        if (status == ACL_SUCCESS) {
            *active = aclemu::HasPrimaryContext(deviceId) ? 1 : 0;
            if (flags != nullptr) {
                *flags = 0;
            }
        }
        return status;
    });
}

aclError aclrtCheckArchCompatibility(const char *socVersion, int32_t *canCompatible)
{
    return Api("aclrtCheckArchCompatibility", [=]() -> aclError {
        if (socVersion == nullptr) {
            return FailNull("socVersion");
        }
        if (canCompatible == nullptr) {
            return FailNull("canCompatible");
        }
        const aclemu::Platform *other = aclemu::FindPlatform(socVersion);
        *canCompatible = other != nullptr && other->npuArch == aclemu::CurrentPlatform().npuArch ? 1 : 0;
        return ACL_SUCCESS;
    });
}

aclError aclrtCheckMemType(void **addrList, uint32_t size, uint32_t memType, uint32_t *checkResult, uint32_t reserve)
{
    return Api("aclrtCheckMemType", [=]() -> aclError {
        const uint32_t known = ACL_RT_MEM_TYPE_DEV | ACL_RT_MEM_TYPE_DVPP | ACL_RT_MEM_TYPE_RSVD;
        if (addrList == nullptr || checkResult == nullptr) {
            return FailNull(addrList == nullptr ? "addrList" : "checkResult");
        }
        if (size == 0 || memType == 0 || (memType & ~known) != 0 || reserve != 0) {
            return Fail(ACL_ERROR_INVALID_PARAM,
                        "parameters size, memType and reserve are %u, 0x%x and %u; they must be above 0, of 0x%x, "
                        "and 0",
                        size, memType, reserve, known);
        }
        uint32_t all = 1;
        for (uint32_t i = 0; i < size; ++i) {
            aclemu::Place place = aclemu::Place::HOST;
            const aclError status = aclemu::Locate("addrList", addrList[i], 0, &place);
            if (status != ACL_SUCCESS) {
                return status;
            }
            all &= place == aclemu::Place::DEVICE && (memType & ACL_RT_MEM_TYPE_DEV) != 0 ? 1 : 0;
        }
        *checkResult = all;
        return ACL_SUCCESS;
    });
}
