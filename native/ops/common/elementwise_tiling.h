// Elements spread evenly over the vector cores.
#pragma once

#include <algorithm>

#include "ops/common/elementwise_tiling_data.h"
#include "ops/common/tiling.h"

namespace ops {

// Each core gets a multiple of 128 elements, so that its part starts at a 32-byte boundary for every type.
inline Tiling<ElementwiseTilingData> TileElementwise(uint64_t count, const TilingPlatform &platform)
{
    constexpr uint64_t step = 128;
    constexpr uint32_t tile = 2048;
    Tiling<ElementwiseTilingData> tiling;
    tiling.data.count = count;
    tiling.data.perCore = AlignUp(CeilDiv(count, platform.aivCores), step);
    tiling.data.tile = tile;
    tiling.blockDim = static_cast<uint32_t>(CeilDiv(count, tiling.data.perCore));
    tiling.workspaceSize = 0; // vector kernels without synchronisation need none
    return tiling;
}

} // namespace ops
