// The plan that the tiling function hands to the kernel.
#ifndef HC_PRE_SINKHORN_TILING_DATA_H
#define HC_PRE_SINKHORN_TILING_DATA_H

#include <cstdint>

#pragma pack(push, 8)
struct HcPreSinkhornTilingData {
    uint64_t tokens;      // T
    uint64_t tail;        // d
    uint64_t rowsPerCore; // tokens of a vector core; the last one may have fewer
    uint32_t rowsPerLoop; // tokens at a time: 16 or 32, also the length of a plane
    uint32_t tailTile;    // columns of y that are made at a time
    uint32_t numIters;
    float hcEps;
};
#pragma pack(pop)

#endif // HC_PRE_SINKHORN_TILING_DATA_H
