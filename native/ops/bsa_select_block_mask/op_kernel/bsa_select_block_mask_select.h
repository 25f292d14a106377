// TopK over all cells of a head, as a radix select that all vector cores share.
#ifndef BSA_SELECT_BLOCK_MASK_SELECT_H
#define BSA_SELECT_BLOCK_MASK_SELECT_H

#include "bsa_select_block_mask_common.h"

namespace BSASelectBlockMask {

// The largest threshold that at least `keep` cells reach, found two bits a round. "Before" counts the cells of the vector
// cores before this one, "own" those of this one.
struct Search {
    int64_t total = 0;
    int64_t before = 0;
    int64_t own = 0;
};

struct HeadSearch {
    int16_t threshold = 0;
    Search reaching;                 // cells at or above the threshold
    Search above;                    // cells above it
    Search counted[4];               // of the round, for the threshold plus 0, 1, 2, 3 steps

    // Cells equal to the threshold that this core takes, in the order of their index.
    __aicore__ inline int64_t Quota(int64_t keep) const
    {
        const int64_t left = keep - above.total - (reaching.before - above.before);
        const int64_t own = reaching.own - above.own;
        return left < 0 ? 0 : (left < own ? left : own);
    }
};

class Select {
public:
    __aicore__ inline void Init(Batches *batches, Workspace *workspace, const BSASelectBlockMaskTilingData &tiling)
    {
        tiling_ = &tiling;
        batches_ = batches;
        workspace_ = workspace;
        core_ = GetBlockIdx();
        share_ = (tiling.xBlocks + tiling.vectorCores - 1) / tiling.vectorCores;
        firstRow_ = Smaller(core_ * share_, tiling.xBlocks);
        lastRow_ = Smaller(firstRow_ + share_, tiling.xBlocks);
        while (tableRows_ < tiling.vectorCores) {
            tableRows_ *= 2;
        }
    }

    // Finds the threshold of each head of the group.
    __aicore__ inline void Process(uint64_t firstHead, uint64_t lastHead, TPipe *pipe)
    {
        pipe->InitBuffer(in_, 2, CELLS * sizeof(int16_t));
        pipe->InitBuffer(lessBuf_, CELLS * sizeof(int16_t));
        pipe->InitBuffer(sumsBuf_, 4 * CELLS * sizeof(int16_t));
        pipe->InitBuffer(wideBuf_, LEAST_LANES * sizeof(float));
        pipe->InitBuffer(workBuf_, COUNT_LANES * sizeof(float));
        pipe->InitBuffer(resultBuf_, 4 * COUNT_LANES * sizeof(float));
        pipe->InitBuffer(countsBuf_, COUNT_LANES * sizeof(int32_t));
        pipe->InitBuffer(table_, 2, tableRows_ * COUNT_LANES * sizeof(int32_t));
        pipe->InitBuffer(beforeBuf_, tableRows_ * COUNT_LANES * sizeof(int32_t));

        for (uint64_t head = firstHead; head < lastHead; ++head) {
            heads_[head - firstHead] = HeadSearch();
        }
        for (uint32_t shift = CELL_BITS; shift > 0;) {
            shift -= 2;
            // The first round also counts the cells that can be chosen at all.
            const uint32_t firstDigit = shift + 2 == CELL_BITS ? 0 : 1;
            for (uint64_t head = firstHead; head < lastHead; ++head) {
                CountCells(head, head - firstHead, shift, firstDigit);
                Publish(head - firstHead);
            }
            SyncAll();
            for (uint64_t head = firstHead; head < lastHead; ++head) {
                Collect(head - firstHead);
                Decide(heads_[head - firstHead], batches_->Of(head).keep, shift, firstDigit);
            }
            parity_ = 1 - parity_;
        }
    }

    __aicore__ inline const HeadSearch &Result(uint64_t index) const
    {
        return heads_[index];
    }

    __aicore__ inline uint64_t FirstRow() const
    {
        return firstRow_;
    }

    __aicore__ inline uint64_t LastRow() const
    {
        return lastRow_;
    }

private:
    static constexpr uint32_t CELLS = 2048;    // at a time
    static constexpr uint64_t PER_LANE = 256;  // cells of a lane before its sum is taken out: int16 has room for many lanes
    static constexpr uint32_t LEAST_LANES = 128;

