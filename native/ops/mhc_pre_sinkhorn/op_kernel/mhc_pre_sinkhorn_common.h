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
constexpr uint16_t FLAG_PRODUCT = 4; // a tile of products is in workspace

// The parts of the workspace, as the tiling lays them out.
struct Workspace {
    GlobalTensor<float> slots[SLOTS]; // [tokens of a tile, kPerSlot] each, of this block
    GlobalTensor<float> products;     // [kParts, T, 24]
    GlobalTensor<float> squares;      // [kParts, T], only when the columns are split

    __aicore__ inline void Init(GM_ADDR workspace, const MhcPreSinkhornTilingData &tiling, uint64_t block)
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
    __aicore__ inline BlockWork(const MhcPreSinkhornTilingData &tiling, uint64_t block)
    {
        const uint64_t part = block / tiling.kParts;
        kPart_ = block % tiling.kParts;
        const bool single = tiling.vectorCores % 2 != 0 && part == tiling.vectorCores / 2;
        vectors_ = single ? 1 : 2;
        lanes_ = tiling.rowsPerLoop;
        start_ = Smaller(part * 2 * tiling.rowsPerCore, tiling.tokens);
        count_ = Smaller(vectors_ * tiling.rowsPerCore, tiling.tokens - start_);
        const uint64_t chunks = STREAMS * tiling.tail / tiling.kPerSlot;
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

    __aicore__ inline uint64_t FirstChunk() const
    {
        return firstChunk_;
    }

    __aicore__ inline uint64_t Chunks() const
    {
        return chunks_;
    }

    static __aicore__ inline uint64_t Smaller(uint64_t a, uint64_t b)
    {
        return a < b ? a : b;
    }

private:
    uint32_t vectors_;
    uint32_t lanes_;
    uint64_t kPart_;
    uint64_t start_;
    uint64_t count_;
    uint64_t firstChunk_;
    uint64_t chunks_;
};

} // namespace MhcPreSinkhorn

#endif // MHC_PRE_SINKHORN_COMMON_H
