#include "ops/mhc_pre_sinkhorn_backward/op_host/mhc_pre_sinkhorn_backward_tiling.h"

#include <algorithm>

namespace ops {
namespace {

constexpr uint64_t kVectorsPerCube = 2;
constexpr uint64_t kSlots = 2;
constexpr uint64_t kColumns = 128;     // of the tail axis at a time; c is a multiple of it
constexpr uint64_t kTile = 64;         // tokens of the column pass at a time, of both vector cores
constexpr uint64_t kFloat = sizeof(float);
constexpr uint64_t kHalf = 2;
constexpr uint64_t kAlignment = 512;   // of the parts of the workspace
constexpr uint64_t kAlphaSums = 8;     // floats behind the sums of gradBias

// Bytes of unified buffer; mirrors TokenPass::Init.
uint64_t TokenPassBytes(uint64_t n, uint64_t mixRows, uint64_t lanes)
{
    const uint64_t x = 4 * lanes * kColumns * kHalf + 2 * lanes * kColumns * kFloat + n * lanes * 64 * kFloat;
    const uint64_t outPlanes = mixRows + n + 1;
    const uint64_t rows = 2 * lanes * (std::max(8 * n, mixRows) + outPlanes) * kFloat;
    const uint64_t planes = (5 * mixRows + outPlanes + 2 * n * n + 6 * 8 + 5) * lanes * kFloat;
    const uint64_t phi = 2 * mixRows * kColumns * kFloat;
    return x + rows + planes + phi + 2 * (mixRows + kAlphaSums) * kFloat;
}

// The same of ColumnPass::Init.
uint64_t ColumnPassBytes(uint64_t n)
{
    const uint64_t tile = kTile / kVectorsPerCube * kColumns;
    return 7 * tile * kHalf + 6 * tile * kFloat + (n + 1) * (kTile / kVectorsPerCube) * (2 + 8) * kFloat;
}

} // namespace

Tiling<MhcPreSinkhornBackwardTilingData> TileMhcPreSinkhornBackward(const MhcPreSinkhornBackwardArguments &arguments,
                                                                    const TilingPlatform &platform)
{
    Tiling<MhcPreSinkhornBackwardTilingData> tiling;
    const uint64_t blocks = std::max<uint64_t>(std::min<uint64_t>(platform.aicCores, platform.aivCores / kVectorsPerCube), 1);
    const uint64_t n = arguments.streams;
    const uint64_t tailTiles = arguments.tail / kColumns;
    if (platform.aicCores == 0 || arguments.tokens == 0 || n == 0 || n > 8 || tailTiles * kColumns != arguments.tail ||
        tailTiles == 0 || arguments.numIters == 0) {
        tiling.error = "nothing to split: " + std::to_string(arguments.tokens) + " tokens of " + std::to_string(n) +
                       " streams, tail " + std::to_string(arguments.tail) + ", " + std::to_string(arguments.numIters) +
                       " iterations, " + std::to_string(platform.aicCores) + " cube cores";
        return tiling;
    }
    if (arguments.key.value_or(0) > 1) {
        tiling.error = "there is no tiling key " + std::to_string(*arguments.key) + ", only 0 and 1";
        return tiling;
    }

    MhcPreSinkhornBackwardTilingData &data = tiling.data;
    const uint64_t mix = n * n + 2 * n;
    data.tokens = arguments.tokens;
    data.tail = arguments.tail;
    data.streams = arguments.streams;
    data.mix = static_cast<uint32_t>(mix);
    data.mixRows = static_cast<uint32_t>(AlignUp(mix, 8));
    data.numIters = arguments.numIters;
    data.hcEps = static_cast<float>(arguments.hcEps);
    data.meanFactor = static_cast<float>(1.0 / static_cast<double>(n * arguments.tail));

    data.lanes = n <= 4 ? 32 : 16; // more streams need more planes
    const uint64_t needed = std::max(TokenPassBytes(n, data.mixRows, data.lanes), ColumnPassBytes(n));
    if (needed > platform.ubSize) {
        tiling.error = "the unified buffer of " + std::to_string(platform.ubSize) + " bytes is too small, " +
                       std::to_string(needed) + " are needed";
        return tiling;
    }
    data.rowsPerCore = CeilDiv(arguments.tokens, kVectorsPerCube * blocks);
    data.vectorCores = static_cast<uint32_t>(CeilDiv(arguments.tokens, data.rowsPerCore));

    // L0C holds gradPhi of a sweep's streams and two tiles of products.
    const uint64_t products = kSlots * kTile * kColumns * kFloat;
    const uint64_t perStream = AlignUp(mix, 16) * kColumns * kFloat;
    if (products + perStream > platform.l0cSize) {
        tiling.error = "L0C of " + std::to_string(platform.l0cSize) + " bytes is too small";
        return tiling;
    }
    const uint64_t sweeps = CeilDiv(n, (platform.l0cSize - products) / perStream);
    data.streamsPerSweep = static_cast<uint32_t>(CeilDiv(n, sweeps));

    const uint64_t items = tailTiles * CeilDiv(n, data.streamsPerSweep);
    const uint64_t tokenTiles = CeilDiv(arguments.tokens, kTile);
    uint64_t parts = std::min(std::max<uint64_t>(blocks / items, 1), tokenTiles);
    if (arguments.key.has_value()) {
        parts = *arguments.key == 0 ? 1 : std::max<uint64_t>(parts, 2);
    }
    data.tokensPerPart = CeilDiv(tokenTiles, parts) * kTile;
    data.tokenParts = static_cast<uint32_t>(CeilDiv(arguments.tokens, data.tokensPerPart));
    tiling.key = arguments.key.value_or(data.tokenParts > 1 ? 1 : 0);
    const uint64_t units = items * data.tokenParts;
    data.unitsPerBlock = CeilDiv(units, blocks);
    tiling.blockDim = static_cast<uint32_t>(
        std::max(CeilDiv(units, data.unitsPerBlock), CeilDiv(data.vectorCores, kVectorsPerCube)));

    const uint64_t width = n * arguments.tail;
    data.tokenStride = AlignUp(arguments.tokens, kTile);
    data.planesOffset = AlignUp(arguments.tokens * data.mixRows * kFloat, kAlignment);
    data.phiOffset = AlignUp(data.planesOffset + (data.mixRows + n + 1) * data.tokenStride * kFloat, kAlignment);
    data.sumsOffset = data.phiOffset + width * data.mixRows * kFloat;
    data.gradPhiOffset = AlignUp(data.sumsOffset + data.vectorCores * (data.mixRows + kAlphaSums) * kFloat, kAlignment);
    const uint64_t gradPhi = tiling.key == 1 ? data.tokenParts * mix * width * kFloat : 0;
    data.ringOffset = AlignUp(data.gradPhiOffset + gradPhi, kAlignment);
    data.workspaceBytes = data.ringOffset + tiling.blockDim * 2 * kSlots * kTile * kColumns * kFloat;
    tiling.workspaceSize = platform.systemWorkspace + data.workspaceBytes;
    return tiling;
}

} // namespace ops
