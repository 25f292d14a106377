#include "ops/hc_pre_sinkhorn/op_host/hc_pre_sinkhorn_tiling.h"

#include <algorithm>

namespace ops {
namespace {

constexpr uint64_t kStreams = 4;
constexpr uint64_t kMix = kStreams * kStreams + 2 * kStreams;
constexpr uint64_t kTailStep = 128;
constexpr uint64_t kLargestTailTile = 2048;

// Bytes of unified buffer; mirrors HcPreSinkhorn::Kernel::Init.
uint64_t Bytes(uint64_t rows, uint64_t tailTile)
{
    const uint64_t inputs = 2 * rows * (kMix + 1) * 4;
    const uint64_t planes = rows * (2 * kMix + 2 * 2 * kStreams + 2 * kStreams) * 4; // gates, then the sums
    const uint64_t results = 2 * rows * kMix * 4;
    const uint64_t x = 2 * kStreams * tailTile * 2;
    const uint64_t y = (kStreams + 1) * tailTile * 4 + 2 * tailTile * 2;
    return inputs + planes + results + x + y;
}

} // namespace

Tiling<HcPreSinkhornTilingData> TileHcPreSinkhorn(const HcPreSinkhornArguments &arguments,
                                                  const TilingPlatform &platform)
{
    Tiling<HcPreSinkhornTilingData> tiling;
    if (arguments.tokens == 0 || arguments.tail == 0 || platform.aivCores == 0) {
        tiling.error = "nothing to split: " + std::to_string(arguments.tokens) + " tokens, d " +
                       std::to_string(arguments.tail) + ", " + std::to_string(platform.aivCores) + " vector cores";
        return tiling;
    }
    if (arguments.key.value_or(0) != 0) {
        tiling.error = "there is no tiling key " + std::to_string(*arguments.key) + ", only 0";
        return tiling;
    }
    HcPreSinkhornTilingData &data = tiling.data;
    data.tokens = arguments.tokens;
    data.tail = arguments.tail;
    data.rowsPerCore = CeilDiv(arguments.tokens, platform.aivCores);
    data.rowsPerLoop = data.rowsPerCore > 16 ? 32 : 16;
    data.numIters = arguments.numIters;
    data.hcEps = static_cast<float>(arguments.hcEps);
    data.tailTile = static_cast<uint32_t>(std::min(AlignUp(arguments.tail, kTailStep), kLargestTailTile));
    while (Bytes(data.rowsPerLoop, data.tailTile) > platform.ubSize && data.tailTile > kTailStep) {
        data.tailTile -= kTailStep;
    }
    if (Bytes(data.rowsPerLoop, data.tailTile) > platform.ubSize) {
        tiling.error = "the unified buffer of " + std::to_string(platform.ubSize) + " bytes is too small";
        return tiling;
    }
    tiling.blockDim = static_cast<uint32_t>(CeilDiv(arguments.tokens, data.rowsPerCore));
    tiling.workspaceSize = 0; // vector kernels without synchronisation need none
    return tiling;
}

} // namespace ops
