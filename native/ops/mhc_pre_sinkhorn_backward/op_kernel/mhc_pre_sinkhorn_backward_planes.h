// Planes: one number of all tokens of a loop, `lanes` floats, so that every instruction works on many tokens. Here they are
// loaded from and stored to tensors that hold the numbers token by token.
#ifndef MHC_PRE_SINKHORN_BACKWARD_PLANES_H
#define MHC_PRE_SINKHORN_BACKWARD_PLANES_H

#include "mhc_pre_sinkhorn_backward_common.h"

namespace MhcPreSinkhornBackward {

class PlaneLoader {
public:
    // pitch: most floats of one token, padded.
    __aicore__ inline void Init(uint32_t streams, uint32_t lanes, uint32_t pitch, TPipe *pipe)
    {
        streams_ = streams;
        lanes_ = lanes;
        pipe->InitBuffer(rows_, 2, lanes * pitch * sizeof(float));
        pipe->InitBuffer(spareBuf_, lanes * sizeof(float));
    }

    // One float per token.
    __aicore__ inline void LoadScalars(const LocalTensor<float> &plane, const GlobalTensor<float> &from, uint32_t count)
    {
        LocalTensor<float> rows = LoadRows(from, 1, count);
        DataCopy(plane, rows, lanes_);
        PipeBarrier<PIPE_V>();
        rows_.FreeTensor(rows);
    }

    // [token][width] to `width` planes, up to a multiple of 8; the planes behind are zero.
    __aicore__ inline void LoadVectors(const LocalTensor<float> &planes, const GlobalTensor<float> &from, uint32_t count,
                                       uint32_t width)
    {
        const uint32_t pitch = RoundUp(width, FP32_BLOCK);
        LocalTensor<float> rows = LoadRows(from, count, width);
        for (uint32_t column = 0; column < pitch; column += FP32_BLOCK) {
            ToPlanes(planes[column * lanes_], rows[column], pitch, FP32_BLOCK);
        }
        PipeBarrier<PIPE_V>();
        rows_.FreeTensor(rows);
    }

    // [token][n][n] to n*n planes.
    __aicore__ inline void LoadMatrices(const LocalTensor<float> &planes, const GlobalTensor<float> &from, uint32_t count)
    {
        LocalTensor<float> rows = LoadRows(from, count * streams_, streams_);
        for (uint32_t row = 0; row < streams_; ++row) {
            ToPlanes(planes[row * streams_ * lanes_], rows[row * FP32_BLOCK], streams_ * FP32_BLOCK, streams_);
        }
        PipeBarrier<PIPE_V>();
        rows_.FreeTensor(rows);
    }

private:
    // Rows of `width` floats, each padded with zeros to whole blocks.
    __aicore__ inline LocalTensor<float> LoadRows(const GlobalTensor<float> &from, uint32_t count, uint32_t width)
    {
        LocalTensor<float> rows = rows_.AllocTensor<float>();
        const uint8_t padding = static_cast<uint8_t>(RoundUp(width, FP32_BLOCK) - width);
        DataCopyExtParams params(static_cast<uint16_t>(count), width * sizeof(float), 0, 0, 0);
        DataCopyPadExtParams<float> zeros(padding != 0, 0, padding, 0.0f);
        DataCopyPad(rows, from, params, zeros);
        rows_.EnQue(rows);
        return rows_.DeQue<float>();
    }

    // The block of 8 floats at the start of each token, `pitch` floats apart, to the first `count` of 8 planes.
    __aicore__ inline void ToPlanes(const LocalTensor<float> &planes, const LocalTensor<float> &rows, uint32_t pitch,
                                    uint32_t count)
    {
        const LocalTensor<float> spare = spareBuf_.Get<float>();
        LocalTensor<float> from[NCHW_CONV_ADDR_LIST_SIZE];
        LocalTensor<float> to[NCHW_CONV_ADDR_LIST_SIZE];
        for (uint32_t i = 0; i < NCHW_CONV_ADDR_LIST_SIZE; ++i) {
            const uint32_t half = i % 2 * FP32_BLOCK;
            from[i] = rows[i * pitch];
            to[i] = i / 2 < count ? planes[i / 2 * lanes_ + half] : spare[half];
        }
        TransDataTo5HDParams params;
        params.repeatTimes = static_cast<uint8_t>(lanes_ / GROUP);
        params.dstRepStride = params.repeatTimes > 1 ? GROUP / FP32_BLOCK : 0;
        params.srcRepStride = params.repeatTimes > 1 ? static_cast<uint16_t>(GROUP * pitch / FP32_BLOCK) : 0;
        TransDataTo5HD<float>(to, from, params);
    }

