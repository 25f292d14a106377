// Mean pooling of query and key: float32 sums, divided by the number of tokens, rounded to half.
#ifndef BSA_SELECT_BLOCK_MASK_POOL_H
#define BSA_SELECT_BLOCK_MASK_POOL_H

#include "bsa_select_block_mask_common.h"

namespace BSASelectBlockMask {

// DENSE: the tokens of a head follow each other without gaps.
template <typename T, bool DENSE>
class Pooling {
public:
    __aicore__ inline void Init(GM_ADDR query, GM_ADDR key, Batches *batches, Workspace *workspace,
                                const BSASelectBlockMaskTilingData &tiling, TPipe *pipe)
    {
        tiling_ = &tiling;
        batches_ = batches;
        workspace_ = workspace;
        query_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(query), tiling.queryElements);
        key_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(key), tiling.keyElements);
        pipe->InitBuffer(in_, 2, TOKENS * HEAD_DIM * sizeof(T));
        pipe->InitBuffer(out_, 2, HEAD_DIM * sizeof(half));
        pipe->InitBuffer(wideBuf_, ROWS * HEAD_DIM * sizeof(float));
        pipe->InitBuffer(sumBuf_, ROWS * HEAD_DIM * sizeof(float));
        pipe->InitBuffer(divisorBuf_, HEAD_DIM * sizeof(float));
    }

    // The blocks of all heads are spread evenly over the vector cores.
    __aicore__ inline void Process()
    {
        const uint64_t perHead = tiling_->xBlocks + tiling_->yBlocks;
        const uint64_t all = tiling_->batch * tiling_->heads * perHead;
        const uint64_t share = (all + tiling_->vectorCores - 1) / tiling_->vectorCores;
        const uint64_t first = Smaller(GetBlockIdx() * share, all);
        const uint64_t last = Smaller(first + share, all);
        for (uint64_t item = first; item < last; ++item) {
            const uint64_t head = item / perHead;
            const uint64_t block = item % perHead;
            const Batch &batch = batches_->Of(head);
            if (block < tiling_->xBlocks) {
                if (block < batch.rows) {
                    const uint64_t start = batch.queryStart + head % tiling_->heads * tiling_->queryHeadStride +
                                           block * tiling_->blockX * tiling_->tokenStride;
                    Pool(query_, start, batches_->QueryTokens(batch, block, tiling_->blockX),
                         workspace_->pooledQuery[(head * tiling_->xBlocks + block) * HEAD_DIM]);
                }
            } else if (block - tiling_->xBlocks < batch.columns) {
                const uint64_t y = block - tiling_->xBlocks;
                const uint64_t start = batch.keyStart + head % tiling_->heads * tiling_->keyHeadStride +
                                       y * tiling_->blockY * tiling_->tokenStride;
                Pool(key_, start, batches_->KeyTokens(batch, y, tiling_->blockY),
                     workspace_->pooledKey[(head * tiling_->yBlocks + y) * HEAD_DIM]);
            }
        }
    }

private:
    static constexpr uint32_t TOKENS = 128; // of one copy
    static constexpr uint32_t ROWS = 16;    // tokens that are added at a time

    // No tokens: the sum stays zero, and so does the mean.
    __aicore__ inline void Pool(const GlobalTensor<T> &from, uint64_t start, uint64_t tokens, const GlobalTensor<half> &to)
    {
        LocalTensor<float> sum = sumBuf_.template Get<float>();
        LocalTensor<float> wide = wideBuf_.template Get<float>();
        LocalTensor<float> divisor = divisorBuf_.template Get<float>();
        Duplicate(sum, 0.0f, ROWS * HEAD_DIM);
        Duplicate(divisor, static_cast<float>(tokens == 0 ? 1 : tokens), HEAD_DIM);
        PipeBarrier<PIPE_V>();
        for (uint64_t done = 0; done < tokens; done += TOKENS) {
            const uint32_t count = static_cast<uint32_t>(Smaller(TOKENS, tokens - done));
            LocalTensor<T> in = Load(from, start + done * tiling_->tokenStride, count);
            for (uint32_t row = 0; row < count; row += ROWS) {
                const uint32_t elements = (count - row < ROWS ? count - row : ROWS) * HEAD_DIM;
                Cast(wide, in[row * HEAD_DIM], RoundMode::CAST_NONE, elements);
                PipeBarrier<PIPE_V>();
                Add(sum, sum, wide, elements);
                PipeBarrier<PIPE_V>();
            }
            in_.FreeTensor(in);
        }
        for (uint32_t rows = ROWS / 2; rows >= 1; rows /= 2) {
            Add(sum, sum, sum[rows * HEAD_DIM], rows * HEAD_DIM);
            PipeBarrier<PIPE_V>();
        }
        Div(sum, sum, divisor, HEAD_DIM);
        PipeBarrier<PIPE_V>();
        LocalTensor<half> mean = out_.template AllocTensor<half>();
        Cast(mean, sum, RoundMode::CAST_RINT, HEAD_DIM);
        out_.EnQue(mean);
        mean = out_.template DeQue<half>();
        DataCopy(to, mean, HEAD_DIM);
        out_.FreeTensor(mean);
    }

    __aicore__ inline LocalTensor<T> Load(const GlobalTensor<T> &from, uint64_t start, uint32_t tokens)
    {
        LocalTensor<T> in = in_.template AllocTensor<T>();
        if constexpr (DENSE) {
            DataCopy(in, from[start], tokens * HEAD_DIM);
        } else {
            DataCopyExtParams params(static_cast<uint16_t>(tokens), HEAD_DIM * sizeof(T),
                                     static_cast<uint32_t>((tiling_->tokenStride - HEAD_DIM) * sizeof(T)), 0, 0);
            DataCopyPadExtParams<T> noPadding(false, 0, 0, 0);
            DataCopyPad(in, from[start], params, noPadding);
        }
        in_.EnQue(in);
        return in_.template DeQue<T>();
    }

    const BSASelectBlockMaskTilingData *tiling_ = nullptr;
    Batches *batches_ = nullptr;
    Workspace *workspace_ = nullptr;
    GlobalTensor<T> query_;
    GlobalTensor<T> key_;
    TQue<TPosition::VECIN, 2> in_;
    TQue<TPosition::VECOUT, 2> out_;
    TBuf<TPosition::VECCALC> wideBuf_;
    TBuf<TPosition::VECCALC> sumBuf_;
    TBuf<TPosition::VECCALC> divisorBuf_;
};

} // namespace BSASelectBlockMask

#endif // BSA_SELECT_BLOCK_MASK_POOL_H
