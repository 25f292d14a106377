// The vector side around the products: widens x for the cube and sums its squares on the way; with the products back, hands
// them and 1/rms to what the operator does with them.
#ifndef MHC_PROJECTION_VECTOR_H
#define MHC_PROJECTION_VECTOR_H

#include "mhc_block_work.h"
#include "mhc_stream_reader.h"

namespace Mhc {

template <typename T, typename SHAPE>
class ProjectionVector {
public:
    // gamma: [n*c], x is multiplied with it in front of the product; not looked at unless the tiling data says so. The squares
    // are those of x alone.
    __aicore__ inline void Init(StreamReader<T> &x, GM_ADDR gamma, GM_ADDR workspace, const MhcProjectionTilingData &tiling,
                                TPipe *pipe)
    {
        tiling_ = &tiling;
        x_ = &x;
        width_ = SHAPE::STREAMS * tiling.tail;
        lanes_ = tiling.rowsPerLoop;
        block_ = GetBlockIdx() / 2;
        sub_ = GetBlockIdx() % 2;
        workspace_.Init(workspace, tiling, block_);

        pipe->InitBuffer(xOut_, 2, lanes_ * tiling.kPerSlot * sizeof(float));
        pipe->InitBuffer(squaresBuf_, lanes_ * FP32_REPEAT * sizeof(float));
        pipe->InitBuffer(squaresOut_, 1, lanes_ * sizeof(float));
        pipe->InitBuffer(productsIn_, 2, lanes_ * SHAPE::MIX_STRIDE * sizeof(float));
        pipe->InitBuffer(planesBuf_, 3 * lanes_ * sizeof(float));
        if (tiling.gamma != 0) {
            gamma_.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(gamma), width_);
            pipe->InitBuffer(gammaIn_, 2, tiling.kPerSlot * sizeof(float));
        }
        LocalTensor<float> planes = planesBuf_.Get<float>();
        squareSums_ = planes;
        invRms_ = planes[lanes_];
        ones_ = planes[2 * lanes_];
        Duplicate(ones_, 1.0f, lanes_);
        PipeBarrier<PIPE_V>();
    }

