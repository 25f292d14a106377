// The gradients of MhcPost. With g = gradOutput, for each token:
//     gradX_i = sum_j hRes_ij g_j     gradHres_ij = <x_i, g_j>     gradHout = sum_j hPost_j g_j     gradHpost_j = <hOut, g_j>
// in float32. A token belongs to one core, which adds up its products in an order that depends on D and the tile only.
#ifndef MHC_POST_BACKWARD_KERNEL_H
#define MHC_POST_BACKWARD_KERNEL_H

#include "../../mhc_common/op_kernel/mhc_rows.h"
#include "mhc_post_backward_tiling_data.h"

namespace MhcPostBackward {

using namespace AscendC;
using Mhc::FP32_BLOCK;
using Mhc::FP32_REPEAT;
using Mhc::LoadRows;
using Mhc::Meet;

struct Addresses {
    GM_ADDR gradOutput;
    GM_ADDR x;
    GM_ADDR hRes; // unused for the identity
    GM_ADDR hOut;
    GM_ADDR hPost;
    GM_ADDR gradX;
    GM_ADDR gradHres;
    GM_ADDR gradHout;
    GM_ADDR gradHpost;
};

// MIXED: hRes is given; without it gradX is gradOutput.
template <typename T, bool MIXED>
class Kernel {
public:
    __aicore__ inline void Init(const Addresses &addresses, const MhcPostBackwardTilingData &tiling, TPipe *pipe)
    {
        tiling_ = &tiling;
        n_ = tiling.streams;
        const uint64_t streams = tiling.tokens * n_;
        Set(gradOutput_, addresses.gradOutput, streams * tiling.tail);
        Set(x_, addresses.x, streams * tiling.tail);
        Set(hOut_, addresses.hOut, tiling.tokens * tiling.tail);
        Set(hPost_, addresses.hPost, streams);
        Set(gradX_, addresses.gradX, streams * tiling.tail);
        Set(gradHres_, addresses.gradHres, streams * n_);
        Set(gradHout_, addresses.gradHout, tiling.tokens * tiling.tail);
        Set(gradHpost_, addresses.gradHpost, streams);
        if constexpr (MIXED) {
            Set(hRes_, addresses.hRes, streams * n_);
        }

        const uint32_t tile = tiling.tile;
        const uint32_t tokens = tiling.tokensPerLoop;
        resOffset_ = Padded(tokens * n_);
        postDots_ = Padded(n_ * n_);
        dotsPitch_ = postDots_ + Padded(n_);
        pipe->InitBuffer(rowsIn_, 2, (2 * n_ + 1) * tile * sizeof(T));
        pipe->InitBuffer(coefficientsIn_, 2, (resOffset_ + (MIXED ? Padded(tokens * n_ * n_) : 0)) * sizeof(float));
        pipe->InitBuffer(rowsOut_, 2, (n_ + 1) * tile * sizeof(T));
        pipe->InitBuffer(dotsOut_, 2, tokens * dotsPitch_ * sizeof(float));
        pipe->InitBuffer(wideBuf_, (2 * n_ + 1) * tile * sizeof(float));
        pipe->InitBuffer(productsBuf_, (n_ + 1) * n_ * tile * sizeof(float));
        pipe->InitBuffer(sumsBuf_, (n_ + 1) * tile * sizeof(float));
    }

    __aicore__ inline void Process()
    {
        const uint64_t blocks = GetBlockNum();
        const uint64_t block = GetBlockIdx();
        const uint64_t last = tiling_->tokens * (block + 1) / blocks;
        for (uint64_t token = tiling_->tokens * block / blocks; token < last; token += tiling_->tokensPerLoop) {
            const uint64_t left = last - token;
            Group(token, left < tiling_->tokensPerLoop ? static_cast<uint32_t>(left) : tiling_->tokensPerLoop);
        }
    }

private:
    template <typename U>
    static __aicore__ inline void Set(GlobalTensor<U> &tensor, GM_ADDR address, uint64_t size)
    {
        tensor.SetGlobalBuffer(reinterpret_cast<__gm__ U *>(address), size);
    }

    static __aicore__ inline uint32_t Padded(uint32_t floats)
    {
        return (floats + FP32_BLOCK - 1) / FP32_BLOCK * FP32_BLOCK;
    }

