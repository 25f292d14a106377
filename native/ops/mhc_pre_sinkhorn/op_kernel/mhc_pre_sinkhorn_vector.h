// The vector side. Per loop over tokens: widen x for the cube and sum its squares; then, with the products back, the gates,
// the Sinkhorn iterations and hin.
#ifndef MHC_PRE_SINKHORN_VECTOR_H
#define MHC_PRE_SINKHORN_VECTOR_H

#include "mhc_pre_sinkhorn_outputs.h"
#include "mhc_pre_sinkhorn_sinkhorn.h"

namespace MhcPreSinkhorn {

template <typename T>
class Vector {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR alpha, GM_ADDR bias, GM_ADDR hin, const OutputAddresses &outputs,
                                GM_ADDR workspace, const MhcPreSinkhornTilingData &tiling, TPipe *pipe)
    {
        tiling_ = &tiling;
        width_ = STREAMS * tiling.tail;
        lanes_ = tiling.rowsPerLoop;
        block_ = GetBlockIdx() / 2;
        sub_ = GetBlockIdx() % 2;

        x_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(x), tiling.tokens * width_);
        hin_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(hin), tiling.tokens * tiling.tail);
        alpha_.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(alpha), 3);
        bias_.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(bias), MIX);
        workspace_.Init(workspace, tiling, block_);

        const uint32_t slotTile = lanes_ * tiling.kPerSlot;
        const uint32_t tailTiles = STREAMS * tiling.tailTile;
        pipe->InitBuffer(xIn_, 2, (slotTile > tailTiles ? slotTile : tailTiles) * sizeof(T));
        pipe->InitBuffer(xOut_, 2, slotTile * sizeof(float));
        pipe->InitBuffer(squaresBuf_, lanes_ * FP32_REPEAT * sizeof(float));
        pipe->InitBuffer(xWideBuf_, tailTiles * sizeof(float));
        pipe->InitBuffer(hinSumBuf_, tiling.tailTile * sizeof(float));
        pipe->InitBuffer(hinOut_, 2, tiling.tailTile * sizeof(T));
        pipe->InitBuffer(mixIn_, 2, lanes_ * MIX * sizeof(float));
        pipe->InitBuffer(planesBuf_, (2 * MIX + 2 * GATES + 2 * STREAMS + 2) * lanes_ * sizeof(float));
        outputs_.Init(outputs, tiling, pipe);

        LocalTensor<float> planes = planesBuf_.Get<float>();
        mix_ = planes;
        biasPlanes_ = planes[MIX * lanes_];
        gates_ = biasPlanes_[MIX * lanes_];
        ones_ = gates_[GATES * lanes_];
        rowSums_ = ones_[GATES * lanes_];
        columnSums_ = rowSums_[STREAMS * lanes_];
        squareSums_ = columnSums_[STREAMS * lanes_];
        invRms_ = squareSums_[lanes_];
    }

    template <bool SPLIT_K>
    __aicore__ inline void Process()
    {
        const BlockWork work(*tiling_, block_);
        FillConstants();
        for (uint64_t tile = 0; tile < work.Tiles(); ++tile) {
            const uint32_t firstRows = work.FirstRows(tile);
            const uint32_t before = sub_ == 0 ? 0 : firstRows; // rows of the other vector core in the tile
            const uint32_t count = sub_ == 0 ? firstRows : work.Rows(tile) - firstRows;
            const uint64_t token = work.Start(tile) + before;
            StreamRows(work, tile, token, count, before);
            if constexpr (SPLIT_K) {
                if (count > 0) {
                    outputs_.WritePlane(workspace_.squares[work.KPart() * tiling_->tokens + token], squareSums_, count);
                }
            } else {
                CrossCoreWaitFlag(FLAG_PRODUCT);
                Finish(token, count);
            }
        }
        if constexpr (SPLIT_K) {
            SyncAll<false>();
            FinishAll();
        }
    }

