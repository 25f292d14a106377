// The plan that the tiling function hands to the kernel.
#ifndef MHC_PRE_SINKHORN_BACKWARD_TILING_DATA_H
#define MHC_PRE_SINKHORN_BACKWARD_TILING_DATA_H

#include <cstdint>

#pragma pack(push, 8)
struct MhcPreSinkhornBackwardTilingData {
    uint64_t tokens;          // T = b*s
    uint64_t tail;            // c
    uint64_t tokenStride;     // length of a plane of tokens in workspace
    uint64_t rowsPerCore;     // token pass: tokens per vector core; the last ones may have fewer
    uint64_t tokensPerPart;   // column pass: tokens of a part, whole tiles
    uint64_t unitsPerBlock;   // column pass: units of a block; the last ones may have fewer
    uint64_t planesOffset;    // workspace: the scaled logit gradients [T, mixRows]; then their planes, those of hPre and the
                              // factor of x, [mixRows + n + 1, tokenStride],
    uint64_t phiOffset;       // then phi^T, [n*c, mixRows],
    uint64_t sumsOffset;      // then each vector core's sums over its tokens, [vectorCores, mixRows + 8],
    uint64_t gradPhiOffset;   // then, key 1, gradPhi of each part, [tokenParts, mix, n*c],
    uint64_t ringOffset;      // then the slots between vector and cube of each block
    uint64_t workspaceBytes;  // all of the above
    uint32_t streams;         // n
    uint32_t mix;             // n*n + 2n
    uint32_t mixRows;         // mix rounded up to 8
    uint32_t numIters;
    uint32_t vectorCores;     // token pass: how many have tokens
    uint32_t lanes;           // token pass: tokens at a time, also the length of a plane in UB
    uint32_t tokenParts;      // column pass: how many parts the tokens form; 1 for key 0
    uint32_t streamsPerSweep; // column pass: streams that share one sweep over the tokens
    float hcEps;
    float meanFactor;         // 1 / (n*c)
};
#pragma pack(pop)

#endif // MHC_PRE_SINKHORN_BACKWARD_TILING_DATA_H
