// What the cube and the vector side agree on.
#ifndef MHC_PRE_SINKHORN_COMMON_H
#define MHC_PRE_SINKHORN_COMMON_H

#include "kernel_operator.h"
#include "mhc_pre_sinkhorn_tiling_data.h"

namespace MhcPreSinkhorn {

using namespace AscendC;

constexpr uint32_t STREAMS = 4;                              // n
constexpr uint32_t GATES = 2 * STREAMS;                      // pre and post
constexpr uint32_t CELLS = STREAMS * STREAMS;                // res
constexpr uint32_t MIX = GATES + CELLS;                      // rows of phi
constexpr uint32_t SLOTS = 2;                                // of the ring between vector and cube
constexpr uint32_t FP32_BLOCK = 8;                           // floats in 32 bytes
constexpr uint32_t FP32_REPEAT = 64;                         // floats of one vector repeat

// Cross-core flags (mode 2). READY + s: both vector cores have written slot s. FREE + s: the cube has read slot s.
constexpr uint16_t FLAG_READY = 0;
constexpr uint16_t FLAG_FREE = 2;
constexpr uint16_t FLAG_PRODUCT = 4; // the tile of products is in workspace

// The tokens of a block's two vector cores, and the loops that the block makes over them.
struct BlockRows {
    uint64_t start[2];
    uint64_t count[2];
    uint64_t loops;

    __aicore__ inline BlockRows(const MhcPreSinkhornTilingData &tiling, uint64_t block)
    {
        for (uint64_t sub = 0; sub < 2; ++sub) {
            const uint64_t first = (block * 2 + sub) * tiling.rowsPerCore;
            start[sub] = first < tiling.tokens ? first : tiling.tokens;
            const uint64_t left = tiling.tokens - start[sub];
            count[sub] = left < tiling.rowsPerCore ? left : tiling.rowsPerCore;
        }
        loops = (count[0] + tiling.rowsPerLoop - 1) / tiling.rowsPerLoop; // the first core never has fewer than the second
    }

    __aicore__ inline uint32_t InLoop(uint64_t sub, uint64_t loop, uint32_t rowsPerLoop) const
    {
        const uint64_t done = loop * rowsPerLoop;
        if (done >= count[sub]) {
            return 0;
        }
        const uint64_t left = count[sub] - done;
        return static_cast<uint32_t>(left < rowsPerLoop ? left : rowsPerLoop);
    }
};

} // namespace MhcPreSinkhorn

#endif // MHC_PRE_SINKHORN_COMMON_H
