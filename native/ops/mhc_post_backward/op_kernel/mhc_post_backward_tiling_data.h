// The plan that the tiling function hands to the kernel.
#ifndef MHC_POST_BACKWARD_TILING_DATA_H
#define MHC_POST_BACKWARD_TILING_DATA_H

#include <cstdint>

#pragma pack(push, 8)
struct MhcPostBackwardTilingData {
    uint64_t tokens;        // T, spread evenly over the cores
    uint64_t tail;          // D
    uint32_t streams;       // n
    uint32_t tile;          // columns at a time, a multiple of 64; the last of a row may have fewer
    uint32_t tokensPerLoop; // whose float32 results are written together
    uint32_t reserved;
};
#pragma pack(pop)

#endif // MHC_POST_BACKWARD_TILING_DATA_H
