// What the phases of the kernel agree on.
#ifndef BSA_SELECT_BLOCK_MASK_COMMON_H
#define BSA_SELECT_BLOCK_MASK_COMMON_H

#include "kernel_operator.h"
#include "bsa_select_block_mask_tiling_data.h"

namespace BSASelectBlockMask {

using namespace AscendC;

constexpr uint32_t HEAD_DIM = BSA_HEAD_DIM;
constexpr uint32_t KEY_TILE = 128; // key blocks that the cube multiplies at a time
constexpr uint32_t SLOTS = BSA_SLOTS;
constexpr uint32_t ROW_ALIGN = BSA_ROW_ALIGN;
constexpr uint32_t COUNT_LANES = BSA_COUNT_LANES;

// A score is the bit pattern of a non-negative half, at most 1.0 = 0x3c00, so it orders as an integer. NaN becomes the
// largest cell; cells that cannot be chosen, and padding, are -1.
constexpr uint32_t CELL_BITS = 14;
constexpr int16_t LARGEST_CELL = 0x3fff;
constexpr int16_t NO_CELL = -1;

// Cross-core flags (mode 2). READY + s: the cube has written slot s. FREE + s: both vector cores have read it.
constexpr uint16_t FLAG_READY = 0;
constexpr uint16_t FLAG_FREE = 2;

static __aicore__ inline uint64_t Smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static __aicore__ inline uint64_t RoundUp(uint64_t value, uint64_t to)
{
    return (value + to - 1) / to * to;
}

// Waits on the second pipe of `event` for what the first was given so far.
template <HardEvent event>
static __aicore__ inline void Handover()
{
    const event_t id = static_cast<event_t>(GetTPipePtr()->FetchEventID(event));
    SetFlag<event>(id);
    WaitFlag<event>(id);
}

struct Batch {
    uint64_t queryTokens;
    uint64_t keyTokens;
    uint64_t queryStart;
    uint64_t keyStart;
    uint64_t rows;    // vx
    uint64_t columns; // vy
    uint64_t queryLens;
    uint64_t keyLens;
    int64_t keep;

    __aicore__ inline uint64_t Pitch() const // cells from one row to the next
    {
        return RoundUp(columns, ROW_ALIGN);
    }
};

// The table of batches and the optional block lengths.
class Batches {
public:
    __aicore__ inline void Init(GM_ADDR batches, GM_ADDR queryLens, GM_ADDR keyLens,
                                const BSASelectBlockMaskTilingData &tiling)
    {
        heads_ = tiling.heads;
        hasQueryLens_ = tiling.queryLensCount > 0;
        hasKeyLens_ = tiling.keyLensCount > 0;
        table_.SetGlobalBuffer(reinterpret_cast<__gm__ int64_t *>(batches), tiling.batch * BSA_BATCH_FIELDS);
        queryLens_.SetGlobalBuffer(reinterpret_cast<__gm__ int64_t *>(queryLens), tiling.queryLensCount);
        keyLens_.SetGlobalBuffer(reinterpret_cast<__gm__ int64_t *>(keyLens), tiling.keyLensCount);
    }

    // The batch of head `head` of all.
    __aicore__ inline const Batch &Of(uint64_t head)
    {
        const uint64_t index = head / heads_;
        if (index != current_) {
            current_ = index;
            batch_.queryTokens = Field(BSA_QUERY_TOKENS);
            batch_.keyTokens = Field(BSA_KEY_TOKENS);
            batch_.queryStart = Field(BSA_QUERY_START);
            batch_.keyStart = Field(BSA_KEY_START);
            batch_.rows = Field(BSA_QUERY_BLOCKS);
            batch_.columns = Field(BSA_KEY_BLOCKS);
            batch_.queryLens = Field(BSA_QUERY_LENS);
            batch_.keyLens = Field(BSA_KEY_LENS);
            batch_.keep = static_cast<int64_t>(Field(BSA_KEEP));
        }
        return batch_;
    }

    // Tokens of a block that count: those of the sequence, at most as many as its length says.
    __aicore__ inline uint64_t QueryTokens(const Batch &batch, uint64_t block, uint64_t size) const
    {
        const uint64_t tokens = Smaller(size, batch.queryTokens - block * size);
        return hasQueryLens_ ? Smaller(tokens, queryLens_.GetValue(batch.queryLens + block)) : tokens;
    }

    __aicore__ inline uint64_t KeyTokens(const Batch &batch, uint64_t block, uint64_t size) const
    {
        const uint64_t tokens = Smaller(size, batch.keyTokens - block * size);
        return hasKeyLens_ ? Smaller(tokens, keyLens_.GetValue(batch.keyLens + block)) : tokens;
    }

    __aicore__ inline bool HasKeyLens() const
    {
        return hasKeyLens_;
    }

    __aicore__ inline GlobalTensor<int64_t> KeyLens(const Batch &batch, uint64_t block) const
    {
        return keyLens_[batch.keyLens + block];
    }

private:
    __aicore__ inline uint64_t Field(uint32_t field) const
    {
        return static_cast<uint64_t>(table_.GetValue(current_ * BSA_BATCH_FIELDS + field));
    }

