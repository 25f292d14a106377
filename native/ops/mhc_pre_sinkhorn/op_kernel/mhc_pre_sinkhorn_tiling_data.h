// The plan that the tiling function hands to the kernel.
#ifndef MHC_PRE_SINKHORN_TILING_DATA_H
#define MHC_PRE_SINKHORN_TILING_DATA_H

#include <cstdint>

#include "../../mhc_common/op_kernel/mhc_projection_tiling_data.h"

#pragma pack(push, 8)
struct MhcPreSinkhornTilingData {
    MhcProjectionTilingData projection;
    uint32_t numIters;
    uint32_t needBackward;
    float hcEps;
};
#pragma pack(pop)

#endif // MHC_PRE_SINKHORN_TILING_DATA_H
