// What the emulated CANN is and can do: versions, attributes, and that nothing is captured into graphs.
#include <cstring>

#include "acl/acl_rt.h"
#include "runtime/api.h"
#include "runtime/context.h"

using aclemu::Api;
using aclemu::Fail;
using aclemu::FailNull;

namespace aclemu {
namespace {

// The release whose interface the headers follow.
constexpr const char *kParts[] = {"9", "1", "0", "0"};

thread_local aclmdlRICaptureMode t_captureMode = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;

constexpr aclCannAttr kAttributes[] = {ACL_CANN_ATTR_INF_NAN, ACL_CANN_ATTR_BF16, ACL_CANN_ATTR_JIT_COMPILE};

} // namespace
} // namespace aclemu

aclError aclrtGetVersion(int32_t *majorVersion, int32_t *minorVersion, int32_t *patchVersion)
{
    return Api("aclrtGetVersion", [=]() -> aclError {
        if (majorVersion == nullptr) {
            return FailNull("majorVersion");
        }
        if (minorVersion == nullptr) {
            return FailNull("minorVersion");
        }
        if (patchVersion == nullptr) {
            return FailNull("patchVersion");
        }
        *majorVersion = ACL_MAJOR_VERSION;
        *minorVersion = ACL_MINOR_VERSION;
        *patchVersion = ACL_PATCH_VERSION;
        return ACL_SUCCESS;
    });
}

aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion *version)
{
    return Api("aclsysGetCANNVersion", [=]() -> aclError {
        if (version == nullptr) {
            return FailNull("version");
        }
        if (name < ACL_PKG_NAME_CANN || name > ACL_PKG_NAME_DRIVER) {
            return Fail(ACL_ERROR_INVALID_PARAM, "parameter name is %d; it must be from %d to %d", name,
                        ACL_PKG_NAME_CANN, ACL_PKG_NAME_DRIVER);
        }
        if (name != ACL_PKG_NAME_CANN && name != ACL_PKG_NAME_RUNTIME) {
            return Fail(ACL_ERROR_FEATURE_UNSUPPORTED,
                        "parameter name is %d; of CANN's packages the emulator stands for CANN and the runtime only",
                        name);
        }
        *version = {};
        std::strcpy(version->version, "9.1.0");
        std::strcpy(version->majorVersion, aclemu::kParts[0]);
        std::strcpy(version->minorVersion, aclemu::kParts[1]);
        std::strcpy(version->releaseVersion, aclemu::kParts[2]);
        std::strcpy(version->patchVersion, aclemu::kParts[3]);
        return ACL_SUCCESS;
    });
}

aclError aclGetCannAttributeList(const aclCannAttr **cannAttrList, size_t *num)
{
    return Api("aclGetCannAttributeList", [=]() -> aclError {
        if (cannAttrList == nullptr) {
            return FailNull("cannAttrList");
        }
        if (num == nullptr) {
            return FailNull("num");
        }
        *cannAttrList = aclemu::kAttributes;
        *num = sizeof(aclemu::kAttributes) / sizeof(aclemu::kAttributes[0]);
        return ACL_SUCCESS;
    });
}

aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t *value)
{
    return Api("aclGetCannAttribute", [=]() -> aclError {
        if (value == nullptr) {
            return FailNull("value");
        }
        if (cannAttr < ACL_CANN_ATTR_INF_NAN || cannAttr > ACL_CANN_ATTR_JIT_COMPILE) {
            return Fail(ACL_ERROR_INVALID_PARAM, "parameter cannAttr is %d; it must be from %d to %d", cannAttr,
                        ACL_CANN_ATTR_INF_NAN, ACL_CANN_ATTR_JIT_COMPILE);
        }
        *value = cannAttr == ACL_CANN_ATTR_JIT_COMPILE ? 0 : 1; // operators are built ahead of time
        return ACL_SUCCESS;
    });
}

aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus *status, aclmdlRI *modelRI)
{
    return Api("aclmdlRICaptureGetInfo", [=]() -> aclError {
        if (status == nullptr) {
            return FailNull("status");
        }
        aclError code = ACL_SUCCESS;
        if (aclemu::RequireStream(stream, &code) != nullptr) {
            *status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
            if (modelRI != nullptr) {
                *modelRI = nullptr;
            }
        }
        return code;
    });
}

aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode *mode)
{
    return Api("aclmdlRICaptureThreadExchangeMode", [=]() -> aclError {
        if (mode == nullptr) {
            return FailNull("mode");
        }
        if (*mode < ACL_MODEL_RI_CAPTURE_MODE_GLOBAL || *mode > ACL_MODEL_RI_CAPTURE_MODE_RELAXED) {
            return Fail(ACL_ERROR_INVALID_PARAM, "parameter mode points to %d; it must be from %d to %d", *mode,
                        ACL_MODEL_RI_CAPTURE_MODE_GLOBAL, ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
        }
        std::swap(*mode, aclemu::t_captureMode);
        return ACL_SUCCESS;
    });
}