    uint32_t streams_ = 0;
    uint32_t lanes_ = 0;
    TQue<TPosition::VECIN, 2> rows_;
    TBuf<TPosition::VECCALC> spareBuf_;
};

class PlaneWriter {
public:
    __aicore__ inline void Init(uint32_t lanes, uint32_t planes, TPipe *pipe)
    {
        lanes_ = lanes;
        pipe->InitBuffer(tiles_, 2, planes * lanes * sizeof(float));
    }

    // `planes` planes to rows of tokens that are `stride` floats apart.
    __aicore__ inline void WritePlanes(const GlobalTensor<float> &to, const LocalTensor<float> &from, uint32_t planes,
                                       uint32_t count, uint64_t stride)
    {
        LocalTensor<float> tile = tiles_.AllocTensor<float>();
        DataCopy(tile, from, planes * lanes_);
        tile = Ready(tile);
        const uint32_t gap = (lanes_ - RoundUp(count, FP32_BLOCK)) / FP32_BLOCK;
        DataCopyExtParams params(static_cast<uint16_t>(planes), count * sizeof(float), gap,
                                 static_cast<uint32_t>((stride - count) * sizeof(float)), 0);
        DataCopyPad(to, tile, params);
        tiles_.FreeTensor(tile);
    }

    // `planes` planes, a multiple of 8, to [token][planes].
    __aicore__ inline void WriteVectors(const GlobalTensor<float> &to, const LocalTensor<float> &from, uint32_t planes,
                                        uint32_t count)
    {
        LocalTensor<float> tile = tiles_.AllocTensor<float>();
        for (uint32_t first = 0; first < planes; first += GROUP) {
            // The second half of the last 16 rows may be missing: then the first half is written twice.
            const uint32_t second = first + FP32_BLOCK < planes ? FP32_BLOCK : 0;
            LocalTensor<float> rows[NCHW_CONV_ADDR_LIST_SIZE];
            LocalTensor<float> columns[NCHW_CONV_ADDR_LIST_SIZE];
            for (uint32_t i = 0; i < NCHW_CONV_ADDR_LIST_SIZE; ++i) {
                const uint32_t part = i / FP32_BLOCK * second;
                rows[i] = from[(first + part + i % FP32_BLOCK) * lanes_];
                columns[i] = tile[i / 2 * planes + first + i % 2 * second];
            }
            TransDataTo5HDParams params;
            params.repeatTimes = static_cast<uint8_t>(RoundUp(count, FP32_BLOCK) / FP32_BLOCK);
            params.dstRepStride = params.repeatTimes > 1 ? static_cast<uint16_t>(planes) : 0;
            params.srcRepStride = params.repeatTimes > 1 ? 1 : 0;
            TransDataTo5HD<float>(columns, rows, params);
        }
        PipeBarrier<PIPE_V>(); // the planes may be overwritten next
        tile = Ready(tile);
        DataCopy(to, tile, count * planes);
        tiles_.FreeTensor(tile);
    }

    // `count` floats that follow each other, a multiple of 8.
    __aicore__ inline void WriteFloats(const GlobalTensor<float> &to, const LocalTensor<float> &from, uint32_t count)
    {
        LocalTensor<float> tile = tiles_.AllocTensor<float>();
        DataCopy(tile, from, count);
        tile = Ready(tile);
        DataCopy(to, tile, count);
        tiles_.FreeTensor(tile);
    }

private:
    __aicore__ inline LocalTensor<float> Ready(const LocalTensor<float> &tile)
    {
        tiles_.EnQue(tile);
        return tiles_.DeQue<float>();
    }

    uint32_t lanes_ = 0;
    TQue<TPosition::VECOUT, 2> tiles_;
};

} // namespace MhcPreSinkhornBackward

#endif // MHC_PRE_SINKHORN_BACKWARD_PLANES_H
