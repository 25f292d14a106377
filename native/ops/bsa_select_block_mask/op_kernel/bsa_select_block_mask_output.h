// From cells and threshold to the mask: 1 where a cell is chosen, 0 everywhere else.
#ifndef BSA_SELECT_BLOCK_MASK_OUTPUT_H
#define BSA_SELECT_BLOCK_MASK_OUTPUT_H

#include "bsa_select_block_mask_select.h"

namespace BSASelectBlockMask {

class Output {
public:
    __aicore__ inline void Init(GM_ADDR mask, Batches *batches, Workspace *workspace,
                                const BSASelectBlockMaskTilingData &tiling)
    {
        tiling_ = &tiling;
        batches_ = batches;
        workspace_ = workspace;
        mask_.SetGlobalBuffer(reinterpret_cast<__gm__ int8_t *>(mask),
                              tiling.batch * tiling.heads * tiling.xBlocks * tiling.yBlocks);
    }

    __aicore__ inline void Process(uint64_t firstHead, uint64_t lastHead, const Select &select, TPipe *pipe)
    {
        pipe->InitBuffer(in_, 2, CELLS * sizeof(int16_t));
        pipe->InitBuffer(out_, 2, CELLS * sizeof(int8_t));
        pipe->InitBuffer(chosenBuf_, CELLS * sizeof(int16_t));
        pipe->InitBuffer(aboveBuf_, CELLS * sizeof(int16_t));
        pipe->InitBuffer(wideBuf_, CELLS * sizeof(float));
        pipe->InitBuffer(indexBuf_, CELLS * sizeof(int16_t));
        pipe->InitBuffer(bitsBuf_, CELLS / 8);
        pipe->InitBuffer(workBuf_, CELLS / 64 * sizeof(float));
        pipe->InitBuffer(resultBuf_, COUNT_LANES * sizeof(float));
        for (uint64_t head = firstHead; head < lastHead; ++head) {
            const Batch &batch = batches_->Of(head);
            if (batch.rows < tiling_->xBlocks || batch.columns < tiling_->yBlocks) {
                Clear(head, select.FirstRow(), select.LastRow());
            }
            Write(head, head - firstHead, batch, select);
        }
    }

private:
    static constexpr uint32_t CELLS = 4096; // at a time

    __aicore__ inline void Clear(uint64_t head, uint64_t firstRow, uint64_t lastRow)
    {
        if (firstRow >= lastRow) {
            return;
        }
        LocalTensor<int8_t> zeros = out_.AllocTensor<int8_t>();
        Duplicate(zeros.ReinterpretCast<int16_t>(), static_cast<int16_t>(0), CELLS / 2);
        out_.EnQue(zeros);
        zeros = out_.DeQue<int8_t>();
        const uint64_t begin = (head * tiling_->xBlocks + firstRow) * tiling_->yBlocks;
        const uint64_t bytes = (lastRow - firstRow) * tiling_->yBlocks;
        for (uint64_t done = 0; done < bytes; done += CELLS) {
            DataCopyExtParams params(1, static_cast<uint32_t>(Smaller(CELLS, bytes - done)), 0, 0, 0);
            DataCopyPad(mask_[begin + done], zeros, params);
        }
        out_.FreeTensor(zeros);
        PipeBarrier<PIPE_MTE3>(); // the ones go over the zeros
    }

    // As many whole rows at a time as fit, or parts of one row.
    __aicore__ inline void Write(uint64_t head, uint64_t index, const Batch &batch, const Select &select)
    {
        const uint64_t lastRow = Smaller(select.LastRow(), batch.rows);
        const uint64_t pitch = batch.Pitch();
        if (select.FirstRow() >= lastRow || pitch == 0) {
            return;
        }
        const HeadSearch &search = select.Result(index);
        int64_t quota = search.Quota(batch.keep);
        const int64_t equal = search.reaching.own - search.above.own;
        const bool all = quota == equal;
        const uint64_t rowsAtOnce = pitch < CELLS ? CELLS / pitch : 1;
        for (uint64_t row = select.FirstRow(); row < lastRow; row += rowsAtOnce) {
            const uint64_t rows = Smaller(rowsAtOnce, lastRow - row);
            for (uint64_t column = 0; column < pitch; column += CELLS) {
                const uint32_t columns = static_cast<uint32_t>(Smaller(CELLS, pitch - column));
                const uint32_t count = static_cast<uint32_t>(rows) * columns;
                LocalTensor<int16_t> cells = in_.AllocTensor<int16_t>();
                DataCopy(cells, workspace_->cells[index * tiling_->headCells + row * pitch + column], count);
                in_.EnQue(cells);
                cells = in_.DeQue<int16_t>();
                LocalTensor<int16_t> chosen = chosenBuf_.Get<int16_t>();
                if (all || quota == 0) {
                    AtLeast(chosen, cells, all ? search.threshold : search.threshold + 1, count);
                } else {
                    quota -= Share(chosen, cells, search.threshold, count, quota);
                }
                in_.FreeTensor(cells);
                Store(mask_[(head * tiling_->xBlocks + row) * tiling_->yBlocks + column], chosen, static_cast<uint16_t>(rows),
                      static_cast<uint32_t>(Smaller(columns, batch.columns - column)), count);
            }
        }
    }

