// The plan of an operator that maps element to element.
#ifndef OPS_ELEMENTWISE_TILING_DATA_H
#define OPS_ELEMENTWISE_TILING_DATA_H

#include <cstdint>

#pragma pack(push, 8)
struct ElementwiseTilingData {
    uint64_t count;   // elements
    uint64_t perCore; // elements of one vector core; the last one may have fewer
    uint32_t tile;    // elements at a time
    float scale;      // aclnnAdd: alpha for floating types,
    int32_t factor;   // and for INT32
    uint32_t reserved;
};
#pragma pack(pop)

#endif // OPS_ELEMENTWISE_TILING_DATA_H
