// A stand-in for the documented part of CANN's platform_ascendc.h that the tiling adapters use: an Ascend910B3.
#pragma once

#include <cstdint>

namespace fe {
class PlatFormInfos;
}

namespace platform_ascendc {

enum class CoreMemType { L0_A = 0, L0_B = 1, L0_C = 2, L1 = 3, L2 = 4, UB = 5, HBM = 6 };

class PlatformAscendC {
public:
    explicit PlatformAscendC(fe::PlatFormInfos *) {}
    uint32_t GetCoreNumAic() const { return 20; }
    uint32_t GetCoreNumAiv() const { return 40; }
    uint32_t GetLibApiWorkSpaceSize() const { return 16 * 1024 * 1024; }
    void GetCoreMemSize(const CoreMemType &memType, uint64_t &size) const
    {
        switch (memType) {
            case CoreMemType::L0_A:
            case CoreMemType::L0_B: size = 64 * 1024; break;
            case CoreMemType::L0_C: size = 128 * 1024; break;
            case CoreMemType::L1: size = 512 * 1024; break;
            case CoreMemType::UB: size = 192 * 1024; break;
            default: size = 0; break;
        }
    }
};

} // namespace platform_ascendc
