// The streams behind a layer, for each token and stream j:
//     out_j = post_j * h + sum_i comb_ij * x_i        or, with the identity in the place of comb,   out_j = post_j * h + x_j
// in float32, rounded once to X. h is the output of the layer, x_i are the streams in front of it.
#ifndef MHC_POST_KERNEL_H
#define MHC_POST_KERNEL_H

#include "mhc_post_tiling_data.h"
#include "mhc_rows.h"

namespace MhcPost {

using namespace AscendC;
using Mhc::FP32_BLOCK;
using Mhc::FP32_REPEAT;
using Mhc::LoadRows;
using Mhc::Meet;

struct Addresses {
    GM_ADDR x;    // X [T, n, D]
    GM_ADDR comb; // C [T, n, n], unused for the identity
    GM_ADDR h;    // X [T, D]
    GM_ADDR post; // C [T, n]
    GM_ADDR out;  // X [T, n, D]
};

// Some tokens by some columns. In UB a row takes `pitch` elements.
struct Piece {
    uint64_t token;
    uint64_t column;
    uint32_t tokens;
    uint32_t columns;
    uint32_t pitch;
};

// X: half, bfloat16_t or float, the type of the streams; C: that of post and comb.
// MIXED: comb is given. BATCHED, for short rows: an instruction works on 64 columns of all tokens of a piece, with the
// coefficients spread over blocks; otherwise it works on the columns of one token, with a coefficient as scalar.
template <typename X, typename C, bool MIXED, bool BATCHED>
class Kernel {
public:
    __aicore__ inline void Init(const Addresses &addresses, const MhcPostTilingData &tiling, TPipe *pipe)
    {
        tiling_ = &tiling;
        n_ = tiling.streams;
        x_.SetGlobalBuffer(reinterpret_cast<__gm__ X *>(addresses.x), tiling.tokens * n_ * tiling.tail);
        h_.SetGlobalBuffer(reinterpret_cast<__gm__ X *>(addresses.h), tiling.tokens * tiling.tail);
        out_.SetGlobalBuffer(reinterpret_cast<__gm__ X *>(addresses.out), tiling.tokens * n_ * tiling.tail);
        post_.SetGlobalBuffer(reinterpret_cast<__gm__ C *>(addresses.post), tiling.tokens * n_);
        if constexpr (MIXED) {
            comb_.SetGlobalBuffer(reinterpret_cast<__gm__ C *>(addresses.comb), tiling.tokens * n_ * n_);
        }

        const uint32_t tokens = tiling.tokensPerPiece;
        const uint32_t row = Padded<X>(tiling.tile);
        combOffset_ = Padded<C>(tokens * n_);
        const uint32_t coefficients = combOffset_ + (MIXED ? Padded<C>(tokens * n_ * n_) : 0);
        pipe->InitBuffer(xIn_, 2, tokens * n_ * row * sizeof(X));
        pipe->InitBuffer(hIn_, 2, tokens * row * sizeof(X));
        pipe->InitBuffer(coefficientsIn_, 2, coefficients * sizeof(C));
        pipe->InitBuffer(outQueue_, 2, tokens * n_ * row * sizeof(X));
        if constexpr (WIDENED) {
            pipe->InitBuffer(xWideBuf_, tokens * n_ * row * sizeof(float));
            pipe->InitBuffer(hWideBuf_, tokens * row * sizeof(float));
            pipe->InitBuffer(sumsBuf_, (BATCHED ? tokens : 1) * n_ * row * sizeof(float));
        }
        if constexpr (!IsSameType<C, float>::value) {
            pipe->InitBuffer(coefficientsWideBuf_, coefficients * sizeof(float));
        }
        if constexpr (BATCHED) {
            pipe->InitBuffer(postBlocksBuf_, BlocksOf(tokens * n_) * sizeof(float));
            if constexpr (MIXED) {
                pipe->InitBuffer(combBlocksBuf_, BlocksOf(tokens * n_ * n_) * sizeof(float));
            }
        }
    }

