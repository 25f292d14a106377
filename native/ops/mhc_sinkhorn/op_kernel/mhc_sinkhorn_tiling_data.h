// The plan that the tiling function hands to the kernel.
#ifndef MHC_SINKHORN_TILING_DATA_H
#define MHC_SINKHORN_TILING_DATA_H

#include <cstdint>

#pragma pack(push, 8)
struct MhcSinkhornTilingData {
    uint64_t tokens;   // T, spread evenly over the cores
    uint32_t streams;  // n
    uint32_t numIters;
    uint32_t lanes;    // tokens that a core takes at a time: 16, 32 or 64, the length of a plane
    float eps;
};
#pragma pack(pop)

#endif // MHC_SINKHORN_TILING_DATA_H
