// How x . phi^T is spread over the cores; a part of the tiling data of every operator that needs the product.
#ifndef MHC_PROJECTION_TILING_DATA_H
#define MHC_PROJECTION_TILING_DATA_H

#include <cstdint>

#pragma pack(push, 8)
struct MhcProjectionTilingData {
    uint64_t tokens;         // T = b*s
    uint64_t tail;           // c
    uint64_t rowsPerCore;    // tokens per vector core in front of the products; the last ones may have fewer
    uint64_t rowsPerFinish;  // key 1: tokens per vector core behind the products
    uint64_t chunksPerPart;  // chunks of kPerSlot columns that one block multiplies
    uint64_t slotBytes;      // workspace: two slots of this size per block,
    uint64_t productsOffset; // then the products, [kParts, T, rows of phi rounded up to 8],
    uint64_t squaresOffset;  // then, key 1, the sums of squares, [kParts, T]
    uint64_t workspaceBytes; // all of the above
    uint32_t vectorCores;    // shares of tokens in front of the products
    uint32_t kParts;         // how many blocks share the columns of a tile; 1 for key 0
    uint32_t rowsPerLoop;    // tokens that a vector core takes at a time: 16 or 32, also the length of a plane
    uint32_t kPerSlot;       // columns of x that travel from vector to cube at a time; the last chunk may have fewer
    uint32_t tailTile;       // columns of the weighted sum that are made at a time
    uint32_t hf32;           // 1: the cube cuts its operands to 10 bits of mantissa
    uint32_t gamma;          // 1: x is multiplied with gamma in front of the product
    uint32_t reserved;
    float normEps;
    float meanFactor;        // 1 / (n*c)
};
#pragma pack(pop)

#endif // MHC_PROJECTION_TILING_DATA_H