    __aicore__ inline void Process()
    {
        const uint64_t blocks = GetBlockNum();
        const uint64_t block = GetBlockIdx();
        const uint64_t last = tiling_->pieces * (block + 1) / blocks;
        for (uint64_t index = tiling_->pieces * block / blocks; index < last; ++index) {
            const Piece piece = PieceAt(index);
            Load(piece);
            Compute(piece);
            Store(piece);
        }
    }

private:
    static constexpr bool WIDENED = !IsSameType<X, float>::value;

    // Elements up to the next 32-byte border.
    template <typename T>
    static __aicore__ inline uint32_t Padded(uint32_t count)
    {
        constexpr uint32_t block = ONE_BLK_SIZE / sizeof(T);
        return (count + block - 1) / block * block;
    }

    // Floats that Brcb writes for `count` coefficients.
    static __aicore__ inline uint32_t BlocksOf(uint32_t count)
    {
        return Padded<float>(count) * FP32_BLOCK;
    }

    __aicore__ inline Piece PieceAt(uint64_t index) const
    {
        Piece piece;
        piece.token = index / tiling_->columnTiles * tiling_->tokensPerPiece;
        piece.column = index % tiling_->columnTiles * tiling_->tile;
        const uint64_t tokens = tiling_->tokens - piece.token;
        const uint64_t columns = tiling_->tail - piece.column;
        piece.tokens = tokens < tiling_->tokensPerPiece ? static_cast<uint32_t>(tokens) : tiling_->tokensPerPiece;
        piece.columns = columns < tiling_->tile ? static_cast<uint32_t>(columns) : tiling_->tile;
        piece.pitch = Padded<X>(piece.columns);
        return piece;
    }

    __aicore__ inline void Load(const Piece &piece)
    {
        LocalTensor<C> coefficients = coefficientsIn_.template AllocTensor<C>();
        LoadRows(coefficients, post_[piece.token * n_], 1, piece.tokens * n_, 0);
        if constexpr (MIXED) {
            LoadRows(coefficients[combOffset_], comb_[piece.token * n_ * n_], 1, piece.tokens * n_ * n_, 0);
        }
        coefficientsIn_.EnQue(coefficients);

        const uint64_t gap = tiling_->tail - piece.columns;
        LocalTensor<X> h = hIn_.template AllocTensor<X>();
        LoadRows(h, h_[piece.token * tiling_->tail + piece.column], piece.tokens, piece.columns, gap);
        hIn_.EnQue(h);
        LocalTensor<X> x = xIn_.template AllocTensor<X>();
        LoadRows(x, x_[piece.token * n_ * tiling_->tail + piece.column], piece.tokens * n_, piece.columns, gap);
        xIn_.EnQue(x);
    }

    __aicore__ inline void Compute(const Piece &piece)
    {
        LocalTensor<C> narrow = coefficientsIn_.template DeQue<C>();
        LocalTensor<float> coefficients;
        if constexpr (IsSameType<C, float>::value) {
            coefficients = narrow;
        } else {
            coefficients = coefficientsWideBuf_.template Get<float>();
            Cast(coefficients, narrow, RoundMode::CAST_NONE, piece.tokens * n_);
            if constexpr (MIXED) {
                Cast(coefficients[combOffset_], narrow[combOffset_], RoundMode::CAST_NONE, piece.tokens * n_ * n_);
            }
            PipeBarrier<PIPE_V>();
        }

        LocalTensor<X> xNarrow = xIn_.template DeQue<X>();
        LocalTensor<X> hNarrow = hIn_.template DeQue<X>();
        LocalTensor<X> out = outQueue_.template AllocTensor<X>();
        LocalTensor<float> x;
        LocalTensor<float> h;
        if constexpr (WIDENED) {
            x = xWideBuf_.template Get<float>();
            h = hWideBuf_.template Get<float>();
            Cast(x, xNarrow, RoundMode::CAST_NONE, piece.tokens * n_ * piece.pitch);
            Cast(h, hNarrow, RoundMode::CAST_NONE, piece.tokens * piece.pitch);
            PipeBarrier<PIPE_V>();
        } else {
            x = xNarrow;
            h = hNarrow;
        }

        if constexpr (BATCHED) {
            Batch(piece, coefficients, x, h, out);
        } else {
            TokenByToken(piece, coefficients, x, h, out);
        }
        xIn_.FreeTensor(xNarrow);
        hIn_.FreeTensor(hNarrow);
        coefficientsIn_.FreeTensor(narrow);
        outQueue_.EnQue(out);
    }

