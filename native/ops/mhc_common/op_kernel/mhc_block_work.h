// What the cube and the vector side of x . phi^T agree on.
#ifndef MHC_BLOCK_WORK_H
#define MHC_BLOCK_WORK_H

#include "mhc_projection_tiling_data.h"
#include "mhc_shape.h"

namespace Mhc {

constexpr uint32_t SLOTS = 2; // of the ring between vector and cube

// Cross-core flags (mode 2). READY + s: both vector cores have written slot s. FREE + s: the cube has read slot s.
constexpr uint16_t FLAG_READY = 0;
constexpr uint16_t FLAG_FREE = 2;
constexpr uint16_t FLAG_PRODUCT = 4; // a tile of products is in workspace

// The parts of the workspace, as the tiling lays them out.
struct ProjectionWorkspace {
    GlobalTensor<float> slots[SLOTS]; // [tokens of a tile, columns of a chunk] each, of this block
    GlobalTensor<float> products;     // [kParts, T, MIX_STRIDE]
    GlobalTensor<float> squares;      // [kParts, T], only when the columns are split

    __aicore__ inline void Init(GM_ADDR workspace, const MhcProjectionTilingData &tiling, uint64_t block)
    {
        GlobalTensor<float> all;
        all.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(workspace), tiling.workspaceBytes / sizeof(float));
        for (uint32_t slot = 0; slot < SLOTS; ++slot) {
            slots[slot] = all[(block * SLOTS + slot) * tiling.slotBytes / sizeof(float)];
        }
        products = all[tiling.productsOffset / sizeof(float)];
        squares = all[tiling.squaresOffset / sizeof(float)];
    }
};

// What one block multiplies: tiles of consecutive tokens, each shared by the block's vector cores, and a range of the
// chunks of kPerSlot columns (all of them unless the columns are split too).
class BlockWork {
public:
    // width: columns of x as a matrix, n*c.
    __aicore__ inline BlockWork(const MhcProjectionTilingData &tiling, uint64_t width, uint64_t block)
    {
        const uint64_t part = block / tiling.kParts;
        kPart_ = block % tiling.kParts;
        const bool single = tiling.vectorCores % 2 != 0 && part == tiling.vectorCores / 2;
        vectors_ = single ? 1 : 2;
        lanes_ = tiling.rowsPerLoop;
        start_ = Smaller(part * 2 * tiling.rowsPerCore, tiling.tokens);
        count_ = Smaller(vectors_ * tiling.rowsPerCore, tiling.tokens - start_);
        width_ = width;
        kPerSlot_ = tiling.kPerSlot;
        const uint64_t chunks = (width + kPerSlot_ - 1) / kPerSlot_;
        firstChunk_ = Smaller(kPart_ * tiling.chunksPerPart, chunks);
        chunks_ = Smaller(tiling.chunksPerPart, chunks - firstChunk_);
    }

    __aicore__ inline uint64_t Tiles() const
    {
        return (count_ + vectors_ * lanes_ - 1) / (vectors_ * lanes_);
    }

    __aicore__ inline uint64_t Start(uint64_t tile) const
    {
        return start_ + tile * vectors_ * lanes_;
    }

    __aicore__ inline uint32_t Rows(uint64_t tile) const
    {
        return static_cast<uint32_t>(Smaller(vectors_ * lanes_, count_ - tile * vectors_ * lanes_));
    }

    // Rows of the first vector core; the second has the rest.
    __aicore__ inline uint32_t FirstRows(uint64_t tile) const
    {
        return (Rows(tile) + vectors_ - 1) / vectors_;
    }

    __aicore__ inline uint64_t KPart() const
    {
        return kPart_;
    }

    __aicore__ inline uint64_t Chunks() const
    {
        return chunks_;
    }

    // First column of a chunk of this block.
    __aicore__ inline uint64_t Column(uint64_t chunk) const
    {
        return (firstChunk_ + chunk) * kPerSlot_;
    }

    __aicore__ inline uint32_t Columns(uint64_t chunk) const
    {
        return static_cast<uint32_t>(Smaller(kPerSlot_, width_ - Column(chunk)));
    }

private:
    uint32_t vectors_;
    uint32_t lanes_;
    uint64_t kPart_;
    uint64_t start_;
    uint64_t count_;
    uint64_t width_;
    uint64_t kPerSlot_;
    uint64_t firstChunk_;
    uint64_t chunks_;
};

} // namespace Mhc

#endif // MHC_BLOCK_WORK_H
