#include "ops/bsa_select_block_mask/op_host/bsa_select_block_mask_tiling.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ops {
namespace {

constexpr uint64_t kHeadElements = BSA_HEAD_DIM;
constexpr uint64_t kVectorsPerCube = 2;
constexpr uint64_t kAlign = 512;             // bytes, of the parts of the workspace
constexpr uint64_t kMostTileRows = 128;      // what L0C holds twice, with 128 columns
constexpr uint64_t kLeastTileRows = 16;
constexpr uint64_t kSlotBytes = 512 << 10;   // aimed at
constexpr uint64_t kGroupBytes = 64 << 20;   // cells of a group of heads, aimed at
constexpr uint64_t kCountBytes = BSA_COUNT_LANES * sizeof(int32_t);
constexpr uint64_t kMostCells = std::numeric_limits<int32_t>::max(); // of one head

// Blocks of a batch that count at all: those without length 0.
int64_t Usable(const std::vector<int64_t> &lens, int64_t first, int64_t blocks)
{
    if (lens.empty()) {
        return blocks;
    }
    return blocks - std::count(lens.begin() + first, lens.begin() + first + blocks, 0);
}

std::vector<int64_t> BatchTable(const BSASelectBlockMaskArguments &a)
{
    const auto batches = a.queryLengths.size();
    std::vector<int64_t> table(batches * BSA_BATCH_FIELDS, 0);
    int64_t queryToken = 0, keyToken = 0, queryBlock = 0, keyBlock = 0;
    for (size_t b = 0; b < batches; ++b) {
        int64_t *row = table.data() + b * BSA_BATCH_FIELDS;
        const int64_t vx = static_cast<int64_t>(CeilDiv(static_cast<uint64_t>(a.queryLengths[b]), a.blockX));
        const int64_t vy = static_cast<int64_t>(CeilDiv(static_cast<uint64_t>(a.keyLengths[b]), a.blockY));
        row[BSA_QUERY_TOKENS] = a.queryLengths[b];
        row[BSA_KEY_TOKENS] = a.keyLengths[b];
        row[BSA_QUERY_START] = queryToken * static_cast<int64_t>(a.heads * kHeadElements);
        row[BSA_KEY_START] = keyToken * static_cast<int64_t>(a.heads * kHeadElements);
        row[BSA_QUERY_BLOCKS] = vx;
        row[BSA_KEY_BLOCKS] = vy;
        row[BSA_QUERY_LENS] = queryBlock;
        row[BSA_KEY_LENS] = keyBlock;
        const int64_t usable = Usable(a.queryLens, queryBlock, vx) * Usable(a.keyLens, keyBlock, vy);
        row[BSA_KEEP] = std::min(CellsToKeep(static_cast<float>(a.sparsity), vx * vy), usable);
        queryToken += a.tokensFirst ? a.queryLengths[b] : static_cast<int64_t>(a.queryAxis);
        keyToken += a.tokensFirst ? a.keyLengths[b] : static_cast<int64_t>(a.keyAxis);
        queryBlock += a.tokensFirst ? vx : static_cast<int64_t>(a.xBlocks);
        keyBlock += a.tokensFirst ? vy : static_cast<int64_t>(a.yBlocks);
    }
    return table;
}

} // namespace

int64_t CellsToKeep(float sparsity, int64_t cells)
{
    return std::max<int64_t>(1, static_cast<int64_t>(std::round(sparsity * static_cast<float>(cells))));
}