    __aicore__ inline void TokenByToken(const Piece &piece, const LocalTensor<float> &coefficients,
                                        const LocalTensor<float> &x, const LocalTensor<float> &h, const LocalTensor<X> &out)
    {
        WaitForCoefficients();
        const uint32_t pitch = piece.pitch;
        const int32_t columns = static_cast<int32_t>(piece.columns);
        for (uint32_t token = 0; token < piece.tokens; ++token) {
            LocalTensor<float> sums = SumsOf(out, token * n_ * pitch);
            for (uint32_t j = 0; j < n_; ++j) {
                Muls(sums[j * pitch], h[token * pitch], coefficients.GetValue(token * n_ + j), columns);
            }
            PipeBarrier<PIPE_V>();
            if constexpr (MIXED) {
                for (uint32_t i = 0; i < n_; ++i) {
                    const uint32_t row = token * n_ + i;
                    for (uint32_t j = 0; j < n_; ++j) {
                        Axpy(sums[j * pitch], x[row * pitch], coefficients.GetValue(combOffset_ + row * n_ + j), columns);
                    }
                    PipeBarrier<PIPE_V>();
                }
            } else {
                Add(sums, sums, x[token * n_ * pitch], static_cast<int32_t>(n_ * pitch));
                PipeBarrier<PIPE_V>();
            }
            if constexpr (WIDENED) {
                Cast(out[token * n_ * pitch], sums, RoundMode::CAST_RINT, n_ * pitch);
                PipeBarrier<PIPE_V>(); // the next token overwrites the sums
            }
        }
        CoefficientsRead();
    }

    // A coefficient fills a block of 32 bytes, and an instruction reads that block for all 64 lanes of a token's repeat.
    __aicore__ inline void Batch(const Piece &piece, const LocalTensor<float> &coefficients, const LocalTensor<float> &x,
                                 const LocalTensor<float> &h, const LocalTensor<X> &out)
    {
        LocalTensor<float> post = postBlocksBuf_.template Get<float>();
        LocalTensor<float> comb;
        Spread(post, coefficients, piece.tokens * n_);
        if constexpr (MIXED) {
            comb = combBlocksBuf_.template Get<float>();
            Spread(comb, coefficients[combOffset_], piece.tokens * n_ * n_);
        }
        PipeBarrier<PIPE_V>();

        LocalTensor<float> sums = SumsOf(out, 0);
        const uint32_t pitch = piece.pitch;
        const uint8_t tokens = static_cast<uint8_t>(piece.tokens);
        const uint8_t row = static_cast<uint8_t>(pitch / FP32_BLOCK);
        const uint8_t streams = static_cast<uint8_t>(n_ * pitch / FP32_BLOCK);
        const BinaryRepeatParams byPost(1, 1, 0, streams, row, static_cast<uint8_t>(n_));
        const BinaryRepeatParams byComb(1, 1, 0, streams, streams, static_cast<uint8_t>(n_ * n_));
        for (uint32_t column = 0; column < piece.columns; column += FP32_REPEAT) {
            const uint64_t lanes = piece.columns - column < FP32_REPEAT ? piece.columns - column : FP32_REPEAT;
            for (uint32_t j = 0; j < n_; ++j) {
                Mul(sums[j * pitch + column], h[column], post[j * FP32_BLOCK], lanes, tokens, byPost);
            }
        }
        PipeBarrier<PIPE_V>();
        if constexpr (MIXED) {
            for (uint32_t i = 0; i < n_; ++i) {
                for (uint32_t column = 0; column < piece.columns; column += FP32_REPEAT) {
                    const uint64_t lanes = piece.columns - column < FP32_REPEAT ? piece.columns - column : FP32_REPEAT;
                    for (uint32_t j = 0; j < n_; ++j) {
                        MulAddDst(sums[j * pitch + column], x[i * pitch + column], comb[(i * n_ + j) * FP32_BLOCK], lanes,
                                  tokens, byComb);
                    }
                }
                PipeBarrier<PIPE_V>();
            }
        } else {
            Add(sums, sums, x, static_cast<int32_t>(piece.tokens * n_ * pitch));
            PipeBarrier<PIPE_V>();
        }
        if constexpr (WIDENED) {
            Cast(out, sums, RoundMode::CAST_RINT, piece.tokens * n_ * pitch);
            PipeBarrier<PIPE_V>();
        }
    }

