// The plan that the tiling function hands to the kernel.
#ifndef MATMUL_TILING_DATA_H
#define MATMUL_TILING_DATA_H

#include <cstdint>

#pragma pack(push, 8)
struct MatmulTilingData {
    uint64_t m;
    uint64_t n;
    uint64_t k;
    uint32_t mTile; // rows of out that a core makes at a time, a multiple of 16
    uint32_t nTile; // columns, a multiple of 16
    uint32_t kTile; // columns of self in L1 at a time, a multiple of kStep
    uint32_t kStep; // in L0 at a time
    uint32_t hf32;  // float operands lose their 13 low bits
    uint32_t reserved;
};
#pragma pack(pop)

#endif // MATMUL_TILING_DATA_H
