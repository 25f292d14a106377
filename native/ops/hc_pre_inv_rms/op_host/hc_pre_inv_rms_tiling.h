// How the rows of HcPreInvRms are spread over the chip.
#pragma once

#include <optional>

#include "ops/common/tiling.h"
#include "ops/hc_pre_inv_rms/op_kernel/hc_pre_inv_rms_tiling_data.h"

namespace ops {

struct HcPreInvRmsArguments {
    uint64_t rows;     // tokens
    uint64_t rowSize;  // n*d
    uint32_t itemSize; // bytes of an element of x
    double epsilon;
    std::optional<uint64_t> key; // forces the tiling key; otherwise chosen
};

// ceil(rows / cores) rows for each vector core. Key 1000 as long as a row fits the unified buffer twice, else key 1001.
Tiling<HcPreInvRmsTilingData> TileHcPreInvRms(const HcPreInvRmsArguments &arguments, const TilingPlatform &platform);

} // namespace ops