    __aicore__ inline void Spread(const LocalTensor<float> &blocks, const LocalTensor<float> &values, uint32_t count)
    {
        Brcb(blocks, values, static_cast<uint8_t>((count + FP32_BLOCK - 1) / FP32_BLOCK), {1, FP32_BLOCK});
    }

    // Where the float32 sums of the token at `offset` of `out` grow: in `out` itself where that is float32.
    __aicore__ inline LocalTensor<float> SumsOf(const LocalTensor<X> &out, uint32_t offset)
    {
        if constexpr (WIDENED) {
            return sumsBuf_.template Get<float>();
        } else {
            return out[offset];
        }
    }

    // The scalar unit reads the coefficients from UB, behind the copy (float32) or the cast that brings them.
    __aicore__ inline void WaitForCoefficients()
    {
        if constexpr (IsSameType<C, float>::value) {
            Meet<HardEvent::MTE2_S>();
        } else {
            Meet<HardEvent::V_S>();
        }
    }

    __aicore__ inline void CoefficientsRead()
    {
        if constexpr (IsSameType<C, float>::value) {
            Meet<HardEvent::S_MTE2>();
        } else {
            Meet<HardEvent::S_V>();
        }
    }

    __aicore__ inline void Store(const Piece &piece)
    {
        LocalTensor<X> out = outQueue_.template DeQue<X>();
        const uint64_t gap = tiling_->tail - piece.columns;
        Mhc::StoreRows(out_[piece.token * n_ * tiling_->tail + piece.column], out, piece.tokens * n_, piece.columns, gap);
        outQueue_.FreeTensor(out);
    }

    const MhcPostTilingData *tiling_ = nullptr;
    uint32_t n_ = 0;
    uint32_t combOffset_ = 0; // of comb behind post, in elements
    GlobalTensor<X> x_;
    GlobalTensor<X> h_;
    GlobalTensor<X> out_;
    GlobalTensor<C> post_;
    GlobalTensor<C> comb_;
    TQue<TPosition::VECIN, 2> xIn_;
    TQue<TPosition::VECIN, 2> hIn_;
    TQue<TPosition::VECIN, 2> coefficientsIn_; // post, then comb
    TQue<TPosition::VECOUT, 2> outQueue_;
    TBuf<TPosition::VECCALC> xWideBuf_;
    TBuf<TPosition::VECCALC> hWideBuf_;
    TBuf<TPosition::VECCALC> sumsBuf_;
    TBuf<TPosition::VECCALC> coefficientsWideBuf_;
    TBuf<TPosition::VECCALC> postBlocksBuf_;
    TBuf<TPosition::VECCALC> combBlocksBuf_;
};

template <typename X, typename C, bool MIXED, bool BATCHED>
__aicore__ inline void Run(const Addresses &addresses, const MhcPostTilingData &tiling)
{
    TPipe pipe;
    Kernel<X, C, MIXED, BATCHED> kernel;
    kernel.Init(addresses, tiling, &pipe);
    kernel.Process();
}

} // namespace MhcPost

#endif // MHC_POST_KERNEL_H