    // `count` tokens whose coefficients come and whose dot products go together.
    __aicore__ inline void Group(uint64_t token, uint32_t count)
    {
        LocalTensor<float> coefficients = coefficientsIn_.template AllocTensor<float>();
        LoadRows(coefficients, hPost_[token * n_], 1, count * n_, 0);
        if constexpr (MIXED) {
            LoadRows(coefficients[resOffset_], hRes_[token * n_ * n_], 1, count * n_ * n_, 0);
        }
        coefficientsIn_.EnQue(coefficients);
        coefficients = coefficientsIn_.template DeQue<float>();
        Meet<HardEvent::MTE2_S>();
        LocalTensor<float> dots = dotsOut_.template AllocTensor<float>();
        for (uint32_t i = 0; i < count; ++i) {
            Token(token + i, coefficients[i * n_], coefficients[MIXED ? resOffset_ + i * n_ * n_ : 0], dots[i * dotsPitch_]);
        }
        Meet<HardEvent::S_MTE2>();
        coefficientsIn_.FreeTensor(coefficients);
        dotsOut_.EnQue(dots);
        dots = dotsOut_.template DeQue<float>();
        StoreDots(gradHres_[token * n_ * n_], dots, count, n_ * n_);
        StoreDots(gradHpost_[token * n_], dots[postDots_], count, n_);
        dotsOut_.FreeTensor(dots);
    }

    __aicore__ inline void Token(uint64_t token, const LocalTensor<float> &post, const LocalTensor<float> &res,
                                 const LocalTensor<float> &dots)
    {
        LocalTensor<float> products = productsBuf_.template Get<float>();
        Duplicate(products, 0.0f, static_cast<int32_t>((n_ + 1) * n_ * tiling_->tile));
        PipeBarrier<PIPE_V>();
        for (uint64_t column = 0; column < tiling_->tail; column += tiling_->tile) {
            const uint64_t left = tiling_->tail - column;
            const uint32_t columns = left < tiling_->tile ? static_cast<uint32_t>(left) : tiling_->tile;
            LocalTensor<float> rows = LoadWide(token, column, columns);
            AddProducts(products, rows, columns);
            LocalTensor<T> out = rowsOut_.template AllocTensor<T>();
            Combine(out, rows, post, res, columns);
            rowsOut_.EnQue(out);
            out = rowsOut_.template DeQue<T>();
            const uint64_t gap = tiling_->tail - columns;
            Mhc::StoreRows(gradX_[token * n_ * tiling_->tail + column], out, n_, columns, gap);
            Mhc::StoreRows(gradHout_[token * tiling_->tail + column], out[n_ * columns], 1, columns, gap);
            rowsOut_.FreeTensor(out);
        }
        SumProducts(dots, products);
    }

    // Rows g_0 .. g_n-1, x_0 .. x_n-1, hOut of `columns` floats each.
    __aicore__ inline LocalTensor<float> LoadWide(uint64_t token, uint64_t column, uint32_t columns)
    {
        const uint64_t streams = token * n_ * tiling_->tail + column;
        const uint64_t gap = tiling_->tail - columns;
        LocalTensor<T> narrow = rowsIn_.template AllocTensor<T>();
        LoadRows(narrow, gradOutput_[streams], n_, columns, gap);
        LoadRows(narrow[n_ * columns], x_[streams], n_, columns, gap);
        LoadRows(narrow[2 * n_ * columns], hOut_[token * tiling_->tail + column], 1, columns, gap);
        rowsIn_.EnQue(narrow);
        narrow = rowsIn_.template DeQue<T>();
        LocalTensor<float> rows = wideBuf_.template Get<float>();
        Cast(rows, narrow, RoundMode::CAST_NONE, (2 * n_ + 1) * columns);
        PipeBarrier<PIPE_V>();
        rowsIn_.FreeTensor(narrow);
        return rows;
    }

    // A lane per column for each pair (x_i, g_j), then for each (hOut, g_j).
    __aicore__ inline void AddProducts(const LocalTensor<float> &products, const LocalTensor<float> &rows, uint32_t columns)
    {
        for (uint32_t i = 0; i <= n_; ++i) {
            for (uint32_t j = 0; j < n_; ++j) {
                MulAddDst(products[(i * n_ + j) * tiling_->tile], rows[(n_ + i) * columns], rows[j * columns],
                          static_cast<int32_t>(columns));
            }
        }
        PipeBarrier<PIPE_V>();
    }

