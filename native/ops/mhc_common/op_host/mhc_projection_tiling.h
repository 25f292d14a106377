// How the tokens and columns of x . phi^T are spread over the chip, for every operator that starts with it.
#pragma once

#include <optional>

#include "ops/common/tiling.h"
#include "ops/mhc_common/op_kernel/mhc_projection_tiling_data.h"

namespace ops {

struct MhcProjectionArguments {
    uint64_t tokens;
    uint64_t tail;    // c
    uint64_t streams; // n
    uint64_t mix;     // rows of phi
    double normEps;
    bool hf32 = false;
    bool gamma = false;            // x is multiplied with gamma in front of the product
    uint64_t extraBytes = 0;       // of unified buffer that the operator lays out besides what is shared
    std::optional<uint64_t> split; // forces 0 or 1; otherwise chosen
};

// The key is the split.
// 0: the tokens are split over the vector cores, ceil(T / cores) each; a cube core serves its two vector cores and reads all
// of phi.
// 1, for few tokens: the tokens are split in tiles of at most 64, and the blocks left over share each tile's columns, so that
// phi is read once per tile and not once per block. Chosen when at least two blocks can share a tile.
Tiling<MhcProjectionTilingData> TileMhcProjection(const MhcProjectionArguments &arguments, const TilingPlatform &platform);

} // namespace ops
