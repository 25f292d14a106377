// From planes in the unified buffer to the operator's float32 outputs, token by token, in global memory.
#ifndef MHC_PRE_SINKHORN_OUTPUTS_H
#define MHC_PRE_SINKHORN_OUTPUTS_H

#include "mhc_pre_sinkhorn_common.h"

namespace MhcPreSinkhorn {

struct OutputAddresses {
    GM_ADDR hPost;
    GM_ADDR hRes;
    GM_ADDR hPre; // this one and those below only with needBackward
    GM_ADDR hcBeforeNorm;
    GM_ADDR invRms;
    GM_ADDR sumOut;
    GM_ADDR normOut;
};

class Outputs {
public:
    __aicore__ inline void Init(const OutputAddresses &addresses, const MhcPreSinkhornTilingData &tiling, TPipe *pipe)
    {
        tokens_ = tiling.tokens;
        lanes_ = tiling.rowsPerLoop;
        backward_ = tiling.needBackward != 0;
        Set(hPost_, addresses.hPost, STREAMS * tokens_);
        Set(hRes_, addresses.hRes, CELLS * tokens_);
        if (backward_) {
            const uint64_t slots = 2 * tiling.numIters;
            Set(hPre_, addresses.hPre, STREAMS * tokens_);
            Set(hcBeforeNorm_, addresses.hcBeforeNorm, MIX * tokens_);
            Set(invRms_, addresses.invRms, tokens_);
            Set(sumOut_, addresses.sumOut, slots * STREAMS * tokens_);
            Set(normOut_, addresses.normOut, slots * CELLS * tokens_);
        }
        pipe->InitBuffer(tiles_, 2, lanes_ * MIX * sizeof(float));
    }

    __aicore__ inline void WriteInvRms(uint64_t token, const LocalTensor<float> &plane, uint32_t count)
    {
        WritePlane(invRms_[token], plane, count);
    }

    __aicore__ inline void WritePlane(const GlobalTensor<float> &to, const LocalTensor<float> &plane, uint32_t count)
    {
        LocalTensor<float> tile = tiles_.AllocTensor<float>();
        DataCopy(tile, plane, lanes_);
        tile = Ready(tile);
        DataCopyExtParams params(1, count * sizeof(float), 0, 0, 0);
        DataCopyPad(to, tile, params);
        tiles_.FreeTensor(tile);
    }

    // rows: [token][24], as the cube wrote them.
    __aicore__ inline void WriteProducts(uint64_t token, const LocalTensor<float> &rows, uint32_t count)
    {
        LocalTensor<float> tile = tiles_.AllocTensor<float>();
        DataCopy(tile, rows, count * MIX);
        tile = Ready(tile);
        DataCopy(hcBeforeNorm_[token * MIX], tile, count * MIX);
        tiles_.FreeTensor(tile);
    }

    __aicore__ inline void WriteGates(uint64_t token, const LocalTensor<float> &pre, const LocalTensor<float> &post,
                                      uint32_t count)
    {
        LocalTensor<float> tile = TransposePair(pre, post, count);
        if (backward_) {
            StoreFours(hPre_[token * STREAMS], tile, count);
        }
        StoreFours(hPost_[token * STREAMS], tile[FP32_BLOCK], count);
        tiles_.FreeTensor(tile);
    }

    // The row sums of slot `slot` and the column sums of the next one.
    __aicore__ inline void WriteSums(uint32_t slot, uint64_t token, const LocalTensor<float> &rows,
                                     const LocalTensor<float> &columns, uint32_t count)
    {
        LocalTensor<float> tile = TransposePair(rows, columns, count);
        StoreFours(sumOut_[(slot * tokens_ + token) * STREAMS], tile, count);
        StoreFours(sumOut_[((slot + 1) * tokens_ + token) * STREAMS], tile[FP32_BLOCK], count);
        tiles_.FreeTensor(tile);
    }