    // Rows gradX_0 .. gradX_n-1, gradHout.
    __aicore__ inline void Combine(const LocalTensor<T> &out, const LocalTensor<float> &rows, const LocalTensor<float> &post,
                                   const LocalTensor<float> &res, uint32_t columns)
    {
        LocalTensor<float> sums = sumsBuf_.template Get<float>();
        const int32_t count = static_cast<int32_t>(columns);
        const uint32_t first = MIXED ? 0 : n_;
        for (uint32_t j = 0; j < n_; ++j) {
            for (uint32_t i = first; i <= n_; ++i) {
                const float scale = i == n_ ? post.GetValue(j) : res.GetValue(i * n_ + j);
                if (j == 0) {
                    Muls(sums[i * columns], rows, scale, count);
                } else {
                    Axpy(sums[i * columns], rows[j * columns], scale, count);
                }
            }
            PipeBarrier<PIPE_V>();
        }
        if constexpr (MIXED) {
            Cast(out, sums, RoundMode::CAST_RINT, (n_ + 1) * columns);
        } else {
            Cast(out, rows, RoundMode::CAST_RINT, n_ * columns); // exact: the rows were widened
            Cast(out[n_ * columns], sums[n_ * columns], RoundMode::CAST_RINT, columns);
        }
        PipeBarrier<PIPE_V>(); // the next columns overwrite sums and rows
    }

    // The lanes of each pair to one number: to 64 lanes, then to one.
    __aicore__ inline void SumProducts(const LocalTensor<float> &dots, const LocalTensor<float> &products)
    {
        const uint32_t tile = tiling_->tile;
        const uint8_t pair = static_cast<uint8_t>(tile / FP32_BLOCK);
        const uint8_t pairs = static_cast<uint8_t>((n_ + 1) * n_);
        for (uint32_t lane = FP32_REPEAT; lane < tile; lane += FP32_REPEAT) {
            Add(products, products, products[lane], static_cast<uint64_t>(FP32_REPEAT), pairs, {1, 1, 1, pair, pair, pair});
            PipeBarrier<PIPE_V>();
        }
        WholeReduceSum(dots, products, static_cast<int32_t>(FP32_REPEAT), static_cast<int32_t>(n_ * n_), 1, 1, pair);
        WholeReduceSum(dots[postDots_], products[n_ * n_ * tile], static_cast<int32_t>(FP32_REPEAT), static_cast<int32_t>(n_),
                       1, 1, pair);
        PipeBarrier<PIPE_V>();
    }

    // `length` floats of every token's dots, densely.
    __aicore__ inline void StoreDots(const GlobalTensor<float> &to, const LocalTensor<float> &from, uint32_t count,
                                     uint32_t length)
    {
        DataCopyExtParams params(static_cast<uint16_t>(count), length * sizeof(float),
                                 (dotsPitch_ - Padded(length)) / FP32_BLOCK, 0, 0);
        DataCopyPad(to, from, params);
    }

    const MhcPostBackwardTilingData *tiling_ = nullptr;
    uint32_t n_ = 0;
    uint32_t resOffset_ = 0; // of hRes behind hPost in the coefficients
    uint32_t postDots_ = 0;  // of gradHpost behind gradHres in a token's dots
    uint32_t dotsPitch_ = 0;
    GlobalTensor<T> gradOutput_;
    GlobalTensor<T> x_;
    GlobalTensor<float> hRes_;
    GlobalTensor<T> hOut_;
    GlobalTensor<float> hPost_;
    GlobalTensor<T> gradX_;
    GlobalTensor<float> gradHres_;
    GlobalTensor<T> gradHout_;
    GlobalTensor<float> gradHpost_;
    TQue<TPosition::VECIN, 2> rowsIn_;
    TQue<TPosition::VECIN, 2> coefficientsIn_;
    TQue<TPosition::VECOUT, 2> rowsOut_;
    TQue<TPosition::VECOUT, 2> dotsOut_;
    TBuf<TPosition::VECCALC> wideBuf_;
    TBuf<TPosition::VECCALC> productsBuf_;
    TBuf<TPosition::VECCALC> sumsBuf_;
};

template <typename T, bool MIXED>
__aicore__ inline void Run(const Addresses &addresses, const MhcPostBackwardTilingData &tiling)
{
    TPipe pipe;
    Kernel<T, MIXED> kernel;
    kernel.Init(addresses, tiling, &pipe);
    kernel.Process();
}

} // namespace MhcPostBackward

#endif // MHC_POST_BACKWARD_KERNEL_H
