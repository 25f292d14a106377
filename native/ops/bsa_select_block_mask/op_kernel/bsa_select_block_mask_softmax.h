// The vector side of the scores: softmax over a row of products, rounded to half, stored as cells.
#ifndef BSA_SELECT_BLOCK_MASK_SOFTMAX_H
#define BSA_SELECT_BLOCK_MASK_SOFTMAX_H

#include "bsa_select_block_mask_common.h"

namespace BSASelectBlockMask {

class Softmax {
public:
    __aicore__ inline void Init(Batches *batches, Workspace *workspace, const BSASelectBlockMaskTilingData &tiling)
    {
        tiling_ = &tiling;
        batches_ = batches;
        workspace_ = workspace;
        block_ = GetBlockIdx() / 2;
        sub_ = GetBlockIdx() % 2;
        blocks_ = tiling.vectorCores / 2;
        total_ = CountTiles(*batches, tiling, block_, blocks_);
    }

    __aicore__ inline void Process(uint64_t firstHead, uint64_t lastHead, TPipe *pipe)
    {
        pipe->InitBuffer(in_, 2, COLUMNS * sizeof(float));
        pipe->InitBuffer(out_, 2, COLUMNS * sizeof(int16_t));
        pipe->InitBuffer(workBuf_, COLUMNS * sizeof(float));
        pipe->InitBuffer(sumsBuf_, COLUMNS * sizeof(float));
        pipe->InitBuffer(roundedBuf_, COLUMNS * sizeof(half));
        pipe->InitBuffer(constBuf_, 2 * COLUMNS * sizeof(int16_t));
        pipe->InitBuffer(scalarBuf_, COUNT_LANES * sizeof(float));
        work_ = workBuf_.Get<float>();
        sums_ = sumsBuf_.Get<float>();
        rounded_ = roundedBuf_.Get<half>();
        magnitude_ = constBuf_.Get<int16_t>();
        unusable_ = magnitude_[COLUMNS];
        Duplicate(magnitude_, static_cast<int16_t>(0x7fff), COLUMNS);
        PipeBarrier<PIPE_V>();

        for (Tiles tiles(*batches_, *tiling_, firstHead, lastHead, block_, blocks_); tiles.Valid(); tiles.Next()) {
            const uint16_t slot = static_cast<uint16_t>(turn_ % SLOTS);
            const Batch &batch = batches_->Of(tiles.Head());
            if (batches_->HasKeyLens() && batch.columns <= COLUMNS) {
                MarkUnusable(batch, 0, static_cast<uint32_t>(batch.columns)); // once for all rows
            }
            const uint32_t firstRows = (tiles.Rows() + 1) / 2; // those of the first vector core
            const uint32_t begin = sub_ == 0 ? 0 : firstRows;
            const uint32_t end = sub_ == 0 ? firstRows : tiles.Rows();
            CrossCoreWaitFlag(FLAG_READY + slot);
            const GlobalTensor<float> from = workspace_->Slot(block_, slot, *tiling_);
            const GlobalTensor<int16_t> to = workspace_->cells[(tiles.Head() - firstHead) * tiling_->headCells];
            for (uint32_t row = begin; row < end; ++row) {
                const uint64_t block = tiles.Row() + row;
                Row(batch, batches_->QueryTokens(batch, block, tiling_->blockX) > 0,
                    from[static_cast<uint64_t>(row) * tiling_->slotColumns], to[block * batch.Pitch()]);
            }
            if (turn_ + SLOTS < total_) { // nobody waits for the last ones
                CrossCoreSetFlag<2, PIPE_MTE2>(FLAG_FREE + slot);
            }
            ++turn_;
        }
    }

private:
    static constexpr uint32_t COLUMNS = 4096; // of a row at a time

    static __aicore__ inline uint32_t Count(const Batch &batch, uint64_t column)
    {
        return static_cast<uint32_t>(Smaller(COLUMNS, batch.columns - column));
    }

    // A row longer than a chunk is read again for each of the three steps.
    __aicore__ inline void Row(const Batch &batch, bool usable, const GlobalTensor<float> &from,
                               const GlobalTensor<int16_t> &to)
    {
        const bool whole = batch.columns <= COLUMNS;
        float largest = 0.0f;
        float sum = 0.0f;
        for (uint64_t column = 0; usable && column < batch.columns; column += COLUMNS) {
            Scores(from[column], Count(batch, column));
            const float value = Largest(Count(batch, column));
            largest = column == 0 || value > largest ? value : largest;
        }
        for (uint64_t column = 0; usable && column < batch.columns; column += COLUMNS) {
            const uint32_t count = Count(batch, column);
            if (!whole) {
                Scores(from[column], count);
            }
            Exponentials(largest, count);
            sum += Sum(count);
        }
        for (uint64_t column = 0; column < batch.columns; column += COLUMNS) {
            const uint32_t count = Count(batch, column);
            if (usable && !whole) {
                Scores(from[column], count);
                Exponentials(largest, count);
            }
            if (batches_->HasKeyLens() && !whole) {
                MarkUnusable(batch, column, count);
            }
            Store(usable, sum, count, to[column]);
        }
    }

