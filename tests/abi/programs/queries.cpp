// Copies in batches, host memory, and what can be asked of devices. One scenario per run.
#include <vector>

#include "check.h"

namespace {

void Batches()
{
    CHECK_OK(aclrtSetDevice(0));
    void *device[2] = {};
    char host[2][64];
    for (int i = 0; i < 2; ++i) {
        CHECK_OK(aclrtMalloc(&device[i], 64, ACL_MEM_MALLOC_HUGE_FIRST));
        std::memset(host[i], 'a' + i, 64);
    }
    size_t sizes[] = {64, 32};
    size_t room[] = {64, 64};
    void *sources[] = {host[0], host[1]};
    aclrtMemcpyBatchAttr up = {};
    up.dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
    up.srcLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
    size_t first = 0;
    size_t failed = 0;
    CHECK_OK(aclrtMemcpyBatch(device, room, sources, sizes, 2, &up, &first, 1, &failed));
    char back[2][64] = {};
    void *targets[] = {back[0], back[1]};
    aclrtMemcpyBatchAttr down = {};
    down.dstLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
    down.srcLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
    CHECK_OK(aclrtMemcpyBatchAsyncV2(targets, room, device, sizes, 2, &down, &first, 1, nullptr));
    CHECK_OK(aclrtSynchronizeStream(nullptr));
    CHECK(std::memcmp(back[0], host[0], 64) == 0 && std::memcmp(back[1], host[1], 32) == 0 && back[1][32] == 0);
    CHECK_REFUSED(aclrtMemcpyBatch(targets, room, device, sizes, 2, &up, &first, 1, &failed), ACL_ERROR_RT_PARAM_INVALID,
                  "dsts[0]");
    CHECK(failed == 0);
    room[1] = 8;
    CHECK_REFUSED(aclrtMemcpyBatchAsync(targets, room, device, sizes, 2, &down, &first, 1, &failed, nullptr),
                  ACL_ERROR_RT_PARAM_INVALID, "destMax");
    CHECK(failed == 1);
    first = 1;
    CHECK_REFUSED(aclrtMemcpyBatchV2(targets, room, device, sizes, 2, &down, &first, 1), ACL_ERROR_INVALID_PARAM,
                  "attrsIndexes");

    CHECK_OK(aclrtMemsetD32(device[0], 64, 0x01020304U, 16));
    CHECK_OK(aclrtMemsetD32Async(device[0], 64, 0xFFFFFFFFU, 4, nullptr));
    CHECK_OK(aclrtSynchronizeStream(nullptr));
    uint32_t words[16] = {};
    CHECK_OK(aclrtMemcpy(words, 64, device[0], 64, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(words[3] == 0xFFFFFFFFU && words[4] == 0x01020304U && words[15] == 0x01020304U);
    CHECK_REFUSED(aclrtMemsetD32(device[0], 64, 0, 17), ACL_ERROR_RT_PARAM_INVALID, "memSize");
    CHECK_OK(aclrtMemFlush(device[0], 64));
    CHECK_CODE(aclrtMemInvalidate(device[0], 65), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_OK(aclrtFree(device[0]));
    CHECK_OK(aclrtFree(device[1]));
    CHECK_OK(aclrtResetDevice(0));
}

void HostMemory()
{
    CHECK_OK(aclrtSetDevice(0));
    std::vector<char> memory(8192, 7);
    void *mapped = nullptr;
    CHECK_OK(aclrtHostRegister(memory.data(), 4096, ACL_HOST_REGISTER_MAPPED, &mapped));
    CHECK(mapped != nullptr);
    CHECK_REFUSED(aclrtHostRegister(memory.data() + 100, 8, ACL_HOST_REGISTER_MAPPED, &mapped),
                  ACL_ERROR_RT_PARAM_INVALID, "registered already");
    CHECK_OK(aclrtHostRegisterV2(memory.data() + 4096, 4096, ACL_HOST_REG_PINNED));
    CHECK_REFUSED(aclrtHostGetDevicePointer(memory.data() + 5000, &mapped, 0), ACL_ERROR_RT_PARAM_INVALID, "mapped");
    CHECK_OK(aclrtHostGetDevicePointer(memory.data() + 64, &mapped, 0));
    CHECK(mapped == memory.data() + 64);
    aclrtPtrAttributes attributes = {};
    CHECK_OK(aclrtPointerGetAttributes(memory.data(), &attributes));
    CHECK(attributes.location.type == ACL_MEM_LOCATION_TYPE_HOST);
    void *device = nullptr;
    CHECK_OK(aclrtMalloc(&device, 8192, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtMemcpyAsync(device, 8192, memory.data(), 4096, ACL_MEMCPY_HOST_TO_DEVICE, nullptr));
    CHECK_REFUSED(aclrtMemcpyAsync(device, 8192, memory.data(), 4097, ACL_MEMCPY_HOST_TO_DEVICE, nullptr),
                  ACL_ERROR_RT_PARAM_INVALID, "src"); // beyond what is registered
    CHECK_OK(aclrtSynchronizeStream(nullptr));
    CHECK_REFUSED(aclrtHostRegister(device, 64, ACL_HOST_REGISTER_MAPPED, &mapped), ACL_ERROR_RT_PARAM_INVALID, "ptr");
    CHECK_CODE(aclrtHostRegister(memory.data(), 64, ACL_HOST_REGISTER_IOMEMORY, &mapped),
               ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    CHECK_REFUSED(aclrtFreeHost(memory.data()), ACL_ERROR_RT_PARAM_INVALID, "hostPtr");
    CHECK_OK(aclrtHostUnregister(memory.data()));
    CHECK_OK(aclrtHostUnregister(memory.data() + 4096));
    CHECK_REFUSED(aclrtHostUnregister(memory.data()), ACL_ERROR_RT_PARAM_INVALID, "registered");
    void *pinned = nullptr;
    CHECK_OK(aclrtMallocHostWithCfg(&pinned, 100, nullptr));
    CHECK_OK(aclrtFreeHostWithDevSync(pinned));
    aclrtHostMemMapCapability capability = ACL_RT_HOST_MEM_MAP_SUPPORTED;
    CHECK_OK(aclrtHostMemMapCapabilities(0, ACL_RT_HAC_TYPE_DVPP, &capability));
    CHECK(capability == ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED);
    void *list[] = {device};
    uint32_t isDevice = 9;
    CHECK_OK(aclrtCheckMemType(list, 1, ACL_RT_MEM_TYPE_DEV, &isDevice, 0));
    CHECK(isDevice == 1);
    CHECK_OK(aclrtFree(device));
    CHECK_OK(aclrtResetDevice(0));
}

void Queries()
{
    CHECK_OK(aclrtSetDevice(0));
    int32_t id = -1;
    CHECK_OK(aclrtGetPhyDevIdByUserDevId(0, &id)); // ASCEND_RT_VISIBLE_DEVICES is "2,1"
    CHECK(id == 2);
    CHECK_OK(aclrtGetUserDevIdByPhyDevId(1, &id));
    CHECK(id == 1);
    CHECK_OK(aclrtGetLogicDevIdByPhyDevId(2, &id));
    CHECK(id == 2);
    CHECK_REFUSED(aclrtGetUserDevIdByLogicDevId(0, &id), ACL_ERROR_RT_INVALID_DEVICEID, "not visible");
    CHECK_CODE(aclrtGetLogicDevIdByUserDevId(2, &id), ACL_ERROR_RT_INVALID_DEVICEID);
    int32_t can = -1;
    CHECK_OK(aclrtDeviceCanAccessPeer(&can, 0, 1));
    CHECK(can == 1);
    CHECK_OK(aclrtDevicePeerAccessStatus(0, 1, &can));
    CHECK(can == 0);
    CHECK_OK(aclrtDeviceEnablePeerAccess(1, 0));
    CHECK_OK(aclrtDevicePeerAccessStatus(0, 1, &can));
    CHECK(can == 1);
    CHECK_OK(aclrtDeviceDisablePeerAccess(1));
    CHECK_REFUSED(aclrtDeviceDisablePeerAccess(1), ACL_ERROR_RT_PARAM_INVALID, "no access");
    CHECK_REFUSED(aclrtDeviceEnablePeerAccess(0, 0), ACL_ERROR_RT_PARAM_INVALID, "itself");
    CHECK_OK(aclrtGetDeviceCapability(0, ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV, &id));
    CHECK(id == ACL_DEV_FEATURE_NOT_SUPPORT);
    uint32_t cores = 0;
    CHECK_OK(aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, &cores));
    CHECK(cores == 40);
    CHECK_OK(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, &cores));
    CHECK(cores == 20);
    aclrtFloatOverflowMode mode = ACL_RT_OVERFLOW_MODE_UNDEF;
    CHECK_OK(aclrtGetDeviceSatMode(&mode));
    CHECK(mode == ACL_RT_OVERFLOW_MODE_INFNAN);
    CHECK_CODE(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_SATURATION), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    int32_t fits = -1;
    CHECK_OK(aclrtCheckArchCompatibility("Ascend910_9392", &fits));
    CHECK(fits == 1);
    CHECK_OK(aclrtCheckArchCompatibility("Ascend950PR_9579", &fits));
    CHECK(fits == 0);
    aclCANNPackageVersion version = {};
    CHECK_OK(aclsysGetCANNVersion(ACL_PKG_NAME_CANN, &version));
    CHECK(std::string(version.version) == std::string(version.majorVersion) + "." + version.minorVersion + ".0");
    CHECK_REFUSED(aclsysGetCANNVersion(ACL_PKG_NAME_DRIVER, &version), ACL_ERROR_FEATURE_UNSUPPORTED, "name is 7");
    const aclCannAttr *attributes = nullptr;
    size_t count = 0;
    CHECK_OK(aclGetCannAttributeList(&attributes, &count));
    CHECK(count == 3 && attributes[0] == ACL_CANN_ATTR_INF_NAN);
    CHECK_OK(aclGetCannAttribute(ACL_CANN_ATTR_BF16, &id));
    CHECK(id == 1);
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
    aclmdlRI model = &id;
    CHECK_OK(aclmdlRICaptureGetInfo(nullptr, &status, &model));
    CHECK(status == ACL_MODEL_RI_CAPTURE_STATUS_NONE && model == nullptr);
    aclmdlRICaptureMode capture = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
    CHECK_OK(aclmdlRICaptureThreadExchangeMode(&capture));
    CHECK(capture == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    CHECK_OK(aclmdlRICaptureThreadExchangeMode(&capture));
    CHECK(capture == ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    CHECK_OK(aclrtResetDevice(0));
}

} // namespace

int main(int argc, char **argv)
{
    const std::string scenario = argc > 1 ? argv[1] : "";
    if (scenario == "batches") {
        Batches();
    } else if (scenario == "host") {
        HostMemory();
    } else if (scenario == "queries") {
        Queries();
    } else {
        return 2;
    }
    return 0;
}