BSASelectBlockMaskPlan TileBSASelectBlockMask(const BSASelectBlockMaskArguments &arguments, const TilingPlatform &platform)
{
    BSASelectBlockMaskPlan plan;
    auto &tiling = plan.tiling;
    BSASelectBlockMaskTilingData &data = tiling.data;
    const uint64_t batch = arguments.queryLengths.size();
    const uint64_t heads = batch * arguments.heads;
    const uint64_t pitch = AlignUp(arguments.yBlocks, uint64_t{BSA_ROW_ALIGN});
    const uint64_t cores = std::min<uint64_t>(platform.aicCores, platform.aivCores / kVectorsPerCube);
    if (cores == 0 || heads == 0 || arguments.xBlocks == 0 || arguments.yBlocks == 0) {
        tiling.error = "nothing to split: " + std::to_string(heads) + " heads of " + std::to_string(arguments.xBlocks) +
                       " x " + std::to_string(arguments.yBlocks) + " blocks, " + std::to_string(cores) + " cores";
        return plan;
    }
    if (pitch > kMostCells / arguments.xBlocks) {
        tiling.error = "a head of blockSparseMaskOut has " + std::to_string(arguments.xBlocks) + " x " +
                       std::to_string(arguments.yBlocks) + " blocks, expected at most 2^31 - 1 with rows of whole 32 blocks";
        return plan;
    }
    const bool dense = !arguments.tokensFirst || arguments.heads == 1;
    tiling.key = arguments.key.value_or(dense ? 1 : 0);
    if (tiling.key > 1 || (tiling.key == 1 && !dense)) {
        tiling.error = "there is no tiling key " + std::to_string(tiling.key) + " for this layout, only " +
                       (dense ? "0 and 1" : "0");
        return plan;
    }

    data.batch = batch;
    data.heads = arguments.heads;
    data.queryElements = (arguments.tokensFirst ? 1 : batch) * arguments.heads * arguments.queryAxis * kHeadElements;
    data.keyElements = (arguments.tokensFirst ? 1 : batch) * arguments.heads * arguments.keyAxis * kHeadElements;
    data.queryLensCount = arguments.queryLens.size();
    data.keyLensCount = arguments.keyLens.size();
    data.queryHeadStride = arguments.tokensFirst ? kHeadElements : arguments.queryAxis * kHeadElements;
    data.keyHeadStride = arguments.tokensFirst ? kHeadElements : arguments.keyAxis * kHeadElements;
    data.tokenStride = arguments.tokensFirst ? arguments.heads * kHeadElements : kHeadElements;
    data.blockX = arguments.blockX;
    data.blockY = arguments.blockY;
    data.xBlocks = arguments.xBlocks;
    data.yBlocks = arguments.yBlocks;
    data.scale = static_cast<float>(arguments.scale);

    // No more cores than there are blocks to pool.
    const uint64_t pooled = heads * (arguments.xBlocks + arguments.yBlocks);
    tiling.blockDim = static_cast<uint32_t>(std::min(cores, CeilDiv(pooled, kVectorsPerCube)));
    data.vectorCores = static_cast<uint32_t>(kVectorsPerCube * tiling.blockDim);
    data.slotColumns = static_cast<uint32_t>(pitch);
    const uint64_t rows = std::min(AlignUp(arguments.xBlocks, kLeastTileRows), kSlotBytes / (pitch * sizeof(float)));
    data.tileRows = static_cast<uint32_t>(std::clamp(rows / kLeastTileRows * kLeastTileRows, kLeastTileRows, kMostTileRows));
    data.slotBytes = data.tileRows * pitch * sizeof(float);
    data.headCells = arguments.xBlocks * pitch;
    const uint64_t headBytes = data.headCells * sizeof(int16_t);
    const uint64_t group = std::clamp<uint64_t>(kGroupBytes / headBytes, 1, BSA_MOST_GROUP_HEADS);
    data.groupHeads = static_cast<uint32_t>(std::min(heads, group));

    data.pooledKeyOffset = AlignUp(heads * arguments.xBlocks * kHeadElements * 2, kAlign);
    data.scoresOffset = data.pooledKeyOffset + AlignUp(heads * arguments.yBlocks * kHeadElements * 2, kAlign);
    data.cellsOffset = data.scoresOffset + AlignUp(tiling.blockDim * BSA_SLOTS * data.slotBytes, kAlign);
    data.countsOffset = data.cellsOffset + AlignUp(data.groupHeads * headBytes, kAlign);
    data.countsBytes = AlignUp(data.groupHeads * data.vectorCores * kCountBytes, kAlign);
    data.workspaceBytes = data.countsOffset + 2 * data.countsBytes;
    tiling.workspaceSize = platform.systemWorkspace + data.workspaceBytes;
    plan.batches = BatchTable(arguments);
    return plan;
}

} // namespace ops
