// The plan that the tiling function hands to the kernel.
#ifndef MHC_PRE_TILING_DATA_H
#define MHC_PRE_TILING_DATA_H

#include <cstdint>

#include "../../mhc_common/op_kernel/mhc_projection_tiling_data.h"

#pragma pack(push, 8)
struct MhcPreTilingData {
    MhcProjectionTilingData projection;
    uint32_t outFlag; // 1: also invRms, hMix and hPre
    float hcEps;
};
#pragma pack(pop)

#endif // MHC_PRE_TILING_DATA_H
