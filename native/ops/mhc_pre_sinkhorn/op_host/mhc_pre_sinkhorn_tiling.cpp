#include "ops/mhc_pre_sinkhorn/op_host/mhc_pre_sinkhorn_tiling.h"

#include <algorithm>

namespace ops {
namespace {

constexpr uint64_t kStreams = 4;                           // n
constexpr uint64_t kMix = kStreams * kStreams + 2 * kStreams; // rows of phi
constexpr uint64_t kVectorsPerCube = 2;
constexpr uint64_t kSlots = 2;
constexpr uint64_t kColumnsPerSlot = 256;
constexpr uint64_t kLargestTailTile = 2048;
constexpr uint64_t kTailStep = 128; // c is a multiple of it
constexpr uint64_t kLargestTile = 64; // tokens of two vector cores, 32 each

// Bytes of unified buffer that the vector side lays out; mirrors MhcPreSinkhornVector::Init.
uint64_t VectorBytes(uint64_t rows, uint64_t columns, uint64_t tailTile)
{
    const uint64_t xIn = 2 * std::max(rows * columns, kStreams * tailTile) * 2;
    const uint64_t xOut = 2 * rows * columns * 4;
    const uint64_t squares = rows * 64 * 4;
    const uint64_t hin = (kStreams + 1) * tailTile * 4 + 2 * tailTile * 2;
    const uint64_t mixIn = 2 * rows * kMix * 4;
    const uint64_t planes = rows * (2 * kMix + 2 * 2 * kStreams + 2 * kStreams + 2) * 4;
    const uint64_t results = 2 * rows * kMix * 4;
    return xIn + xOut + squares + hin + mixIn + planes + results;
}

} // namespace

Tiling<MhcPreSinkhornTilingData> TileMhcPreSinkhorn(const MhcPreSinkhornArguments &arguments, const TilingPlatform &platform)
{
    Tiling<MhcPreSinkhornTilingData> tiling;
    const uint64_t cores = std::min<uint64_t>(platform.aivCores, kVectorsPerCube * platform.aicCores);
    if (cores == 0 || arguments.tokens == 0 || arguments.tail == 0) {
        tiling.error = "nothing to split: " + std::to_string(arguments.tokens) + " tokens, tail " +
                       std::to_string(arguments.tail) + ", " + std::to_string(cores) + " vector cores";
        return tiling;
    }

    MhcPreSinkhornTilingData &data = tiling.data;
    data.tokens = arguments.tokens;
    data.tail = arguments.tail;
    data.numIters = arguments.numIters;
    data.needBackward = arguments.needBackward ? 1 : 0;
    data.hcEps = static_cast<float>(arguments.hcEps);
    data.normEps = static_cast<float>(arguments.normEps);
    data.meanFactor = static_cast<float>(1.0 / static_cast<double>(kStreams * arguments.tail));

    if (arguments.key.value_or(0) > 1) {
        tiling.error = "there is no tiling key " + std::to_string(*arguments.key) + ", only 0 and 1";
        return tiling;
    }
    const uint64_t chunks = kStreams * arguments.tail / kColumnsPerSlot;
    const uint64_t blocks = std::max<uint64_t>(cores / kVectorsPerCube, 1);
    const uint64_t tiles = std::min(CeilDiv(arguments.tokens, kLargestTile), blocks);
    const uint64_t sharers = std::min(blocks / tiles, chunks); // blocks that could share a tile
    tiling.key = arguments.key.value_or(sharers >= 2 ? 1 : 0);
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
    while (VectorBytes(data.rowsPerLoop, data.kPerSlot, data.tailTile) > platform.ubSize && data.tailTile > kTailStep) {
        data.tailTile -= kTailStep;
    }
    if (VectorBytes(data.rowsPerLoop, data.kPerSlot, data.tailTile) > platform.ubSize) {
        tiling.error = "the unified buffer of " + std::to_string(platform.ubSize) + " bytes is too small";
        return tiling;
    }

    data.slotBytes = kVectorsPerCube * data.rowsPerLoop * data.kPerSlot * sizeof(float);
    data.productsOffset = tiling.blockDim * kSlots * data.slotBytes;
    data.squaresOffset = data.productsOffset + data.kParts * data.tokens * kMix * sizeof(float);
    const uint64_t squaresBytes = tiling.key == 1 ? data.kParts * data.tokens * sizeof(float) : 0;
    data.workspaceBytes = data.squaresOffset + squaresBytes;
    tiling.workspaceSize = platform.systemWorkspace + data.workspaceBytes;
    return tiling;
}

} // namespace ops
