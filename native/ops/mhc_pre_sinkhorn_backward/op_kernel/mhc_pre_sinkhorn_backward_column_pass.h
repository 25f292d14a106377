// The column pass of a vector core: x transposed for the cube, and gradX from the cube's products. At the end the sums over
// the cores.
#ifndef MHC_PRE_SINKHORN_BACKWARD_COLUMN_PASS_H
#define MHC_PRE_SINKHORN_BACKWARD_COLUMN_PASS_H

#include "mhc_pre_sinkhorn_backward_common.h"

namespace MhcPreSinkhornBackward {

template <typename T>
class ColumnPass {
public:
    __aicore__ inline void Init(const Addresses &addresses, const TilingData &tiling, TPipe *pipe)
    {
        tiling_ = &tiling;
        n_ = tiling.streams;
        width_ = n_ * tiling.tail;
        sub_ = GetBlockIdx() % 2;
        gradHin_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(addresses.gradHin), tiling.tokens * tiling.tail);
        x_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(addresses.x), tiling.tokens * width_);
        gradX_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(addresses.gradX), tiling.tokens * width_);
        workspace_.Init(addresses.workspace, tiling, GetBlockIdx() / 2);

        constexpr uint32_t tile = ROWS * COLUMNS;
        pipe->InitBuffer(xIn_, 2, tile * sizeof(T));
        pipe->InitBuffer(gradIn_, 2, tile * sizeof(T));
        pipe->InitBuffer(productIn_, 2, tile * sizeof(float));
        pipe->InitBuffer(factorsIn_, 2, (n_ + 1) * ROWS * sizeof(float));
        pipe->InitBuffer(xOut_, 2, tile * sizeof(float));
        pipe->InitBuffer(gradOut_, 2, tile * sizeof(T));
        pipe->InitBuffer(turnedBuf_, tile * sizeof(T));
        pipe->InitBuffer(xWideBuf_, tile * sizeof(float));
        pipe->InitBuffer(gradWideBuf_, tile * sizeof(float));
        pipe->InitBuffer(factorsBuf_, (n_ + 1) * ROWS * FP32_BLOCK * sizeof(float));
    }

    __aicore__ inline void Process()
    {
        ClearInput();
        const ColumnWork work(*tiling_, GetBlockIdx() / 2);
        const uint64_t turns = work.Turns();
        uint64_t turn = 0;
        for (uint64_t index = 0; index < work.Units(); ++index) {
            const Unit unit = work.At(index);
            for (uint64_t tile = 0; tile < unit.Tiles(); ++tile) {
                const uint32_t firstRows = ColumnWork::FirstRows(unit.Rows(tile));
                const uint32_t before = sub_ == 0 ? 0 : firstRows; // rows of the other vector core in the tile
                const uint32_t count = sub_ == 0 ? firstRows : unit.Rows(tile) - firstRows;
                const uint64_t token = unit.token + tile * TILE + before;
                if (count > 0) {
                    LoadX(token, unit, unit.stream, count);
                    LoadFactors(token, count);
                    LoadGradHin(token, unit.column, count);
                }
                for (uint32_t stream = unit.stream; stream < unit.stream + unit.streams; ++stream, ++turn) {
                    const uint16_t slot = static_cast<uint16_t>(turn % SLOTS);
                    if (turn >= SLOTS) {
                        CrossCoreWaitFlag(FLAG_X_FREE + slot);
                    }
                    if (count > 0) {
                        if (stream + 1 < unit.stream + unit.streams) { // on its way while the core waits for products
                            LoadX(token, unit, stream + 1, count);
                        }
                        SendX(workspace_.x[slot][before * COLUMNS], count);
                    }
                    CrossCoreSetFlag<2, PIPE_MTE3>(FLAG_X_READY + slot);

                    CrossCoreWaitFlag(FLAG_PRODUCT_READY + slot);
                    if (count > 0) {
                        LoadProduct(workspace_.products[slot][before * COLUMNS], count);
                    }
                    if (turn + SLOTS < turns) { // nobody waits for the last ones
                        CrossCoreSetFlag<2, PIPE_MTE2>(FLAG_PRODUCT_FREE + slot);
                    }
                    if (count > 0) {
                        StoreGradX(Offset(token, unit, stream), stream, count);
                    }
                }
            }
        }
    }

