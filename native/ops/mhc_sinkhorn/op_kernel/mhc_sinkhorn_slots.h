// The optional outputs of MhcSinkhorn: what each step leaves and divides by, in slots of [T][n][8] and [T][8] floats whose
// lanes n..7 are zero.
#ifndef MHC_SINKHORN_SLOTS_H
#define MHC_SINKHORN_SLOTS_H

#include "../../mhc_common/op_kernel/mhc_shape.h"
#include "mhc_sinkhorn_tiling_data.h"

namespace MhcSinkhorn {

using namespace AscendC;
using Mhc::FP32_BLOCK;

template <uint32_t N>
class Slots {
public:
    __aicore__ inline void Init(GM_ADDR normOut, GM_ADDR sumOut, const MhcSinkhornTilingData &tiling, TPipe *pipe)
    {
        tokens_ = tiling.tokens;
        lanes_ = tiling.lanes;
        const uint64_t rows = 2 * tiling.numIters * tokens_;
        norm_.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(normOut), rows * N * FP32_BLOCK);
        sum_.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(sumOut), rows * FP32_BLOCK);
        pipe->InitBuffer(normTiles_, 2, lanes_ * N * FP32_BLOCK * sizeof(float));
        pipe->InitBuffer(sumTiles_, 2, 2 * lanes_ * FP32_BLOCK * sizeof(float));
        pipe->InitBuffer(zeroBuf_, lanes_ * sizeof(float));
        zero_ = zeroBuf_.template Get<float>();
        Duplicate(zero_, 0.0f, static_cast<int32_t>(lanes_));
        PipeBarrier<PIPE_V>();
    }

    // n*n planes.
    __aicore__ inline void WriteNorm(uint32_t slot, uint64_t token, const LocalTensor<float> &cells, uint32_t count)
    {
        LocalTensor<float> tile = normTiles_.template AllocTensor<float>();
        for (uint32_t row = 0; row < N; row += 2) {
            LocalTensor<float> planes[NCHW_CONV_ADDR_LIST_SIZE];
            LocalTensor<float> to[NCHW_CONV_ADDR_LIST_SIZE];
            for (uint32_t i = 0; i < FP32_BLOCK; ++i) {
                planes[i] = Plane(cells, row * N, i);
                planes[FP32_BLOCK + i] = Plane(cells, (row + 1) * N, i);
                to[2 * i] = tile[(i * N + row) * FP32_BLOCK];
                to[2 * i + 1] = tile[(i * N + row + 1) * FP32_BLOCK];
            }
            Transpose(to, planes, FP32_BLOCK * N, count);
        }
        PipeBarrier<PIPE_V>(); // the planes may be overwritten next
        normTiles_.EnQue(tile);
        tile = normTiles_.template DeQue<float>();
        Store(norm_[(slot * tokens_ + token) * N * FP32_BLOCK], tile, count * N * FP32_BLOCK);
        normTiles_.FreeTensor(tile);
    }

    // The n planes of row sums of slot `slot`, and of column sums of the next one.
    __aicore__ inline void WriteSums(uint32_t slot, uint64_t token, const LocalTensor<float> &rows,
                                     const LocalTensor<float> &columns, uint32_t count)
    {
        LocalTensor<float> tile = sumTiles_.template AllocTensor<float>();
        LocalTensor<float> second = tile[lanes_ * FP32_BLOCK];
        LocalTensor<float> planes[NCHW_CONV_ADDR_LIST_SIZE];
        LocalTensor<float> to[NCHW_CONV_ADDR_LIST_SIZE];
        for (uint32_t i = 0; i < FP32_BLOCK; ++i) {
            planes[i] = Plane(rows, 0, i);
            planes[FP32_BLOCK + i] = Plane(columns, 0, i);
            to[2 * i] = tile[i * FP32_BLOCK];
            to[2 * i + 1] = second[i * FP32_BLOCK];
        }
        Transpose(to, planes, FP32_BLOCK, count);
        PipeBarrier<PIPE_V>();
        sumTiles_.EnQue(tile);
        tile = sumTiles_.template DeQue<float>();
        Store(sum_[(slot * tokens_ + token) * FP32_BLOCK], tile, count * FP32_BLOCK);
        Store(sum_[((slot + 1) * tokens_ + token) * FP32_BLOCK], second, count * FP32_BLOCK);
        sumTiles_.FreeTensor(tile);
    }

private:
    // Lane `index` of the row that starts at plane `first`: a plane, or zeros behind the n-th.
    __aicore__ inline LocalTensor<float> Plane(const LocalTensor<float> &planes, uint32_t first, uint32_t index) const
    {
        return index < N ? planes[(first + index) * lanes_] : zero_;
    }

    // 16 planes to 16 columns, eight tokens a repeat; a token takes `blocks` / 8 blocks of 32 bytes.
    __aicore__ inline void Transpose(const LocalTensor<float> (&to)[NCHW_CONV_ADDR_LIST_SIZE],
                                     const LocalTensor<float> (&planes)[NCHW_CONV_ADDR_LIST_SIZE], uint32_t blocks,
                                     uint32_t count)
    {
        TransDataTo5HDParams params;
        params.repeatTimes = static_cast<uint8_t>((count + FP32_BLOCK - 1) / FP32_BLOCK);
        params.dstRepStride = params.repeatTimes > 1 ? static_cast<uint16_t>(blocks) : 0;
        params.srcRepStride = params.repeatTimes > 1 ? 1 : 0;
        TransDataTo5HD<float>(to, planes, params);
    }

    __aicore__ inline void Store(const GlobalTensor<float> &to, const LocalTensor<float> &from, uint32_t count)
    {
        DataCopyExtParams params(1, count * sizeof(float), 0, 0, 0);
        DataCopyPad(to, from, params);
    }

    uint64_t tokens_ = 0;
    uint32_t lanes_ = 0;
    GlobalTensor<float> norm_;
    GlobalTensor<float> sum_;
    TQue<TPosition::VECOUT, 2> normTiles_;
    TQue<TPosition::VECOUT, 2> sumTiles_;
    TBuf<TPosition::VECCALC> zeroBuf_;
    LocalTensor<float> zero_;
};

} // namespace MhcSinkhorn

#endif // MHC_SINKHORN_SLOTS_H
