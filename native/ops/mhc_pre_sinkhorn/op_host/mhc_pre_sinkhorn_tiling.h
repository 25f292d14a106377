// How the tokens of MhcPreSinkhorn are spread over the chip.
#pragma once

#include "ops/common/tiling.h"
#include "ops/mhc_pre_sinkhorn/op_kernel/mhc_pre_sinkhorn_tiling_data.h"

namespace ops {

struct MhcPreSinkhornArguments {
    uint64_t tokens;
    uint64_t tail; // c
    uint32_t numIters;
    double hcEps;
    double normEps;
    bool needBackward;
};

// Tiling key 0: the tokens are split over the vector cores, ceil(T / cores) each; a cube core serves its two vector cores.
Tiling<MhcPreSinkhornTilingData> TileMhcPreSinkhorn(const MhcPreSinkhornArguments &arguments, const TilingPlatform &platform);

} // namespace ops