private:
    __aicore__ inline void FillConstants()
    {
        Duplicate(ones_, 1.0f, GATES * lanes_);
        for (uint32_t row = 0; row < MIX; ++row) {
            Duplicate(biasPlanes_[row * lanes_], bias_.GetValue(row), lanes_);
        }
        PipeBarrier<PIPE_V>();
    }

    // Widens the rows chunk by chunk into the slots that the cube reads, and sums x^2 in 64 lanes per row on the way.
    __aicore__ inline void StreamRows(const BlockWork &work, uint64_t tile, uint64_t token, uint32_t count, uint32_t before)
    {
        const uint32_t columns = tiling_->kPerSlot;
        LocalTensor<float> squares = squaresBuf_.Get<float>();
        if (count > 0) {
            Duplicate(squares, 0.0f, count * FP32_REPEAT);
            PipeBarrier<PIPE_V>();
        }
        for (uint64_t chunk = 0; chunk < work.Chunks(); ++chunk) {
            const uint64_t turn = tile * work.Chunks() + chunk;
            const uint16_t slot = static_cast<uint16_t>(turn % SLOTS);
            if (turn >= SLOTS) {
                CrossCoreWaitFlag(FLAG_FREE + slot);
            }
            if (count > 0) {
                LoadX(token * width_ + (work.FirstChunk() + chunk) * columns, count, columns, width_ - columns);
                LocalTensor<T> narrow = xIn_.DeQue<T>();
                LocalTensor<float> wide = xOut_.AllocTensor<float>();
                Cast(wide, narrow, RoundMode::CAST_NONE, count * columns);
                PipeBarrier<PIPE_V>();
                xIn_.FreeTensor(narrow);
                const uint8_t rowStride = static_cast<uint8_t>(columns / FP32_BLOCK);
                for (uint32_t column = 0; column < columns; column += FP32_REPEAT) {
                    MulAddDst(squares, wide[column], wide[column], FP32_REPEAT, count, {1, 1, 1, 8, rowStride, rowStride});
                    PipeBarrier<PIPE_V>();
                }
                xOut_.EnQue(wide);
                wide = xOut_.DeQue<float>();
                DataCopy(workspace_.slots[slot][before * columns], wide, count * columns);
                xOut_.FreeTensor(wide);
            }
            CrossCoreSetFlag<2, PIPE_MTE3>(FLAG_READY + slot);
        }
        if (count > 0) {
            WholeReduceSum(squareSums_, squares, FP32_REPEAT, count, 1, 1, 8);
            PipeBarrier<PIPE_V>();
        }
    }

    // `blocks` pieces of `length` columns of x, `gap` columns apart, into the input queue.
    __aicore__ inline void LoadX(uint64_t offset, uint32_t blocks, uint32_t length, uint64_t gap)
    {
        LocalTensor<T> narrow = xIn_.AllocTensor<T>();
        DataCopyExtParams params(static_cast<uint16_t>(blocks), length * sizeof(T), static_cast<uint32_t>(gap * sizeof(T)), 0,
                                 0);
        DataCopyPadExtParams<T> noPadding(false, 0, 0, 0);
        DataCopyPad(narrow, x_[offset], params, noPadding);
        xIn_.EnQue(narrow);
    }

    // The columns were split: the tokens are spread over all vector cores anew, and the parts are added up.
    __aicore__ inline void FinishAll()
    {
        const uint64_t first = BlockWork::Smaller(GetBlockIdx() * tiling_->rowsPerFinish, tiling_->tokens);
        const uint64_t last = BlockWork::Smaller(first + tiling_->rowsPerFinish, tiling_->tokens);
        for (uint64_t token = first; token < last; token += lanes_) {
            const uint32_t count = static_cast<uint32_t>(BlockWork::Smaller(lanes_, last - token));
            Duplicate(squareSums_, 0.0f, lanes_);
            PipeBarrier<PIPE_V>();
            for (uint32_t part = 0; part < tiling_->kParts; ++part) {
                LocalTensor<float> squares = mixIn_.AllocTensor<float>();
                DataCopyExtParams params(1, count * sizeof(float), 0, 0, 0);
                DataCopyPadExtParams<float> noPadding(false, 0, 0, 0.0f);
                DataCopyPad(squares, workspace_.squares[part * tiling_->tokens + token], params, noPadding);
                mixIn_.EnQue(squares);
                squares = mixIn_.DeQue<float>();
                Add(squareSums_, squareSums_, squares, count);
                PipeBarrier<PIPE_V>();
                mixIn_.FreeTensor(squares);
            }
            Finish(token, count);
        }
    }

    // Everything behind the products, for `count` tokens whose squares are summed.
    __aicore__ inline void Finish(uint64_t token, uint32_t count)
    {
        if (count == 0) {
            return;
        }
        InverseRms(token, count);
        LoadProducts(token, count);
        Gates(token, count);
        Sinkhorn(token, count);
        WeightedSum(token, count);
    }

    __aicore__ inline void InverseRms(uint64_t token, uint32_t count)
    {
        Muls(squareSums_, squareSums_, tiling_->meanFactor, lanes_);
        PipeBarrier<PIPE_V>();
        Adds(squareSums_, squareSums_, tiling_->normEps, lanes_);
        PipeBarrier<PIPE_V>();
        Sqrt(squareSums_, squareSums_, lanes_);
        PipeBarrier<PIPE_V>();
        Div(invRms_, ones_, squareSums_, lanes_);
        PipeBarrier<PIPE_V>();
        if (tiling_->needBackward != 0) {
            outputs_.WriteInvRms(token, invRms_, count);
        }
    }

    // Products of the cube, [part][token][24] in workspace, added over the parts, to 24 planes.
    __aicore__ inline void LoadProducts(uint64_t token, uint32_t count)
    {
        LocalTensor<float> rows = LoadPart(0, token, count);
        for (uint32_t part = 1; part < tiling_->kParts; ++part) {
            LocalTensor<float> more = LoadPart(part, token, count);
            Add(rows, rows, more, count * MIX);
            PipeBarrier<PIPE_V>();
            mixIn_.FreeTensor(more);
        }
        if (tiling_->needBackward != 0) {
            outputs_.WriteProducts(token, rows, count);
        }

        constexpr uint32_t tokensPerRepeat = 16;
        TransDataTo5HDParams params;
        params.repeatTimes = static_cast<uint8_t>(lanes_ / tokensPerRepeat);
        params.dstRepStride = params.repeatTimes > 1 ? tokensPerRepeat / FP32_BLOCK : 0;
        params.srcRepStride = params.repeatTimes > 1 ? tokensPerRepeat * MIX / FP32_BLOCK : 0;
        for (uint32_t column = 0; column < MIX; column += FP32_BLOCK) {
            LocalTensor<float> from[NCHW_CONV_ADDR_LIST_SIZE];
            LocalTensor<float> to[NCHW_CONV_ADDR_LIST_SIZE];
            for (uint32_t i = 0; i < NCHW_CONV_ADDR_LIST_SIZE; ++i) {
                from[i] = rows[i * MIX + column];
                to[i] = mix_[(column + i / 2) * lanes_ + i % 2 * FP32_BLOCK];
            }
            TransDataTo5HD<float>(to, from, params);
        }
        PipeBarrier<PIPE_V>();
        mixIn_.FreeTensor(rows);
    }

    __aicore__ inline LocalTensor<float> LoadPart(uint32_t part, uint64_t token, uint32_t count)
    {
        LocalTensor<float> rows = mixIn_.AllocTensor<float>();
        DataCopy(rows, workspace_.products[(part * tiling_->tokens + token) * MIX], count * MIX);
        mixIn_.EnQue(rows);
        return mixIn_.DeQue<float>();
    }

    // z = product * invRms * alpha + bias; hPre = sigmoid + eps, hPost = 2 * sigmoid.
    __aicore__ inline void Gates(uint64_t token, uint32_t count)
    {
        const uint8_t plane = static_cast<uint8_t>(lanes_ / FP32_BLOCK);
        Mul(mix_, mix_, invRms_, lanes_, MIX, {1, 1, 1, plane, plane, 0});
        PipeBarrier<PIPE_V>();
        Muls(mix_, mix_, alpha_.GetValue(0), STREAMS * lanes_);
        Muls(mix_[STREAMS * lanes_], mix_[STREAMS * lanes_], alpha_.GetValue(1), STREAMS * lanes_);
        Muls(mix_[GATES * lanes_], mix_[GATES * lanes_], alpha_.GetValue(2), CELLS * lanes_);
        PipeBarrier<PIPE_V>();
        Add(mix_, mix_, biasPlanes_, MIX * lanes_);
        PipeBarrier<PIPE_V>();

        Muls(gates_, mix_, -1.0f, GATES * lanes_);
        PipeBarrier<PIPE_V>();
        Exp(gates_, gates_, GATES * lanes_);
        PipeBarrier<PIPE_V>();
        Adds(gates_, gates_, 1.0f, GATES * lanes_);
        PipeBarrier<PIPE_V>();
        Div(gates_, ones_, gates_, GATES * lanes_);
        PipeBarrier<PIPE_V>();
        Adds(gates_, gates_, tiling_->hcEps, STREAMS * lanes_);
        Muls(gates_[STREAMS * lanes_], gates_[STREAMS * lanes_], 2.0f, STREAMS * lanes_);
        PipeBarrier<PIPE_V>();
        outputs_.WriteGates(token, gates_, gates_[STREAMS * lanes_], count);
    }

    __aicore__ inline void Sinkhorn(uint64_t token, uint32_t count)
    {
        LocalTensor<float> cells = mix_[GATES * lanes_];
        SinkhornPlanes planes(cells, rowSums_, columnSums_, lanes_, tiling_->hcEps);
        for (uint32_t iter = 0; iter < tiling_->numIters; ++iter) {
            if (iter == 0) {
                planes.SoftmaxStep();
            } else {
                planes.RowStep();
            }
            if (tiling_->needBackward != 0) {
                outputs_.WriteNorm(2 * iter, token, cells, count);
            }
            planes.ColumnStep();
            if (tiling_->needBackward != 0) {
                outputs_.WriteNorm(2 * iter + 1, token, cells, count);
                outputs_.WriteSums(2 * iter, token, rowSums_, columnSums_, count);
            }
        }
        outputs_.WriteRes(token, cells, count);
    }

    // hin_d = sum_i hPre_i * x_{i,d}, one token after the other, the tail in tiles.
    __aicore__ inline void WeightedSum(uint64_t token, uint32_t count)
    {
        const event_t gatesReady = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::V_S));
        SetFlag<HardEvent::V_S>(gatesReady);
        WaitFlag<HardEvent::V_S>(gatesReady);
        LocalTensor<float> wide = xWideBuf_.Get<float>();
        LocalTensor<float> sum = hinSumBuf_.Get<float>();
        for (uint32_t row = 0; row < count; ++row) {
            for (uint64_t first = 0; first < tiling_->tail; first += tiling_->tailTile) {
                const uint64_t left = tiling_->tail - first;
                const uint32_t columns = left < tiling_->tailTile ? static_cast<uint32_t>(left) : tiling_->tailTile;
                LoadX((token + row) * width_ + first, STREAMS, columns, tiling_->tail - columns);
                LocalTensor<T> narrow = xIn_.DeQue<T>();
                Cast(wide, narrow, RoundMode::CAST_NONE, STREAMS * columns);
                PipeBarrier<PIPE_V>();
                xIn_.FreeTensor(narrow);
                Muls(sum, wide, gates_.GetValue(row), columns);
                PipeBarrier<PIPE_V>();
                for (uint32_t stream = 1; stream < STREAMS; ++stream) {
                    Axpy(sum, wide[stream * columns], gates_.GetValue(stream * lanes_ + row), columns);
                    PipeBarrier<PIPE_V>();
                }
                LocalTensor<T> rounded = hinOut_.AllocTensor<T>();
                Cast(rounded, sum, RoundMode::CAST_RINT, columns);
                hinOut_.EnQue(rounded);
                rounded = hinOut_.DeQue<T>();
                DataCopy(hin_[(token + row) * tiling_->tail + first], rounded, columns);
                hinOut_.FreeTensor(rounded);
            }
        }
        const event_t gatesRead = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::S_V));
        SetFlag<HardEvent::S_V>(gatesRead);
        WaitFlag<HardEvent::S_V>(gatesRead);
    }

    const MhcPreSinkhornTilingData *tiling_ = nullptr;
    uint64_t width_ = 0;  // n*c
    uint32_t lanes_ = 0;  // length of a plane
    uint64_t block_ = 0;
    uint64_t sub_ = 0;
    GlobalTensor<T> x_;
    GlobalTensor<T> hin_;
    GlobalTensor<float> alpha_;
    GlobalTensor<float> bias_;
    Workspace workspace_;
    TQue<TPosition::VECIN, 2> xIn_;
    TQue<TPosition::VECOUT, 2> xOut_;
    TQue<TPosition::VECOUT, 2> hinOut_;
    TQue<TPosition::VECIN, 2> mixIn_;
    TBuf<TPosition::VECCALC> squaresBuf_;
    TBuf<TPosition::VECCALC> xWideBuf_;
    TBuf<TPosition::VECCALC> hinSumBuf_;
    TBuf<TPosition::VECCALC> planesBuf_;
    Outputs outputs_;
    LocalTensor<float> mix_;         // 24 planes: products, then z; the last 16 become the Sinkhorn cells
    LocalTensor<float> biasPlanes_;  // 24 planes
    LocalTensor<float> gates_;       // 8 planes: hPre, hPost
    LocalTensor<float> ones_;        // 8 planes
    LocalTensor<float> rowSums_;     // 4 planes
    LocalTensor<float> columnSums_;  // 4 planes
    LocalTensor<float> squareSums_;  // 1 plane
    LocalTensor<float> invRms_;      // 1 plane
};

} // namespace MhcPreSinkhorn

#endif // MHC_PRE_SINKHORN_VECTOR_H
