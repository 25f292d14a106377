// How the work of HcPost is cut: as that of MhcPost, with the dtype of post and comb in the tiling key.
#pragma once

#include <optional>

#include "ops/common/tiling.h"
#include "ops/hc_post/op_kernel/hc_post_tiling_data.h"

namespace ops {

struct HcPostArguments {
    uint64_t tokens;
    uint64_t tail;     // d
    uint32_t xBytes;   // of an element of x, residual and y
    uint32_t postType; // of post and comb: 0 float, 1 half, 2 bfloat16_t
    std::optional<uint64_t> key; // forces the tiling key; otherwise chosen
};

// Tiling key: 2 * postType, + 1 where rows are so short that several tokens share an instruction.
Tiling<HcPostTilingData> TileHcPost(const HcPostArguments &arguments, const TilingPlatform &platform);

} // namespace ops
