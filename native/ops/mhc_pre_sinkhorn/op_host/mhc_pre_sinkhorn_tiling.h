// How the tokens of MhcPreSinkhorn are spread over the chip.
#pragma once

#include <optional>

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
    std::optional<uint64_t> key; // forces the tiling key; otherwise chosen
};

// The tiling keys are those of TileMhcProjection.
Tiling<MhcPreSinkhornTilingData> TileMhcPreSinkhorn(const MhcPreSinkhornArguments &arguments, const TilingPlatform &platform);

} // namespace ops