    __aicore__ inline void WriteNorm(uint32_t slot, uint64_t token, const LocalTensor<float> &cells, uint32_t count)
    {
        WriteCells(normOut_[(slot * tokens_ + token) * CELLS], cells, count);
    }

    __aicore__ inline void WriteRes(uint64_t token, const LocalTensor<float> &cells, uint32_t count)
    {
        WriteCells(hRes_[token * CELLS], cells, count);
    }

private:
    static __aicore__ inline void Set(GlobalTensor<float> &tensor, GM_ADDR address, uint64_t size)
    {
        tensor.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(address), size);
    }

    __aicore__ inline LocalTensor<float> Ready(const LocalTensor<float> &tile)
    {
        tiles_.EnQue(tile);
        return tiles_.DeQue<float>();
    }

    __aicore__ inline void WriteCells(const GlobalTensor<float> &to, const LocalTensor<float> &cells, uint32_t count)
    {
        LocalTensor<float> planes[NCHW_CONV_ADDR_LIST_SIZE];
        for (uint32_t i = 0; i < NCHW_CONV_ADDR_LIST_SIZE; ++i) {
            planes[i] = cells[i * lanes_];
        }
        LocalTensor<float> tile = Transpose(planes, count);
        DataCopy(to, tile, count * CELLS);
        tiles_.FreeTensor(tile);
    }

    // Two groups of four planes to [token][first 4, unused 4, second 4, unused 4]: each group starts a 32-byte block.
    __aicore__ inline LocalTensor<float> TransposePair(const LocalTensor<float> &first, const LocalTensor<float> &second,
                                                       uint32_t count)
    {
        LocalTensor<float> planes[NCHW_CONV_ADDR_LIST_SIZE];
        for (uint32_t i = 0; i < FP32_BLOCK; ++i) {
            planes[i] = first[i % STREAMS * lanes_];
            planes[FP32_BLOCK + i] = second[i % STREAMS * lanes_];
        }
        return Transpose(planes, count);
    }

    // 16 planes to [token][16], eight tokens a repeat.
    __aicore__ inline LocalTensor<float> Transpose(const LocalTensor<float> (&planes)[NCHW_CONV_ADDR_LIST_SIZE],
                                                   uint32_t count)
    {
        LocalTensor<float> tile = tiles_.AllocTensor<float>();
        LocalTensor<float> to[NCHW_CONV_ADDR_LIST_SIZE];
        for (uint32_t i = 0; i < NCHW_CONV_ADDR_LIST_SIZE; ++i) {
            to[i] = tile[i * FP32_BLOCK];
        }
        TransDataTo5HDParams params;
        params.repeatTimes = static_cast<uint8_t>((count + FP32_BLOCK - 1) / FP32_BLOCK);
        params.dstRepStride = params.repeatTimes > 1 ? NCHW_CONV_ADDR_LIST_SIZE : 0;
        params.srcRepStride = params.repeatTimes > 1 ? 1 : 0;
        TransDataTo5HD<float>(to, planes, params);
        PipeBarrier<PIPE_V>(); // the planes may be overwritten next
        return Ready(tile);
    }

    // The first four floats of every 16 of the tile, densely.
    __aicore__ inline void StoreFours(const GlobalTensor<float> &to, const LocalTensor<float> &tile, uint32_t count)
    {
        DataCopyExtParams params(static_cast<uint16_t>(count), STREAMS * sizeof(float), 1, 0, 0);
        DataCopyPad(to, tile, params);
    }

    uint64_t tokens_ = 0;
    uint32_t lanes_ = 0;
    bool backward_ = false;
    GlobalTensor<float> hPost_;
    GlobalTensor<float> hRes_;
    GlobalTensor<float> hPre_;
    GlobalTensor<float> hcBeforeNorm_;
    GlobalTensor<float> invRms_;
    GlobalTensor<float> sumOut_;
    GlobalTensor<float> normOut_;
    TQue<TPosition::VECOUT, 2> tiles_;
};

} // namespace MhcPreSinkhorn

#endif // MHC_PRE_SINKHORN_OUTPUTS_H