    uint64_t heads_ = 1;
    uint64_t current_ = ~static_cast<uint64_t>(0);
    Batch batch_;
    bool hasQueryLens_ = false;
    bool hasKeyLens_ = false;
    GlobalTensor<int64_t> table_;
    GlobalTensor<int64_t> queryLens_;
    GlobalTensor<int64_t> keyLens_;
};

// The parts of the workspace, as the tiling lays them out.
struct Workspace {
    GlobalTensor<half> pooledQuery;  // [batch*heads, xBlocks, 128]
    GlobalTensor<half> pooledKey;    // [batch*heads, yBlocks, 128]
    GlobalTensor<float> slots;       // [blocks, SLOTS, tileRows, slotColumns]
    GlobalTensor<int16_t> cells;     // [groupHeads, headCells]: rows of Batch::Pitch() cells
    GlobalTensor<int32_t> counts[2]; // [groupHeads, vectorCores, 8]

    __aicore__ inline void Init(GM_ADDR workspace, const BSASelectBlockMaskTilingData &tiling)
    {
        pooledQuery = Part<half>(workspace, 0, tiling.pooledKeyOffset);
        pooledKey = Part<half>(workspace, tiling.pooledKeyOffset, tiling.scoresOffset);
        slots = Part<float>(workspace, tiling.scoresOffset, tiling.cellsOffset);
        cells = Part<int16_t>(workspace, tiling.cellsOffset, tiling.countsOffset);
        counts[0] = Part<int32_t>(workspace, tiling.countsOffset, tiling.countsOffset + tiling.countsBytes);
        counts[1] = Part<int32_t>(workspace, tiling.countsOffset + tiling.countsBytes, tiling.workspaceBytes);
    }

    // The products of one tile.
    __aicore__ inline GlobalTensor<float> Slot(uint64_t block, uint64_t slot, const BSASelectBlockMaskTilingData &tiling) const
    {
        return slots[(block * SLOTS + slot) * tiling.slotBytes / sizeof(float)];
    }

private:
    template <typename T>
    static __aicore__ inline GlobalTensor<T> Part(GM_ADDR workspace, uint64_t begin, uint64_t end)
    {
        GlobalTensor<uint8_t> bytes;
        bytes.SetGlobalBuffer(workspace);
        GlobalTensor<T> part;
        part.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(bytes.GetPhyAddr(begin)), (end - begin) / sizeof(T));
        return part;
    }
};

// The tiles of query blocks that one block of cores multiplies: those of a group's heads, dealt out in turn. Cube and vector
// cores walk them alike.
class Tiles {
public:
    __aicore__ inline Tiles(Batches &batches, const BSASelectBlockMaskTilingData &tiling, uint64_t firstHead,
                            uint64_t lastHead, uint64_t block, uint64_t blocks)
        : batches_(batches), tileRows_(tiling.tileRows), head_(firstHead), lastHead_(lastHead), block_(block),
          blocks_(blocks)
    {
        Enter();
    }

    __aicore__ inline bool Valid()
    {
        while (head_ < lastHead_ && tile_ >= count_) {
            seen_ += count_;
            ++head_;
            Enter();
        }
        return head_ < lastHead_;
    }

    __aicore__ inline void Next()
    {
        tile_ += blocks_;
    }

    __aicore__ inline uint64_t Head() const
    {
        return head_;
    }

    __aicore__ inline uint64_t Row() const
    {
        return tile_ * tileRows_;
    }

    __aicore__ inline uint32_t Rows() const
    {
        return static_cast<uint32_t>(Smaller(tileRows_, rows_ - Row()));
    }

private:
    __aicore__ inline void Enter()
    {
        if (head_ >= lastHead_) {
            return;
        }
        const Batch &batch = batches_.Of(head_);
        rows_ = batch.columns == 0 ? 0 : batch.rows;
        count_ = (rows_ + tileRows_ - 1) / tileRows_;
        tile_ = (block_ + blocks_ - seen_ % blocks_) % blocks_;
    }

    Batches &batches_;
    uint64_t tileRows_;
    uint64_t head_;
    uint64_t lastHead_;
    uint64_t block_;
    uint64_t blocks_;
    uint64_t rows_ = 0;
    uint64_t count_ = 0;
    uint64_t tile_ = 0;
    uint64_t seen_ = 0; // tiles of the heads before
};

static __aicore__ inline uint64_t CountTiles(Batches &batches, const BSASelectBlockMaskTilingData &tiling, uint64_t block,
                                             uint64_t blocks)
{
    const uint64_t heads = tiling.batch * tiling.heads;
    uint64_t count = 0;
    for (uint64_t first = 0; first < heads; first += tiling.groupHeads) {
        const uint64_t last = Smaller(first + tiling.groupHeads, heads);
        for (Tiles tiles(batches, tiling, first, last, block, blocks); tiles.Valid(); tiles.Next()) {
            ++count;
        }
    }
    return count;
}

} // namespace BSASelectBlockMask

#endif // BSA_SELECT_BLOCK_MASK_COMMON_H