    static __aicore__ inline int16_t Step(int16_t threshold, uint32_t digit, uint32_t shift)
    {
        return static_cast<int16_t>(threshold + static_cast<int32_t>(digit << shift));
    }

    // Counts this core's cells of a head at or above each threshold: a cell below it adds -1 to its lane.
    __aicore__ inline void CountCells(uint64_t head, uint64_t index, uint32_t shift, uint32_t firstDigit)
    {
        HeadSearch &search = heads_[index];
        for (uint32_t digit = firstDigit; digit < 4; ++digit) {
            search.counted[digit].own = 0;
        }
        const Batch &batch = batches_->Of(head);
        const uint64_t rows = Smaller(lastRow_, batch.rows);
        if (firstRow_ >= rows) {
            return;
        }
        const uint64_t cells = (rows - firstRow_) * batch.Pitch();
        const GlobalTensor<int16_t> from = workspace_->cells[index * tiling_->headCells + firstRow_ * batch.Pitch()];
        LocalTensor<int16_t> less = lessBuf_.Get<int16_t>();
        LocalTensor<int16_t> sums = sumsBuf_.Get<int16_t>();
        for (uint64_t first = 0; first < cells; first += PER_LANE * CELLS) {
            const uint64_t last = Smaller(first + PER_LANE * CELLS, cells);
            uint32_t lanes = LEAST_LANES;
            while (lanes < CELLS && lanes < last - first) {
                lanes *= 2;
            }
            for (uint32_t digit = firstDigit; digit < 4; ++digit) {
                Duplicate(sums[digit * CELLS], static_cast<int16_t>(0), lanes);
            }
            PipeBarrier<PIPE_V>();
            for (uint64_t done = first; done < last; done += CELLS) {
                const uint32_t count = static_cast<uint32_t>(Smaller(CELLS, last - done));
                LocalTensor<int16_t> in = in_.AllocTensor<int16_t>();
                DataCopy(in, from[done], count);
                in_.EnQue(in);
                in = in_.DeQue<int16_t>();
                for (uint32_t digit = firstDigit; digit < 4; ++digit) {
                    LocalTensor<int16_t> sum = sums[digit * CELLS];
                    Adds(less, in, static_cast<int16_t>(-Step(search.threshold, digit, shift)), count);
                    PipeBarrier<PIPE_V>();
                    ShiftRight(less, less, static_cast<int16_t>(15), count);
                    PipeBarrier<PIPE_V>();
                    Add(sum, sum, less, count);
                    PipeBarrier<PIPE_V>();
                }
                in_.FreeTensor(in);
            }
            TakeOut(search, firstDigit, lanes, static_cast<int64_t>(last - first));
        }
    }

    // Adds up the lanes of each threshold.
    __aicore__ inline void TakeOut(HeadSearch &search, uint32_t firstDigit, uint32_t lanes, int64_t cells)
    {
        LocalTensor<float> wide = wideBuf_.Get<float>();
        LocalTensor<float> result = resultBuf_.Get<float>();
        for (uint32_t digit = firstDigit; digit < 4; ++digit) {
            LocalTensor<int16_t> sum = sumsBuf_.Get<int16_t>()[digit * CELLS];
            for (uint32_t rest = lanes / 2; rest >= LEAST_LANES; rest /= 2) {
                Add(sum, sum, sum[rest], rest);
                PipeBarrier<PIPE_V>();
            }
            Cast(wide, sum, RoundMode::CAST_NONE, LEAST_LANES);
            PipeBarrier<PIPE_V>();
            ReduceSum(result[digit * COUNT_LANES], wide, workBuf_.Get<float>(), static_cast<int32_t>(LEAST_LANES));
            PipeBarrier<PIPE_V>();
        }
        Handover<HardEvent::V_S>();
        for (uint32_t digit = firstDigit; digit < 4; ++digit) {
            search.counted[digit].own += cells + static_cast<int64_t>(result.GetValue(digit * COUNT_LANES));
        }
        Handover<HardEvent::S_V>();
    }

