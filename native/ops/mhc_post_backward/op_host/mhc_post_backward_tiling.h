// How the tokens of MhcPostBackward are spread over the chip.
#pragma once

#include <optional>

#include "ops/common/tiling.h"
#include "ops/mhc_post_backward/op_kernel/mhc_post_backward_tiling_data.h"

namespace ops {

struct MhcPostBackwardArguments {
    uint64_t tokens;
    uint64_t streams; // n
    uint64_t tail;    // D
    uint64_t bytes;   // of an element of x
    bool mixed;       // hRes is given, it is not the identity
    std::optional<uint64_t> key; // forces the tiling key; otherwise chosen
};

// Tiling key 0 with hRes, 1 with the identity in its place. A token is never shared by cores: its sums over D need one order.
Tiling<MhcPostBackwardTilingData> TileMhcPostBackward(const MhcPostBackwardArguments &arguments,
                                                      const TilingPlatform &platform);

} // namespace ops
