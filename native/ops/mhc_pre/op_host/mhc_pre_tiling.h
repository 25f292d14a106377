// How the work of MhcPre is spread over the chip.
#pragma once

#include <optional>

#include "ops/common/tiling.h"
#include "ops/mhc_pre/op_kernel/mhc_pre_tiling_data.h"

namespace ops {

struct MhcPreArguments {
    uint64_t tokens;
    uint64_t streams; // n
    uint64_t tail;    // D
    bool hasRes;      // alpha of 3
    bool hasGamma;
    bool outFlag;     // invRms, hMix and hPre too
    bool hf32;
    double normEps;
    double hcEps;
    std::optional<uint64_t> key; // forces the tiling key, or with 0 or 1 its last digit
};

// The tiling key is n * 100 + (hRes ? 0 : 10) + the split of TileMhcProjection.
Tiling<MhcPreTilingData> TileMhcPre(const MhcPreArguments &arguments, const TilingPlatform &platform);

} // namespace ops