    // 1 for a cell at or above the threshold, else 0.
    __aicore__ inline void AtLeast(const LocalTensor<int16_t> &to, const LocalTensor<int16_t> &cells, int32_t threshold,
                                   uint32_t count)
    {
        Adds(to, cells, static_cast<int16_t>(-threshold), count);
        PipeBarrier<PIPE_V>();
        ShiftRight(to, to, static_cast<int16_t>(15), count);
        PipeBarrier<PIPE_V>();
        Adds(to, to, static_cast<int16_t>(1), count);
        PipeBarrier<PIPE_V>();
    }

    // All cells above the threshold and the first `quota` of those equal to it. Returns how many of the latter there were,
    // at most `quota`.
    __aicore__ inline int64_t Share(const LocalTensor<int16_t> &chosen, const LocalTensor<int16_t> &cells, int16_t threshold,
                                    uint32_t count, int64_t quota)
    {
        LocalTensor<int16_t> above = aboveBuf_.Get<int16_t>();
        AtLeast(chosen, cells, threshold, count);
        AtLeast(above, cells, threshold + 1, count);
        Sub(chosen, chosen, above, count); // equal
        PipeBarrier<PIPE_V>();
        const int64_t equal = Total(chosen, count);
        if (equal > quota) {
            const int16_t last = IndexOf(chosen, count, quota);
            LocalTensor<int16_t> within = indexBuf_.Get<int16_t>(); // 1 up to that index
            CreateVecIndex(within, static_cast<int16_t>(0), count);
            PipeBarrier<PIPE_V>();
            Adds(within, within, static_cast<int16_t>(-last - 1), count);
            PipeBarrier<PIPE_V>();
            ShiftRight(within, within, static_cast<int16_t>(15), count);
            PipeBarrier<PIPE_V>();
            And(chosen, chosen, within, count);
            PipeBarrier<PIPE_V>();
        }
        Add(chosen, chosen, above, count);
        PipeBarrier<PIPE_V>();
        return equal < quota ? equal : quota;
    }

    __aicore__ inline int64_t Total(const LocalTensor<int16_t> &ones, uint32_t count)
    {
        LocalTensor<float> wide = wideBuf_.Get<float>();
        LocalTensor<float> result = resultBuf_.Get<float>();
        Cast(wide, ones, RoundMode::CAST_NONE, count);
        PipeBarrier<PIPE_V>();
        ReduceSum(result, wide, workBuf_.Get<float>(), static_cast<int32_t>(count));
        Handover<HardEvent::V_S>();
        const int64_t total = static_cast<int64_t>(result.GetValue(0));
        Handover<HardEvent::S_V>();
        return total;
    }

    // The index of the `nth` 1, counted from 1. `wide` still holds the ones as floats.
    __aicore__ inline int16_t IndexOf(const LocalTensor<int16_t> &ones, uint32_t count, int64_t nth)
    {
        constexpr uint32_t perRepeat = 64;
        LocalTensor<float> wide = wideBuf_.Get<float>();
        LocalTensor<uint8_t> bits = bitsBuf_.Get<uint8_t>();
        LocalTensor<int16_t> index = indexBuf_.Get<int16_t>();
        LocalTensor<int16_t> kept = wide.ReinterpretCast<int16_t>();
        Compares(bits, wide, 0.5f, CMPMODE::GT, static_cast<uint32_t>(RoundUp(count, perRepeat)));
        CreateVecIndex(index, static_cast<int16_t>(0), count);
        PipeBarrier<PIPE_V>();
        uint64_t number = 0;
        GatherMask(kept, index, bits.ReinterpretCast<uint16_t>(), true, count, {1, 1, 8, 8}, number);
        Handover<HardEvent::V_S>();
        const int16_t found = kept.GetValue(static_cast<uint32_t>(nth - 1));
        Handover<HardEvent::S_V>();
        return found;
    }

    __aicore__ inline void Store(const GlobalTensor<int8_t> &to, const LocalTensor<int16_t> &chosen, uint16_t rows,
                                 uint32_t columns, uint32_t count)
    {
        LocalTensor<half> ones = wideBuf_.Get<half>();
        Cast(ones, chosen, RoundMode::CAST_NONE, count);
        PipeBarrier<PIPE_V>();
        LocalTensor<int8_t> out = out_.AllocTensor<int8_t>();
        Cast(out, ones, RoundMode::CAST_NONE, count);
        out_.EnQue(out);
        out = out_.DeQue<int8_t>();
        DataCopyExtParams params(rows, columns, 0, static_cast<uint32_t>(tiling_->yBlocks - columns), 0);
        DataCopyPad(to, out, params);
        out_.FreeTensor(out);
    }

    const BSASelectBlockMaskTilingData *tiling_ = nullptr;
    Batches *batches_ = nullptr;
    Workspace *workspace_ = nullptr;
    GlobalTensor<int8_t> mask_;
    TQue<TPosition::VECIN, 2> in_;
    TQue<TPosition::VECOUT, 2> out_;
    TBuf<TPosition::VECCALC> chosenBuf_;
    TBuf<TPosition::VECCALC> aboveBuf_;
    TBuf<TPosition::VECCALC> wideBuf_;
    TBuf<TPosition::VECCALC> indexBuf_;
    TBuf<TPosition::VECCALC> bitsBuf_;
    TBuf<TPosition::VECCALC> workBuf_;
    TBuf<TPosition::VECCALC> resultBuf_;
};

} // namespace BSASelectBlockMask

#endif // BSA_SELECT_BLOCK_MASK_OUTPUT_H
