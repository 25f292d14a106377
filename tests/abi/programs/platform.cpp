// Prints what the emulated chip is.
#include "check.h"
#include "runtime/platform.h"

int main()
{
    CHECK_OK(aclrtSetDevice(0));
    const aclemu::Platform &p = aclemu::CurrentPlatform();
    int64_t cube = 0;
    int64_t vector = 0;
    int64_t ub = 0;
    CHECK_OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_CUBE_CORE_NUM, &cube));
    CHECK_OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_VECTOR_CORE_NUM, &vector));
    CHECK_OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE, &ub));
    CHECK(cube == p.aicCores && vector == p.aivCores && static_cast<uint64_t>(ub) == p.ubSize);
    CHECK(std::string(p.soc) == aclrtGetSocName());
    CHECK(aclemu::FindPlatform("Ascend310") == nullptr && aclemu::FindPlatform(p.soc) != nullptr);
    CHECK_REFUSED(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_WARP_SIZE, &ub), ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "attribute 202");
    std::printf("%s %u %u:%u ub %llu-%llu l0c %llu threads %u\n", p.soc, p.npuArch, p.aicCores, p.aivCores,
                static_cast<unsigned long long>(p.ubSize), static_cast<unsigned long long>(p.ubReserved),
                static_cast<unsigned long long>(p.l0cSize), aclemu::WorkerThreads());
    return 0;
}
