// How the tokens of HcPreSinkhorn are spread over the chip.
#pragma once

#include <optional>

#include "ops/common/tiling.h"
#include "ops/hc_pre_sinkhorn/op_kernel/hc_pre_sinkhorn_tiling_data.h"

namespace ops {

struct HcPreSinkhornArguments {
    uint64_t tokens;
    uint64_t tail; // d
    uint32_t numIters;
    double hcEps;
    std::optional<uint64_t> key; // 0 is the only one
};

// ceil(tokens / cores) tokens for each vector core; d is cut in tiles.
Tiling<HcPreSinkhornTilingData> TileHcPreSinkhorn(const HcPreSinkhornArguments &arguments, const TilingPlatform &platform);

} // namespace ops
