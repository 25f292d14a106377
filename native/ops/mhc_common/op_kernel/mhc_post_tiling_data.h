// How the streams behind a layer are cut: the plan that the tiling function hands to the kernel.
#ifndef MHC_POST_TILING_DATA_H
#define MHC_POST_TILING_DATA_H

#include <cstdint>

#pragma pack(push, 8)
struct MhcPostTilingData {
    uint64_t tokens;         // T
    uint64_t tail;           // D
    uint64_t pieces;         // tokenGroups * columnTiles, spread evenly over the cores
    uint32_t streams;        // n
    uint32_t tokensPerPiece; // more than one only where a piece holds whole rows
    uint32_t columnTiles;    // pieces of a row
    uint32_t tile;           // columns of a piece; the last of a row may have fewer
};
#pragma pack(pop)

#endif // MHC_POST_TILING_DATA_H
