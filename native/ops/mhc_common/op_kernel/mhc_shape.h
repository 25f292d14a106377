// The sizes that follow from the number of residual streams.
#ifndef MHC_SHAPE_H
#define MHC_SHAPE_H

#include "kernel_operator.h"

namespace Mhc {

using namespace AscendC;

constexpr uint32_t FP32_BLOCK = 8;   // floats in 32 bytes
constexpr uint32_t FP32_REPEAT = 64; // floats of one vector repeat
constexpr uint32_t FRACTAL_ROWS = 16;

// N streams per token; the rows of phi are N for pre, N for post and, with RES, N*N for res.
template <uint32_t N, bool RES = true>
struct Shape {
    static constexpr uint32_t STREAMS = N;
    static constexpr uint32_t GATES = 2 * N; // pre and post
    static constexpr uint32_t CELLS = RES ? N * N : 0;
    static constexpr uint32_t MIX = GATES + CELLS;
    static constexpr uint32_t MIX_STRIDE = (MIX + FP32_BLOCK - 1) / FP32_BLOCK * FP32_BLOCK; // of a token's products
    static constexpr uint32_t PHI_ROWS = (MIX + FRACTAL_ROWS - 1) / FRACTAL_ROWS * FRACTAL_ROWS; // in L1 and L0
    static constexpr uint32_t K_STEP = PHI_ROWS <= 64 ? 128 : 64; // columns in L0 at a time: two steps of phi in 64 KiB
};

__aicore__ inline uint64_t Smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

} // namespace Mhc

#endif // MHC_SHAPE_H
