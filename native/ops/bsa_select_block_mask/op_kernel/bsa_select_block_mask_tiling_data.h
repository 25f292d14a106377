// The plan that the tiling function hands to the kernel.
#ifndef BSA_SELECT_BLOCK_MASK_TILING_DATA_H
#define BSA_SELECT_BLOCK_MASK_TILING_DATA_H

#include <cstdint>

// Sizes that tiling function and kernel both count with.
enum BSASelectBlockMaskSize : uint32_t {
    BSA_SLOTS = 2,             // of the ring between cube and vector
    BSA_COUNT_LANES = 8,       // int32 in 32 bytes: the counts of one head and vector core
    BSA_MOST_GROUP_HEADS = 16, // whose search a vector core keeps at a time
    BSA_ROW_ALIGN = 32,        // cells of a row are padded to a multiple of this
    BSA_HEAD_DIM = 128,
};

// What differs from batch to batch: one row of int64 each, in global memory.
enum BSASelectBlockMaskBatchField : uint32_t {
    BSA_QUERY_TOKENS,
    BSA_KEY_TOKENS,
    BSA_QUERY_START, // element of head 0, token 0
    BSA_KEY_START,
    BSA_QUERY_BLOCKS, // vx
    BSA_KEY_BLOCKS,   // vy
    BSA_QUERY_LENS,   // first entry of the batch in the block lengths
    BSA_KEY_LENS,
    BSA_KEEP, // cells to choose per head
    BSA_BATCH_FIELDS = 12,
};

#pragma pack(push, 8)
struct BSASelectBlockMaskTilingData {
    uint64_t batch;
    uint64_t heads;           // N
    uint64_t queryElements;   // of the whole tensors
    uint64_t keyElements;
    uint64_t queryLensCount;  // entries of the block lengths, 0: not given
    uint64_t keyLensCount;
    uint64_t queryHeadStride; // elements from one head of a batch to the next
    uint64_t keyHeadStride;
    uint64_t tokenStride;     // elements from one token to the next
    uint64_t blockX;          // tokens of a block
    uint64_t blockY;
    uint64_t xBlocks;         // of the mask
    uint64_t yBlocks;
    uint64_t headCells;       // room for the scores of one head, elements
    uint64_t pooledKeyOffset; // workspace: pooled query [batch*heads, xBlocks, 128], then pooled key,
    uint64_t scoresOffset;    // then two slots of float products per block,
    uint64_t slotBytes;
    uint64_t cellsOffset;     // then the scores of a group of heads as bit patterns,
    uint64_t countsOffset;    // then, twice, the counts of each head of a group and vector core
    uint64_t countsBytes;
    uint64_t workspaceBytes;  // all of the above
    uint32_t groupHeads;      // heads whose cells are chosen at the same time
    uint32_t tileRows;        // query blocks that the cube multiplies at a time
    uint32_t slotColumns;     // floats from one row of a slot to the next
    uint32_t vectorCores;
    float scale;
    uint32_t reserved;
};
#pragma pack(pop)

#endif // BSA_SELECT_BLOCK_MASK_TILING_DATA_H