private:
    static constexpr uint32_t ROWS = TILE / 2; // of one vector core

    // The rows behind the last token go to the cube as well, where they meet no row of the other operand; but they must be
    // numbers.
    __aicore__ inline void ClearInput()
    {
        for (uint32_t i = 0; i < 2; ++i) {
            LocalTensor<T> x = xIn_.AllocTensor<T>();
            LocalTensor<uint16_t> bits = x.template ReinterpretCast<uint16_t>();
            Duplicate(bits, static_cast<uint16_t>(0), ROWS * COLUMNS);
            PipeBarrier<PIPE_V>();
            xIn_.FreeTensor(x);
        }
    }

    // hPre of each stream and the factor of x, each number in a block of its own: [n + 1][ROWS][8].
    __aicore__ inline void LoadFactors(uint64_t token, uint32_t count)
    {
        LocalTensor<float> rows = factorsIn_.AllocTensor<float>();
        const uint32_t gap = (ROWS - RoundUp(count, FP32_BLOCK)) / FP32_BLOCK;
        DataCopyExtParams params(static_cast<uint16_t>(n_ + 1), count * sizeof(float),
                                 static_cast<uint32_t>((tiling_->tokenStride - count) * sizeof(float)), gap, 0);
        DataCopyPadExtParams<float> noPadding(false, 0, 0, 0.0f);
        DataCopyPad(rows, workspace_.planes[tiling_->mixRows * tiling_->tokenStride + token], params, noPadding);
        factorsIn_.EnQue(rows);
        rows = factorsIn_.DeQue<float>();
        Brcb(factorsBuf_.Get<float>(), rows, static_cast<uint8_t>((n_ + 1) * ROWS / FP32_BLOCK), {1, FP32_BLOCK});
        PipeBarrier<PIPE_V>();
        factorsIn_.FreeTensor(rows);
    }

    __aicore__ inline void LoadGradHin(uint64_t token, uint64_t column, uint32_t count)
    {
        Load(gradIn_, gradHin_[token * tiling_->tail + column], count, tiling_->tail - COLUMNS);
        LocalTensor<T> narrow = gradIn_.template DeQue<T>();
        Cast(gradWideBuf_.Get<float>(), narrow, RoundMode::CAST_NONE, count * COLUMNS);
        PipeBarrier<PIPE_V>();
        gradIn_.FreeTensor(narrow);
    }

    // `count` rows of COLUMNS elements, `gap` elements apart.
    template <typename Queue>
    __aicore__ inline void Load(Queue &queue, const GlobalTensor<T> &from, uint32_t count, uint64_t gap)
    {
        LocalTensor<T> narrow = queue.template AllocTensor<T>();
        DataCopyExtParams params(static_cast<uint16_t>(count), COLUMNS * sizeof(T), static_cast<uint32_t>(gap * sizeof(T)), 0,
                                 0);
        DataCopyPadExtParams<T> noPadding(false, 0, 0, 0);
        DataCopyPad(narrow, from, params, noPadding);
        queue.EnQue(narrow);
    }

    // Of x and gradX.
    __aicore__ inline uint64_t Offset(uint64_t token, const Unit &unit, uint32_t stream) const
    {
        return token * width_ + stream * tiling_->tail + unit.column;
    }

    __aicore__ inline void LoadX(uint64_t token, const Unit &unit, uint32_t stream, uint32_t count)
    {
        Load(xIn_, x_[Offset(token, unit, stream)], count, width_ - COLUMNS);
    }

    // The next loaded x widened, for gradX in xWideBuf_, and transposed for the cube: [group][COLUMNS][16 tokens].
    __aicore__ inline void SendX(const GlobalTensor<float> &slot, uint32_t count)
    {
        LocalTensor<T> x = xIn_.template DeQue<T>();
        Cast(xWideBuf_.Get<float>(), x, RoundMode::CAST_NONE, count * COLUMNS);
        const LocalTensor<T> turned = turnedBuf_.Get<T>();
        const uint32_t groups = (count + GROUP - 1) / GROUP;
        for (uint32_t group = 0; group < groups; ++group) {
            Transpose(turned[group * GROUP * COLUMNS], x[group * GROUP * COLUMNS]);
        }
        PipeBarrier<PIPE_V>();
        xIn_.FreeTensor(x);
        LocalTensor<float> out = xOut_.AllocTensor<float>();
        Cast(out, turned, RoundMode::CAST_NONE, groups * GROUP * COLUMNS);
        xOut_.EnQue(out);
        out = xOut_.DeQue<float>();
        DataCopy(slot, out, groups * GROUP * COLUMNS);
        xOut_.FreeTensor(out);
    }

    // 16 rows of COLUMNS elements to COLUMNS rows of 16, 16 columns a repeat.
    static __aicore__ inline void Transpose(const LocalTensor<T> &to, const LocalTensor<T> &from)
    {
        LocalTensor<uint16_t> rows[NCHW_CONV_ADDR_LIST_SIZE];
        LocalTensor<uint16_t> columns[NCHW_CONV_ADDR_LIST_SIZE];
        for (uint32_t i = 0; i < NCHW_CONV_ADDR_LIST_SIZE; ++i) {
            rows[i] = from[i * COLUMNS].template ReinterpretCast<uint16_t>();
            columns[i] = to[i * GROUP].template ReinterpretCast<uint16_t>();
        }
        const TransDataTo5HDParams repeats(false, false, COLUMNS / GROUP, GROUP, 1);
        TransDataTo5HD<uint16_t>(columns, rows, repeats);
    }

    __aicore__ inline void LoadProduct(const GlobalTensor<float> &slot, uint32_t count)
    {
        LocalTensor<float> product = productIn_.AllocTensor<float>();
        DataCopy(product, slot, count * COLUMNS);
        productIn_.EnQue(product);
    }

    // gradX = product + gradHin * hPre + x * factor, with the token's numbers broadcast over its row; rounded once.
    __aicore__ inline void StoreGradX(uint64_t offset, uint32_t stream, uint32_t count)
    {
        const LocalTensor<float> factors = factorsBuf_.Get<float>();
        const LocalTensor<float> gradWide = gradWideBuf_.Get<float>();
        const LocalTensor<float> xWide = xWideBuf_.Get<float>();
        constexpr uint8_t rowStride = COLUMNS / FP32_BLOCK;
        const BinaryRepeatParams perRow(1, 1, 0, rowStride, rowStride, 1);
        LocalTensor<float> sum = productIn_.DeQue<float>();
        for (uint32_t part = 0; part < COLUMNS; part += FP32_REPEAT) {
            MulAddDst(sum[part], gradWide[part], factors[stream * ROWS * FP32_BLOCK], FP32_REPEAT, count, perRow);
        }
        PipeBarrier<PIPE_V>();
        for (uint32_t part = 0; part < COLUMNS; part += FP32_REPEAT) {
            MulAddDst(sum[part], xWide[part], factors[n_ * ROWS * FP32_BLOCK], FP32_REPEAT, count, perRow);
        }
        PipeBarrier<PIPE_V>();
        LocalTensor<T> rounded = gradOut_.AllocTensor<T>();
        Cast(rounded, sum, RoundMode::CAST_RINT, count * COLUMNS);
        PipeBarrier<PIPE_V>();
        productIn_.FreeTensor(sum);
        gradOut_.EnQue(rounded);
        rounded = gradOut_.DeQue<T>();
        DataCopyExtParams params(static_cast<uint16_t>(count), COLUMNS * sizeof(T), 0,
                                 static_cast<uint32_t>((width_ - COLUMNS) * sizeof(T)), 0);
        DataCopyPad(gradX_[offset], rounded, params);
        gradOut_.FreeTensor(rounded);
    }

    const TilingData *tiling_ = nullptr;
    uint32_t n_ = 0;
    uint64_t width_ = 0; // n*c
    uint64_t sub_ = 0;
    GlobalTensor<T> gradHin_;
    GlobalTensor<T> x_;
    GlobalTensor<T> gradX_;
    Workspace workspace_;
    TQue<TPosition::VECIN, 2> xIn_;
    TQue<TPosition::VECIN, 2> gradIn_;
    TQue<TPosition::VECIN, 2> productIn_;
    TQue<TPosition::VECIN, 2> factorsIn_;
    TQue<TPosition::VECOUT, 2> xOut_;
    TQue<TPosition::VECOUT, 2> gradOut_;
    TBuf<TPosition::VECCALC> turnedBuf_;
    TBuf<TPosition::VECCALC> xWideBuf_;
    TBuf<TPosition::VECCALC> gradWideBuf_;
    TBuf<TPosition::VECCALC> factorsBuf_;
};

} // namespace MhcPreSinkhornBackward

#endif // MHC_PRE_SINKHORN_BACKWARD_COLUMN_PASS_H
