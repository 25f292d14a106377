// The plan that the tiling function hands to the kernel.
#ifndef MHC_PRE_SINKHORN_TILING_DATA_H
#define MHC_PRE_SINKHORN_TILING_DATA_H

#include <cstdint>

#pragma pack(push, 8)
struct MhcPreSinkhornTilingData {
    uint64_t tokens;         // T = b*s
    uint64_t tail;           // c
    uint64_t rowsPerCore;    // tokens per vector core in front of the products; the last ones may have fewer
    uint64_t rowsPerFinish;  // key 1: tokens per vector core behind the products
    uint64_t chunksPerPart;  // chunks of kPerSlot columns that one block multiplies
    uint64_t slotBytes;      // workspace: two slots of this size per block,
    uint64_t productsOffset; // then the products, [kParts, T, 24],
    uint64_t squaresOffset;  // then, key 1, the sums of squares, [kParts, T]
    uint64_t workspaceBytes; // all of the above
    uint32_t vectorCores;    // shares of tokens in front of the products
    uint32_t kParts;         // how many blocks share the columns of a tile; 1 for key 0
    uint32_t rowsPerLoop;    // tokens that a vector core takes at a time: 16 or 32, also the length of a plane
    uint32_t kPerSlot;       // columns of x that travel from vector to cube at a time
    uint32_t tailTile;       // columns of hin that are made at a time
    uint32_t numIters;
    uint32_t needBackward;
    float hcEps;
    float normEps;
    float meanFactor;        // 1 / (n*c)
};
#pragma pack(pop)

#endif // MHC_PRE_SINKHORN_TILING_DATA_H