    // Calls finish.Finish(token, count, products, invRms) until every token was handed out once; count is at most
    // rowsPerLoop. products: [rowsPerLoop][MIX_STRIDE], of which `count` rows are meant; invRms: a plane. Both are the
    // caller's until Finish returns.
    template <bool SPLIT_K, typename FINISH>
    __aicore__ inline void Process(FINISH &finish)
    {
        const BlockWork work(*tiling_, width_, block_);
        for (uint64_t tile = 0; tile < work.Tiles(); ++tile) {
            const uint32_t firstRows = work.FirstRows(tile);
            const uint32_t before = sub_ == 0 ? 0 : firstRows; // rows of the other vector core in the tile
            const uint32_t count = sub_ == 0 ? firstRows : work.Rows(tile) - firstRows;
            const uint64_t token = work.Start(tile) + before;
            StreamRows(work, tile, token, count, before);
            if constexpr (SPLIT_K) {
                if (count > 0) {
                    StoreSquares(work.KPart() * tiling_->tokens + token, count);
                }
            } else {
                CrossCoreWaitFlag(FLAG_PRODUCT);
                FinishTokens(finish, token, count);
            }
        }
        if constexpr (SPLIT_K) {
            SyncAll<false>();
            FinishAll(finish);
        }
    }

private:
    // Widens the rows chunk by chunk into the slots that the cube reads, and sums x^2 in 64 lanes per row on the way.
    __aicore__ inline void StreamRows(const BlockWork &work, uint64_t tile, uint64_t token, uint32_t count, uint32_t before)
    {
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
                const uint32_t columns = work.Columns(chunk);
                LocalTensor<T> narrow =
                    x_->Load(token * width_ + work.Column(chunk), count, columns, width_ - columns);
                LocalTensor<float> wide = xOut_.template AllocTensor<float>();
                Cast(wide, narrow, RoundMode::CAST_NONE, count * columns);
                PipeBarrier<PIPE_V>();
                x_->Free(narrow);
                AddSquares(squares, wide, columns, count);
                if (tiling_->gamma != 0) {
                    MultiplyGamma(wide, work.Column(chunk), columns, count);
                }
                xOut_.EnQue(wide);
                wide = xOut_.template DeQue<float>();
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

    __aicore__ inline void AddSquares(const LocalTensor<float> &squares, const LocalTensor<float> &wide, uint32_t columns,
                                      uint32_t count)
    {
        const uint8_t rowStride = static_cast<uint8_t>(columns / FP32_BLOCK);
        for (uint32_t column = 0; column < columns; column += FP32_REPEAT) {
            const uint64_t lanes = Smaller(FP32_REPEAT, columns - column);
            MulAddDst(squares, wide[column], wide[column], lanes, count, {1, 1, 1, 8, rowStride, rowStride});
            PipeBarrier<PIPE_V>();
        }
    }

    __aicore__ inline void MultiplyGamma(const LocalTensor<float> &wide, uint64_t first, uint32_t columns, uint32_t count)
    {
        LocalTensor<float> gamma = gammaIn_.template AllocTensor<float>();
        DataCopy(gamma, gamma_[first], columns);
        gammaIn_.EnQue(gamma);
        gamma = gammaIn_.template DeQue<float>();
        const uint8_t rowStride = static_cast<uint8_t>(columns / FP32_BLOCK);
        for (uint32_t column = 0; column < columns; column += FP32_REPEAT) {
            const uint64_t lanes = Smaller(FP32_REPEAT, columns - column);
            Mul(wide[column], wide[column], gamma[column], lanes, count, {1, 1, 1, rowStride, rowStride, 0});
        }
        PipeBarrier<PIPE_V>();
        gammaIn_.FreeTensor(gamma);
    }

    __aicore__ inline void StoreSquares(uint64_t row, uint32_t count)
    {
        LocalTensor<float> sums = squaresOut_.template AllocTensor<float>();
        DataCopy(sums, squareSums_, lanes_);
        squaresOut_.EnQue(sums);
        sums = squaresOut_.template DeQue<float>();
        DataCopyExtParams params(1, count * sizeof(float), 0, 0, 0);
        DataCopyPad(workspace_.squares[row], sums, params);
        squaresOut_.FreeTensor(sums);
    }

    // The columns were split: the tokens are spread over all vector cores anew, and the parts are added up.
    template <typename FINISH>
    __aicore__ inline void FinishAll(FINISH &finish)
    {
        const uint64_t first = Smaller(GetBlockIdx() * tiling_->rowsPerFinish, tiling_->tokens);
        const uint64_t last = Smaller(first + tiling_->rowsPerFinish, tiling_->tokens);
        for (uint64_t token = first; token < last; token += lanes_) {
            const uint32_t count = static_cast<uint32_t>(Smaller(lanes_, last - token));
            Duplicate(squareSums_, 0.0f, lanes_);
            PipeBarrier<PIPE_V>();
            for (uint32_t part = 0; part < tiling_->kParts; ++part) {
                LocalTensor<float> squares = productsIn_.template AllocTensor<float>();
                DataCopyExtParams params(1, count * sizeof(float), 0, 0, 0);
                DataCopyPadExtParams<float> noPadding(false, 0, 0, 0.0f);
                DataCopyPad(squares, workspace_.squares[part * tiling_->tokens + token], params, noPadding);
                productsIn_.EnQue(squares);
                squares = productsIn_.template DeQue<float>();
                Add(squareSums_, squareSums_, squares, count);
                PipeBarrier<PIPE_V>();
                productsIn_.FreeTensor(squares);
            }
            FinishTokens(finish, token, count);
        }
    }

    template <typename FINISH>
    __aicore__ inline void FinishTokens(FINISH &finish, uint64_t token, uint32_t count)
    {
        if (count == 0) {
            return;
        }
        InverseRms();
        LocalTensor<float> products = LoadProducts(0, token, count);
        for (uint32_t part = 1; part < tiling_->kParts; ++part) {
            LocalTensor<float> more = LoadProducts(part, token, count);
            Add(products, products, more, count * SHAPE::MIX_STRIDE);
            PipeBarrier<PIPE_V>();
            productsIn_.FreeTensor(more);
        }
        finish.Finish(token, count, products, invRms_);
        productsIn_.FreeTensor(products);
    }

    __aicore__ inline void InverseRms()
    {
        Muls(squareSums_, squareSums_, tiling_->meanFactor, lanes_);
        PipeBarrier<PIPE_V>();
        Adds(squareSums_, squareSums_, tiling_->normEps, lanes_);
        PipeBarrier<PIPE_V>();
        Sqrt(squareSums_, squareSums_, lanes_);
        PipeBarrier<PIPE_V>();
        Div(invRms_, ones_, squareSums_, lanes_);
        PipeBarrier<PIPE_V>();
    }

    __aicore__ inline LocalTensor<float> LoadProducts(uint32_t part, uint64_t token, uint32_t count)
    {
        LocalTensor<float> rows = productsIn_.template AllocTensor<float>();
        const uint64_t row = part * tiling_->tokens + token;
        DataCopy(rows, workspace_.products[row * SHAPE::MIX_STRIDE], count * SHAPE::MIX_STRIDE);
        productsIn_.EnQue(rows);
        return productsIn_.template DeQue<float>();
    }

    const MhcProjectionTilingData *tiling_ = nullptr;
    StreamReader<T> *x_ = nullptr;
    uint64_t width_ = 0; // n*c
    uint32_t lanes_ = 0; // length of a plane
    uint64_t block_ = 0;
    uint64_t sub_ = 0;
    GlobalTensor<float> gamma_;
    ProjectionWorkspace workspace_;
    TQue<TPosition::VECOUT, 2> xOut_;
    TQue<TPosition::VECOUT, 1> squaresOut_;
    TQue<TPosition::VECIN, 2> productsIn_;
    TQue<TPosition::VECIN, 2> gammaIn_;
    TBuf<TPosition::VECCALC> squaresBuf_;
    TBuf<TPosition::VECCALC> planesBuf_;
    LocalTensor<float> squareSums_;
    LocalTensor<float> invRms_;
    LocalTensor<float> ones_;
};

} // namespace Mhc

#endif // MHC_PROJECTION_VECTOR_H
