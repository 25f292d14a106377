#include "ops/mhc_common/op_host/mhc_projection_tiling.h"

#include <algorithm>

namespace ops {
namespace {

constexpr uint64_t kVectorsPerCube = 2;
constexpr uint64_t kSlots = 2;
constexpr uint64_t kColumnsPerSlot = 256;
constexpr uint64_t kLargestTailTile = 2048;
constexpr uint64_t kTailStep = 128;
constexpr uint64_t kLargestTile = 64; // tokens of two vector cores, 32 each
constexpr uint64_t kFloatsPerBlock = 8;

// Bytes of unified buffer that the vector side lays out: StreamReader, ProjectionVector, WeightedSum, GatePlanes, PlaneWriter
// and the sums of SinkhornPlanes.
uint64_t VectorBytes(const MhcProjectionArguments &arguments, uint64_t rows, uint64_t tailTile)
{
    const uint64_t n = arguments.streams;
    const uint64_t stride = AlignUp(arguments.mix, kFloatsPerBlock);
    const uint64_t xIn = 2 * std::max(rows * kColumnsPerSlot, n * tailTile) * 2;
    const uint64_t xOut = 2 * rows * kColumnsPerSlot * 4;
    const uint64_t gamma = arguments.gamma ? 2 * kColumnsPerSlot * 4 : 0;
    const uint64_t squares = rows * (64 + 1) * 4;
    const uint64_t weighted = (n + 1) * tailTile * 4 + 2 * tailTile * 2;
    const uint64_t products = 2 * rows * stride * 4;
    const uint64_t planes = rows * (stride + arguments.mix + 2 * 2 * n + 2 * n + 3) * 4;
    const uint64_t results = 2 * rows * std::max<uint64_t>(AlignUp(n * n, 16), stride) * 4;
    return xIn + xOut + gamma + squares + weighted + products + planes + results + arguments.extraBytes;
}

} // namespace

Tiling<MhcProjectionTilingData> TileMhcProjection(const MhcProjectionArguments &arguments, const TilingPlatform &platform)
{
    Tiling<MhcProjectionTilingData> tiling;
    const uint64_t cores = std::min<uint64_t>(platform.aivCores, kVectorsPerCube * platform.aicCores);
    if (cores == 0 || arguments.tokens == 0 || arguments.tail == 0) {
        tiling.error = "nothing to split: " + std::to_string(arguments.tokens) + " tokens, tail " +
                       std::to_string(arguments.tail) + ", " + std::to_string(cores) + " vector cores";
        return tiling;
    }
    if (arguments.split.value_or(0) > 1) {
        tiling.error = "there is no tiling key " + std::to_string(*arguments.split) + ", only 0 and 1";
        return tiling;
    }

    MhcProjectionTilingData &data = tiling.data;
    const uint64_t width = arguments.streams * arguments.tail;
    data.tokens = arguments.tokens;
    data.tail = arguments.tail;
    data.hf32 = arguments.hf32 ? 1 : 0;
    data.gamma = arguments.gamma ? 1 : 0;
    data.normEps = static_cast<float>(arguments.normEps);
    data.meanFactor = static_cast<float>(1.0 / static_cast<double>(width));

    const uint64_t chunks = CeilDiv(width, kColumnsPerSlot);
    const uint64_t blocks = std::max<uint64_t>(cores / kVectorsPerCube, 1);
    const uint64_t tiles = std::min(CeilDiv(arguments.tokens, kLargestTile), blocks);
    const uint64_t sharers = std::min(blocks / tiles, chunks); // blocks that could share a tile
    tiling.key = arguments.split.value_or(sharers >= 2 ? 1 : 0);
    if (tiling.key == 1) {
        data.chunksPerPart = CeilDiv(chunks, sharers);
        data.kParts = static_cast<uint32_t>(CeilDiv(chunks, data.chunksPerPart));
        data.rowsPerCore = CeilDiv(CeilDiv(arguments.tokens, tiles), kVectorsPerCube);
    } else {
        data.chunksPerPart = chunks;
        data.kParts = 1;
        data.rowsPerCore = CeilDiv(arguments.tokens, cores);
    }
    data.vectorCores = static_cast<uint32_t>(CeilDiv(arguments.tokens, data.rowsPerCore));
    tiling.blockDim = static_cast<uint32_t>(CeilDiv(data.vectorCores, kVectorsPerCube) * data.kParts);
    data.rowsPerFinish = CeilDiv(arguments.tokens, kVectorsPerCube * tiling.blockDim);
    data.rowsPerLoop = data.rowsPerCore > 16 ? 32 : 16;
    data.kPerSlot = kColumnsPerSlot;
    data.tailTile = static_cast<uint32_t>(std::min(AlignUp(arguments.tail, kTailStep), kLargestTailTile));
    while (VectorBytes(arguments, data.rowsPerLoop, data.tailTile) > platform.ubSize && data.tailTile > kTailStep) {
        data.tailTile -= kTailStep;
    }
    if (VectorBytes(arguments, data.rowsPerLoop, data.tailTile) > platform.ubSize) {
        tiling.error = "the unified buffer of " + std::to_string(platform.ubSize) + " bytes is too small";
        return tiling;
    }

    data.slotBytes = kVectorsPerCube * data.rowsPerLoop * data.kPerSlot * sizeof(float);
    data.productsOffset = tiling.blockDim * kSlots * data.slotBytes;
    const uint64_t stride = AlignUp(arguments.mix, kFloatsPerBlock);
    data.squaresOffset = data.productsOffset + data.kParts * data.tokens * stride * sizeof(float);
    const uint64_t squaresBytes = tiling.key == 1 ? data.kParts * data.tokens * sizeof(float) : 0;
    data.workspaceBytes = data.squaresOffset + squaresBytes;
    tiling.workspaceSize = platform.systemWorkspace + data.workspaceBytes;
    return tiling;
}

} // namespace ops
