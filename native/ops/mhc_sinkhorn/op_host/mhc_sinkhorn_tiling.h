// How the tokens of MhcSinkhorn are spread over the chip.
#pragma once

#include <optional>

#include "ops/common/tiling.h"
#include "ops/mhc_sinkhorn/op_kernel/mhc_sinkhorn_tiling_data.h"

namespace ops {

struct MhcSinkhornArguments {
    uint64_t tokens;
    uint64_t streams; // n
    uint32_t numIters;
    float eps;
    bool slots; // normOut and sumOut are given
    std::optional<uint64_t> key; // forces the tiling key; otherwise chosen
};

// Tiling key 0 without, 1 with the optional outputs.
Tiling<MhcSinkhornTilingData> TileMhcSinkhorn(const MhcSinkhornArguments &arguments, const TilingPlatform &platform);

} // namespace ops
