// How the blocks of BSASelectBlockMask are spread over the chip.
#pragma once

#include <optional>
#include <vector>

#include "ops/bsa_select_block_mask/op_kernel/bsa_select_block_mask_tiling_data.h"
#include "ops/common/tiling.h"

namespace ops {

struct BSASelectBlockMaskArguments {
    bool tokensFirst;                   // TND, else BNSD
    uint64_t heads;
    uint64_t queryAxis;                 // S or T of the tensors
    uint64_t keyAxis;
    std::vector<int64_t> queryLengths;  // tokens of each batch
    std::vector<int64_t> keyLengths;
    std::vector<int64_t> queryLens;     // tokens of each block; empty: not given
    std::vector<int64_t> keyLens;
    uint64_t blockX;
    uint64_t blockY;
    uint64_t xBlocks;                   // of the mask
    uint64_t yBlocks;
    double scale;
    double sparsity;
    std::optional<uint64_t> key;        // forces the tiling key; otherwise chosen
};

struct BSASelectBlockMaskPlan {
    Tiling<BSASelectBlockMaskTilingData> tiling;
    std::vector<int64_t> batches; // BSA_BATCH_FIELDS numbers for each batch
};

// Cells to keep of `cells`: round(sparsity * cells) in float32, half away from zero, and at least 1.
int64_t CellsToKeep(float sparsity, int64_t cells);

// Tiling key 0 reads tokens that lie apart (TND), key 1 tokens that follow each other (BNSD, or one head).
BSASelectBlockMaskPlan TileBSASelectBlockMask(const BSASelectBlockMaskArguments &arguments, const TilingPlatform &platform);

} // namespace ops
