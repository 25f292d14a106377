// How the tokens and columns of MhcPreSinkhornBackward are spread over the chip.
#pragma once

#include <optional>

#include "ops/common/tiling.h"
#include "ops/mhc_pre_sinkhorn_backward/op_kernel/mhc_pre_sinkhorn_backward_tiling_data.h"

namespace ops {

struct MhcPreSinkhornBackwardArguments {
    uint64_t tokens;
    uint32_t streams; // n
    uint64_t tail;    // c
    uint32_t numIters;
    double hcEps;
    std::optional<uint64_t> key; // forces the tiling key; otherwise chosen
};

// Two passes. In the token pass the vector cores share the tokens, ceil(T / cores) each. In the column pass the blocks share
// the columns of x, 128 of the tail axis at a time, and each sums gradPhi of its columns over all tokens.
// Tiling key 0: as said. Tiling key 1, where there are fewer such columns than blocks: the tokens are split as well, gradPhi
// becomes one partial sum per part, and the vector cores add these in order at the end.
Tiling<MhcPreSinkhornBackwardTilingData> TileMhcPreSinkhornBackward(const MhcPreSinkhornBackwardArguments &arguments,
                                                                    const TilingPlatform &platform);

} // namespace ops
