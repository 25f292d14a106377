#include <mutex>

#include "acl/acl_rt.h"
#include "runtime/api.h"
#include "runtime/config.h"

using aclemu::Api;
using aclemu::Fail;

namespace {

std::mutex g_mutex;
uint64_t g_references = 0;

} // namespace

aclError aclInit(const char *configPath)
{
    return Api("aclInit", [=]() -> aclError {
        const std::lock_guard<std::mutex> lock(g_mutex);
        if (g_references > 0) {
            ++g_references;
            return Fail(ACL_ERROR_REPEAT_INITIALIZE, "this process is initialised already; the call was "
                                                     "counted, and aclFinalizeReference takes it back");
        }
        const aclError status = aclemu::ReadConfig(configPath);
        if (status == ACL_SUCCESS) {
            g_references = 1;
        }
        return status;
    });
}

aclError aclFinalize()
{
    return Api("aclFinalize", []() -> aclError {
        const std::lock_guard<std::mutex> lock(g_mutex);
        if (g_references == 0) {
            return Fail(ACL_ERROR_REPEAT_FINALIZE,
                        "aclInit was not called, or aclFinalize was called already");
        }
        g_references = 0;
        return ACL_SUCCESS;
    });
}

aclError aclFinalizeReference(uint64_t *refCount)
{
    return Api("aclFinalizeReference", [=]() -> aclError {
        const std::lock_guard<std::mutex> lock(g_mutex);
        if (g_references == 0) {
            return Fail(ACL_ERROR_REPEAT_FINALIZE,
                        "aclInit was not called, or everything was finalised already");
        }
        --g_references;
        if (refCount != nullptr) {
            *refCount = g_references;
        }
        return ACL_SUCCESS;
    });
}

aclError aclrtGetVersion(int32_t *majorVersion, int32_t *minorVersion, int32_t *patchVersion)
{
    return Api("aclrtGetVersion", [=]() -> aclError {
        if (majorVersion == nullptr) {
            return aclemu::FailNull("majorVersion");
        }
        if (minorVersion == nullptr) {
            return aclemu::FailNull("minorVersion");
        }
        if (patchVersion == nullptr) {
            return aclemu::FailNull("patchVersion");
        }
        *majorVersion = ACL_MAJOR_VERSION;
        *minorVersion = ACL_MINOR_VERSION;
        *patchVersion = ACL_PATCH_VERSION;
        return ACL_SUCCESS;
    });
}
