#include "ops/matmul/op_host/matmul_tiling.h"

#include <algorithm>

namespace ops {
namespace {

constexpr uint64_t kFractal = 16;
constexpr uint64_t kLargestTile = 128;
constexpr uint64_t kBuffers = 2; // of each operand in L1 and in L0

} // namespace

Tiling<MatmulTilingData> TileMatmul(const MatmulArguments &arguments, const TilingPlatform &platform)
{
    Tiling<MatmulTilingData> tiling;
    if (platform.aicCores == 0 || arguments.m == 0 || arguments.n == 0 || arguments.k == 0) {
        tiling.error = "nothing to split over " + std::to_string(platform.aicCores) + " cube cores";
        return tiling;
    }
    MatmulTilingData &data = tiling.data;
    data.m = arguments.m;
    data.n = arguments.n;
    data.k = arguments.k;
    data.hf32 = arguments.hf32 ? 1 : 0;
    data.nTile = static_cast<uint32_t>(std::min(AlignUp(arguments.n, kFractal), kLargestTile));
    const uint64_t nTiles = CeilDiv(arguments.n, data.nTile);
    const uint64_t mSharers = std::max<uint64_t>(platform.aicCores / nTiles, 1); // cores for one column of tiles
    data.mTile = static_cast<uint32_t>(std::min(AlignUp(CeilDiv(arguments.m, mSharers), kFractal), kLargestTile));
    const uint64_t l0 = std::min(platform.l0aSize, platform.l0bSize);
    data.kStep = static_cast<uint32_t>(l0 / kBuffers / (kLargestTile * arguments.elementBytes));
    data.kTile = 2 * data.kStep;
    const uint64_t l1 = kBuffers * (uint64_t{data.mTile} + data.nTile) * data.kTile * arguments.elementBytes;
    const uint64_t l0c = uint64_t{data.mTile} * data.nTile * sizeof(float);
    if (data.kStep < kFractal || l1 > platform.l1Size || l0c > platform.l0cSize) {
        tiling.error = "the memories of the cube core are too small for tiles of " + std::to_string(data.mTile) + " x " +
                       std::to_string(data.nTile);
        return tiling;
    }
    tiling.blockDim = static_cast<uint32_t>(
        std::min<uint64_t>(platform.aicCores, CeilDiv(arguments.m, data.mTile) * nTiles));
    tiling.workspaceSize = platform.systemWorkspace;
    return tiling;
}

} // namespace ops
