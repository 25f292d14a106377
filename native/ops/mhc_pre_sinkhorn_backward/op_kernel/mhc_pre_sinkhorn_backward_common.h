// What the passes and both kinds of cores agree on.
#ifndef MHC_PRE_SINKHORN_BACKWARD_COMMON_H
#define MHC_PRE_SINKHORN_BACKWARD_COMMON_H

#include "kernel_operator.h"
#include "mhc_pre_sinkhorn_backward_tiling_data.h"

namespace MhcPreSinkhornBackward {

using namespace AscendC;
using TilingData = MhcPreSinkhornBackwardTilingData;

constexpr uint32_t SLOTS = 2;         // of each ring between vector and cube
constexpr uint32_t FP32_BLOCK = 8;    // floats in 32 bytes
constexpr uint32_t FP32_REPEAT = 64;  // floats of one vector repeat
constexpr uint32_t COLUMNS = 128;     // of the tail axis at a time
constexpr uint32_t TILE = 64;         // tokens at a time in the column pass, of both vector cores
constexpr uint32_t GROUP = 16;        // tokens that are transposed together
constexpr uint32_t ALPHA_SUMS = 8;    // floats behind the sums of gradBias; three are used

// Cross-core flags (mode 2); + s for slot s. Vector to cube: x^T is there, a product has been read. Cube to vector: x^T has
// been read, a product is there.
constexpr uint16_t FLAG_X_READY = 0;
constexpr uint16_t FLAG_X_FREE = 2;
constexpr uint16_t FLAG_PRODUCT_READY = 4;
constexpr uint16_t FLAG_PRODUCT_FREE = 6;

__aicore__ inline uint64_t Smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

__aicore__ inline uint32_t RoundUp(uint32_t value, uint32_t step)
{
    return (value + step - 1) / step * step;
}

// The operator's tensors in device memory, in the order of its prototype.
struct Addresses {
    GM_ADDR gradHin;
    GM_ADDR gradHPost;
    GM_ADDR gradHRes;
    GM_ADDR x;
    GM_ADDR phi;
    GM_ADDR alpha;
    GM_ADDR bias;
    GM_ADDR hPre;
    GM_ADDR hcBeforeNorm;
    GM_ADDR invRms;
    GM_ADDR sumOut;
    GM_ADDR normOut;
    GM_ADDR gradX;
    GM_ADDR gradPhi;
    GM_ADDR gradAlpha;
    GM_ADDR gradBias;
    GM_ADDR workspace;
};

// The parts of the workspace, as the tiling lays them out.
struct Workspace {
    GlobalTensor<float> rows;            // [T, mixRows]: gradient of hcBeforeNorm
    GlobalTensor<float> planes;          // [mixRows + n + 1, tokenStride]: the same, hPre, the factor of x in gradX
    GlobalTensor<float> phi;             // [n*c, mixRows]: phi^T
    GlobalTensor<float> sums;            // [vectorCores, mixRows + ALPHA_SUMS]
    GlobalTensor<float> gradPhi;         // [tokenParts, mix, n*c], only when the tokens are split
    GlobalTensor<float> x[SLOTS];        // [TILE / GROUP, COLUMNS, GROUP] each, of this block
    GlobalTensor<float> products[SLOTS]; // [TILE, COLUMNS] each, of this block

    __aicore__ inline void Init(GM_ADDR workspace, const TilingData &tiling, uint64_t block)
    {
        GlobalTensor<float> all;
        all.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(workspace), tiling.workspaceBytes / sizeof(float));
        rows = all;
        planes = all[tiling.planesOffset / sizeof(float)];
        phi = all[tiling.phiOffset / sizeof(float)];
        sums = all[tiling.sumsOffset / sizeof(float)];
        gradPhi = all[tiling.gradPhiOffset / sizeof(float)];
        const GlobalTensor<float> ring = all[tiling.ringOffset / sizeof(float) + block * 2 * SLOTS * TILE * COLUMNS];
        for (uint32_t slot = 0; slot < SLOTS; ++slot) {
            x[slot] = ring[slot * TILE * COLUMNS];
            products[slot] = ring[(SLOTS + slot) * TILE * COLUMNS];
        }
    }
};

// One unit of the column pass: COLUMNS of the tail axis, some streams, a part of the tokens.
struct Unit {
    uint32_t part;
    uint64_t column;      // first on the tail axis
    uint32_t stream;      // first
    uint32_t streams;
    uint64_t token;       // first
    uint64_t tokens;

    __aicore__ inline uint64_t Tiles() const
    {
        return (tokens + TILE - 1) / TILE;
    }

    __aicore__ inline uint32_t Rows(uint64_t tile) const
    {
        return static_cast<uint32_t>(Smaller(TILE, tokens - tile * TILE));
    }
};

// The units of a block.
class ColumnWork {
public:
    __aicore__ inline ColumnWork(const TilingData &tiling, uint64_t block) : tiling_(tiling)
    {
        tailTiles_ = tiling.tail / COLUMNS;
        items_ = tailTiles_ * ((tiling.streams + tiling.streamsPerSweep - 1) / tiling.streamsPerSweep);
        const uint64_t units = items_ * tiling.tokenParts;
        first_ = Smaller(block * tiling.unitsPerBlock, units);
        last_ = Smaller(first_ + tiling.unitsPerBlock, units);
    }

    __aicore__ inline uint64_t Units() const
    {
        return last_ - first_;
    }

    __aicore__ inline Unit At(uint64_t index) const
    {
        const uint64_t number = first_ + index;
        const uint64_t item = number % items_;
        Unit unit;
        unit.part = static_cast<uint32_t>(number / items_);
        unit.column = item % tailTiles_ * COLUMNS;
        unit.stream = static_cast<uint32_t>(item / tailTiles_) * tiling_.streamsPerSweep;
        unit.streams = static_cast<uint32_t>(Smaller(tiling_.streamsPerSweep, tiling_.streams - unit.stream));
        unit.token = unit.part * tiling_.tokensPerPart;
        unit.tokens = Smaller(tiling_.tokensPerPart, tiling_.tokens - unit.token);
        return unit;
    }

    // How often a slot of a ring is filled.
    __aicore__ inline uint64_t Turns() const
    {
        uint64_t turns = 0;
        for (uint64_t index = 0; index < Units(); ++index) {
            const Unit unit = At(index);
            turns += unit.Tiles() * unit.streams;
        }
        return turns;
    }

    // Rows of a tile that its first vector core takes, whole groups; the second has the rest.
    static __aicore__ inline uint32_t FirstRows(uint32_t rows)
    {
        const uint32_t half = RoundUp((rows + 1) / 2, GROUP);
        return half < rows ? half : rows;
    }

private:
    const TilingData &tiling_;
    uint64_t tailTiles_;
    uint64_t items_;
    uint64_t first_;
    uint64_t last_;
};

} // namespace MhcPreSinkhornBackward

#endif // MHC_PRE_SINKHORN_BACKWARD_COMMON_H
