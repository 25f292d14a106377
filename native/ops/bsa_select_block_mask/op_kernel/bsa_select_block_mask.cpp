// BSASelectBlockMask: mean pooling of query and key, their products, softmax, and the best cells of each head as a mask.
#include "kernel_operator.h"

#include "bsa_select_block_mask_cube.h"
#include "bsa_select_block_mask_output.h"
#include "bsa_select_block_mask_pool.h"
#include "bsa_select_block_mask_select.h"
#include "bsa_select_block_mask_softmax.h"

namespace BSASelectBlockMask {

struct Addresses {
    GM_ADDR query;
    GM_ADDR key;
    GM_ADDR mask;
};

static __aicore__ inline void RunCube(Batches &batches, Workspace &workspace, const BSASelectBlockMaskTilingData &tiling)
{
    TPipe pipe;
    Cube cube;
    cube.Init(&batches, &workspace, tiling, &pipe);
    SyncAll<false>(); // pooled
    const uint64_t heads = tiling.batch * tiling.heads;
    for (uint64_t first = 0; first < heads; first += tiling.groupHeads) {
        cube.Process(first, Smaller(first + tiling.groupHeads, heads));
    }
}

// The phases need the unified buffer in turn.
static __aicore__ inline void NextPhase(TPipe *pipe)
{
    PipeBarrier<PIPE_ALL>();
    pipe->Reset();
}

template <bool DENSE>
static __aicore__ inline void RunVector(const Addresses &addresses, Batches &batches, Workspace &workspace,
                                        const BSASelectBlockMaskTilingData &tiling)
{
    TPipe pipe;
    Pooling<DTYPE_QUERY, DENSE> pooling;
    pooling.Init(addresses.query, addresses.key, &batches, &workspace, tiling, &pipe);
    pooling.Process();
    SyncAll<false>(); // pooled

    Softmax softmax;
    Select select;
    Output output;
    softmax.Init(&batches, &workspace, tiling);
    select.Init(&batches, &workspace, tiling);
    output.Init(addresses.mask, &batches, &workspace, tiling);
    const uint64_t heads = tiling.batch * tiling.heads;
    for (uint64_t first = 0; first < heads; first += tiling.groupHeads) {
        const uint64_t last = Smaller(first + tiling.groupHeads, heads);
        NextPhase(&pipe);
        softmax.Process(first, last, &pipe);
        SyncAll(); // the cells of the group are there
        NextPhase(&pipe);
        select.Process(first, last, &pipe);
        NextPhase(&pipe);
        output.Process(first, last, select, &pipe);
        if (last < heads) {
            SyncAll(); // and may be overwritten
        }
    }
}

template <bool DENSE>
static __aicore__ inline void Run(const Addresses &addresses, Batches &batches, Workspace &workspace,
                                  const BSASelectBlockMaskTilingData &tiling)
{
    if ASCEND_IS_AIC {
        RunCube(batches, workspace, tiling);
    } else {
        RunVector<DENSE>(addresses, batches, workspace, tiling);
    }
}

} // namespace BSASelectBlockMask

// Tiling key 0: TND, the tokens of a head lie apart. Key 1: BNSD, they follow each other.
extern "C" __global__ __aicore__ void bsa_select_block_mask(GM_ADDR query, GM_ADDR key, GM_ADDR batches, GM_ADDR queryLens,
                                                            GM_ADDR keyLens, GM_ADDR mask, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    REGISTER_TILING_DEFAULT(BSASelectBlockMaskTilingData);
    GET_TILING_DATA_WITH_STRUCT(BSASelectBlockMaskTilingData, tilingData, tiling);
    BSASelectBlockMask::Batches table;
    table.Init(batches, queryLens, keyLens, tilingData);
    BSASelectBlockMask::Workspace parts;
    parts.Init(AscendC::GetUserWorkspace(workspace), tilingData);
    const BSASelectBlockMask::Addresses addresses{query, key, mask};
    if (TILING_KEY_IS(0)) {
        BSASelectBlockMask::Run<false>(addresses, table, parts, tilingData);
    } else if (TILING_KEY_IS(1)) {
        BSASelectBlockMask::Run<true>(addresses, table, parts, tilingData);
    }
}
