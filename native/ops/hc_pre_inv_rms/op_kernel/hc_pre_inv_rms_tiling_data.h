// The plan that the tiling function hands to the kernel.
#ifndef HC_PRE_INV_RMS_TILING_DATA_H
#define HC_PRE_INV_RMS_TILING_DATA_H

#include <cstdint>

#pragma pack(push, 8)
struct HcPreInvRmsTilingData {
    uint64_t rows;        // tokens
    uint64_t rowSize;     // elements of a row, n*d
    uint64_t rowsPerCore; // the last core may have fewer
    uint32_t rowsPerPass; // rows whose results leave together; key 1000: also loaded together
    uint32_t pieceSize;   // key 1001: elements of a row at a time, a multiple of lanes
    uint32_t lanes;       // partial sums of a row
    uint32_t loadBytes;   // size of one load buffer
    float epsilon;
    float meanFactor;     // 1 / rowSize
};
#pragma pack(pop)

#endif // HC_PRE_INV_RMS_TILING_DATA_H
