// The tiling function of BSASelectBlockMask behind a C function, for ctypes.
#include <algorithm>
#include <cstring>

#include "ops/bsa_select_block_mask/op_host/bsa_select_block_mask_tiling.h"

struct ProbeInput {
    uint64_t tokensFirst, heads, queryAxis, keyAxis, blockX, blockY, xBlocks, yBlocks, batch;
    int64_t queryLengths[8], keyLengths[8];
    uint64_t queryLensCount, keyLensCount;
    int64_t queryLens[64], keyLens[64];
    double sparsity;
    int64_t key; // below 0: the tiling chooses
    uint64_t aic, aiv;
};

struct ProbeResult {
    BSASelectBlockMaskTilingData data;
    uint64_t key, blockDim, workspaceSize;
    int64_t batches[8][BSA_BATCH_FIELDS];
};

// Returns 1 and fills `error` when the tiling refuses.
extern "C" int probe(const ProbeInput *in, ProbeResult *result, char *error, size_t errorSize)
{
    ops::BSASelectBlockMaskArguments a{};
    a.tokensFirst = in->tokensFirst != 0;
    a.heads = in->heads;
    a.queryAxis = in->queryAxis;
    a.keyAxis = in->keyAxis;
    a.queryLengths.assign(in->queryLengths, in->queryLengths + in->batch);
    a.keyLengths.assign(in->keyLengths, in->keyLengths + in->batch);
    a.queryLens.assign(in->queryLens, in->queryLens + in->queryLensCount);
    a.keyLens.assign(in->keyLens, in->keyLens + in->keyLensCount);
    a.blockX = in->blockX;
    a.blockY = in->blockY;
    a.xBlocks = in->xBlocks;
    a.yBlocks = in->yBlocks;
    a.scale = 1.0;
    a.sparsity = in->sparsity;
    if (in->key >= 0) {
        a.key = static_cast<uint64_t>(in->key);
    }
    const ops::TilingPlatform platform{2201, static_cast<uint32_t>(in->aic), static_cast<uint32_t>(in->aiv), 184 << 10,
                                       512 << 10, 64 << 10, 64 << 10, 128 << 10, 16 << 20};
    const auto plan = ops::TileBSASelectBlockMask(a, platform);
    *result = {plan.tiling.data, plan.tiling.key, plan.tiling.blockDim, plan.tiling.workspaceSize, {}};
    std::copy(plan.batches.begin(), plan.batches.end(), &result->batches[0][0]);
    std::strncpy(error, plan.tiling.error.c_str(), errorSize - 1);
    return plan.tiling.error.empty() ? 0 : 1;
}
