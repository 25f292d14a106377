// The plan that the tiling function hands to the kernel.
#ifndef HC_PRE_TILING_DATA_H
#define HC_PRE_TILING_DATA_H

#include "../../mhc_common/op_kernel/mhc_projection_tiling_data.h"

#pragma pack(push, 8)
struct HcPreTilingData {
    MhcProjectionTilingData projection;
    uint32_t iters;  // of Sinkhorn
    float hcEps;
    uint32_t preMix; // 1: the weights of y are given
    uint32_t reserved;
};
#pragma pack(pop)

#endif // HC_PRE_TILING_DATA_H
