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

// Tiling key 0: the tokens are split over the vector cores, ceil(T / cores) each; a cube core serves its two vector cores and
// reads all of phi.
// Tiling key 1, for few tokens: the tokens are split in tiles of at most 64, and the blocks left over share each tile's
// columns, so that phi is read once per tile and not once per block. Chosen when at least two blocks can share a tile.
Tiling<MhcPreSinkhornTilingData> TileMhcPreSinkhorn(const MhcPreSinkhornArguments &arguments, const TilingPlatform &platform);

} // namespace ops
