// How the tokens of HcPre and HcPreV2 are spread over the chip.
#pragma once

#include <optional>

#include "ops/common/tiling.h"
#include "ops/hc_pre/op_kernel/hc_pre_tiling_data.h"

namespace ops {

struct HcPreArguments {
    uint64_t tokens;
    uint64_t tail; // d
    uint32_t iters;
    double hcEps;
    double normEps;
    bool preMix;                 // HcPreV2: the weights of y are given
    std::optional<uint64_t> key; // forces the tiling key; otherwise chosen
};

// Key 0 splits the tokens, key 1, for few tokens, the tokens and the columns of x; see mhc_projection_tiling.h.
Tiling<HcPreTilingData> TileHcPre(const HcPreArguments &arguments, const TilingPlatform &platform);

} // namespace ops