    __aicore__ inline void Scores(const GlobalTensor<float> &from, uint32_t count)
    {
        LocalTensor<float> in = in_.AllocTensor<float>();
        DataCopyExtParams params(1, count * sizeof(float), 0, 0, 0);
        DataCopyPadExtParams<float> noPadding(false, 0, 0, 0.0f);
        DataCopyPad(in, from, params, noPadding);
        in_.EnQue(in);
        in = in_.DeQue<float>();
        Muls(work_, in, tiling_->scale, count);
        PipeBarrier<PIPE_V>();
        in_.FreeTensor(in);
    }

    __aicore__ inline float Largest(uint32_t count)
    {
        LocalTensor<float> result = scalarBuf_.Get<float>();
        ReduceMax(result, work_, sums_, static_cast<int32_t>(count));
        Handover<HardEvent::V_S>();
        const float value = result.GetValue(0);
        Handover<HardEvent::S_V>();
        return value;
    }

    __aicore__ inline void Exponentials(float largest, uint32_t count)
    {
        Adds(work_, work_, -largest, count);
        PipeBarrier<PIPE_V>();
        Exp(work_, work_, count);
        PipeBarrier<PIPE_V>();
    }

    __aicore__ inline float Sum(uint32_t count)
    {
        LocalTensor<float> result = scalarBuf_.Get<float>();
        ReduceSum(result, work_, sums_, static_cast<int32_t>(count));
        Handover<HardEvent::V_S>();
        const float value = result.GetValue(0);
        Handover<HardEvent::S_V>();
        return value;
    }

    // Divides by the sum, rounds, and writes the cells with the padding behind the last one.
    __aicore__ inline void Store(bool usable, float sum, uint32_t count, const GlobalTensor<int16_t> &to)
    {
        const uint32_t padded = static_cast<uint32_t>(RoundUp(count, ROW_ALIGN));
        LocalTensor<int16_t> out = out_.AllocTensor<int16_t>();
        if (usable) {
            const uint32_t blocks = count / 16 * 16;
            if (blocks < padded) {
                Duplicate(out[blocks], NO_CELL, padded - blocks);
            }
            Duplicate(sums_, sum, count);
            PipeBarrier<PIPE_V>();
            Div(work_, work_, sums_, count);
            PipeBarrier<PIPE_V>();
            Cast(rounded_, work_, RoundMode::CAST_ROUND, count);
            PipeBarrier<PIPE_V>();
            LocalTensor<int16_t> bits = rounded_.ReinterpretCast<int16_t>();
            And(bits, bits, magnitude_, count); // a NaN may have its sign bit set
            PipeBarrier<PIPE_V>();
            Mins(out, bits, LARGEST_CELL, count);
            if (batches_->HasKeyLens()) {
                PipeBarrier<PIPE_V>();
                Or(out, out, unusable_, count);
            }
        } else {
            Duplicate(out, NO_CELL, padded);
        }
        out_.EnQue(out);
        out = out_.DeQue<int16_t>();
        DataCopy(to, out, padded);
        out_.FreeTensor(out);
    }

    // -1 for key blocks of length 0, else 0.
    __aicore__ inline void MarkUnusable(const Batch &batch, uint64_t column, uint32_t count)
    {
        constexpr uint32_t step = COLUMNS / 2; // int64 in a buffer of floats
        LocalTensor<int32_t> narrow = sums_.ReinterpretCast<int32_t>();
        for (uint32_t done = 0; done < count; done += step) {
            const uint32_t part = count - done < step ? count - done : step;
            LocalTensor<int64_t> in = in_.AllocTensor<int64_t>();
            DataCopyExtParams params(1, part * sizeof(int64_t), 0, 0, 0);
            DataCopyPadExtParams<int64_t> noPadding(false, 0, 0, 0);
            DataCopyPad(in, batches_->KeyLens(batch, column + done), params, noPadding);
            in_.EnQue(in);
            in = in_.DeQue<int64_t>();
            Cast(narrow, in, RoundMode::CAST_NONE, part);
            PipeBarrier<PIPE_V>();
            in_.FreeTensor(in);
            Mins(narrow, narrow, static_cast<int32_t>(1), part);
            PipeBarrier<PIPE_V>();
            Adds(narrow, narrow, static_cast<int32_t>(-1), part);
            PipeBarrier<PIPE_V>();
            Cast(unusable_[done], narrow, RoundMode::CAST_NONE, part);
            PipeBarrier<PIPE_V>();
        }
    }

    const BSASelectBlockMaskTilingData *tiling_ = nullptr;
    Batches *batches_ = nullptr;
    Workspace *workspace_ = nullptr;
    uint64_t block_ = 0;
    uint64_t sub_ = 0;
    uint64_t blocks_ = 0;
    uint64_t total_ = 0; // tiles of this block in all groups
    uint64_t turn_ = 0;
    TQue<TPosition::VECIN, 2> in_;
    TQue<TPosition::VECOUT, 2> out_;
    TBuf<TPosition::VECCALC> workBuf_;
    TBuf<TPosition::VECCALC> sumsBuf_;
    TBuf<TPosition::VECCALC> roundedBuf_;
    TBuf<TPosition::VECCALC> constBuf_;
    TBuf<TPosition::VECCALC> scalarBuf_;
    LocalTensor<float> work_;        // products, then exponentials
    LocalTensor<float> sums_;        // the sum in every lane; scratch before
    LocalTensor<half> rounded_;
    LocalTensor<int16_t> magnitude_; // 0x7fff in every lane
    LocalTensor<int16_t> unusable_;
};

} // namespace BSASelectBlockMask

#endif // BSA_SELECT_BLOCK_MASK_SOFTMAX_H