    __aicore__ inline void Publish(uint64_t index)
    {
        LocalTensor<int32_t> out = countsBuf_.Get<int32_t>();
        Handover<HardEvent::MTE3_S>();
        for (uint32_t digit = 0; digit < 4; ++digit) {
            out.SetValue(digit, static_cast<int32_t>(heads_[index].counted[digit].own));
        }
        Handover<HardEvent::S_MTE3>();
        DataCopy(workspace_->counts[parity_][(index * tiling_->vectorCores + core_) * COUNT_LANES], out, COUNT_LANES);
    }

    // Adds up what the vector cores have counted, and what those before this one have.
    __aicore__ inline void Collect(uint64_t index)
    {
        const uint32_t cores = tiling_->vectorCores;
        const uint32_t before = static_cast<uint32_t>(core_);
        LocalTensor<int32_t> all = table_.AllocTensor<int32_t>();
        DataCopy(all, workspace_->counts[parity_][index * cores * COUNT_LANES], cores * COUNT_LANES);
        table_.EnQue(all);
        all = table_.DeQue<int32_t>();
        LocalTensor<int32_t> mine = beforeBuf_.Get<int32_t>();
        Duplicate(mine, static_cast<int32_t>(0), tableRows_ * COUNT_LANES);
        if (cores < tableRows_) {
            Duplicate(all[cores * COUNT_LANES], static_cast<int32_t>(0), (tableRows_ - cores) * COUNT_LANES);
        }
        PipeBarrier<PIPE_V>();
        if (before > 0) {
            Adds(mine, all, static_cast<int32_t>(0), before * COUNT_LANES);
            PipeBarrier<PIPE_V>();
        }
        for (uint32_t rows = tableRows_ / 2; rows >= 1; rows /= 2) {
            Add(all, all, all[rows * COUNT_LANES], rows * COUNT_LANES);
            Add(mine, mine, mine[rows * COUNT_LANES], rows * COUNT_LANES);
            PipeBarrier<PIPE_V>();
        }
        Handover<HardEvent::V_S>();
        for (uint32_t digit = 0; digit < 4; ++digit) {
            heads_[index].counted[digit].total = all.GetValue(digit);
            heads_[index].counted[digit].before = mine.GetValue(digit);
        }
        Handover<HardEvent::S_V>();
        table_.FreeTensor(all);
    }

    static __aicore__ inline void Decide(HeadSearch &search, int64_t keep, uint32_t shift, uint32_t firstDigit)
    {
        if (firstDigit == 0) {
            search.reaching = search.counted[0];
        }
        uint32_t digit = 0;
        for (uint32_t next = 1; next < 4 && search.counted[next].total >= keep; ++next) {
            digit = next;
        }
        if (digit > 0) {
            search.reaching = search.counted[digit];
        }
        if (digit < 3) {
            search.above = search.counted[digit + 1];
        }
        search.threshold = Step(search.threshold, digit, shift);
    }

    const BSASelectBlockMaskTilingData *tiling_ = nullptr;
    Batches *batches_ = nullptr;
    Workspace *workspace_ = nullptr;
    uint64_t core_ = 0;
    uint64_t share_ = 0;
    uint64_t firstRow_ = 0; // the rows of the mask that belong to this core
    uint64_t lastRow_ = 0;
    uint32_t tableRows_ = 1;
    uint32_t parity_ = 0;
    HeadSearch heads_[BSA_MOST_GROUP_HEADS];
    TQue<TPosition::VECIN, 2> in_;
    TQue<TPosition::VECIN, 2> table_;
    TBuf<TPosition::VECCALC> lessBuf_;
    TBuf<TPosition::VECCALC> sumsBuf_;
    TBuf<TPosition::VECCALC> wideBuf_;
    TBuf<TPosition::VECCALC> workBuf_;
    TBuf<TPosition::VECCALC> resultBuf_;
    TBuf<TPosition::VECCALC> countsBuf_;
    TBuf<TPosition::VECCALC> beforeBuf_;
};

} // namespace BSASelectBlockMask

#endif // BSA_SELECT_BLOCK_MASK_SELECT_H
