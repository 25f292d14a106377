// The plan that the tiling function hands to the kernel.
#ifndef MHC_PRE_SINKHORN_TILING_DATA_H
#define MHC_PRE_SINKHORN_TILING_DATA_H

#include <cstdint>

#pragma pack(push, 8)
struct MhcPreSinkhornTilingData {
    uint64_t tokens;       // T = b*s
    uint64_t tail;         // c
    uint64_t rowsPerCore;  // tokens of one vector core; the last ones may have fewer or none
    uint32_t vectorCores;  // vector cores that have tokens
    uint32_t rowsPerLoop;  // tokens that a vector core takes at a time: 16 or 32, also the length of a plane
    uint32_t kPerSlot;     // columns of x that travel from vector to cube at a time
    uint32_t tailTile;     // columns of hin that are made at a time
    uint32_t numIters;
    uint32_t needBackward;
    float hcEps;
    float normEps;
    float meanFactor;      // 1 / (n*c)
    uint32_t reserved;
    uint64_t slotBytes;    // workspace of one block: two slots, then the tile of products
    uint64_t blockBytes;
};
#pragma pack(pop)

#endif // MHC_PRE_SINKHORN_TILING_DATA_H
