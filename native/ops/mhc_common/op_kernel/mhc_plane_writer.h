// From planes in the unified buffer to float32 outputs, token by token, in global memory.
#ifndef MHC_PLANE_WRITER_H
#define MHC_PLANE_WRITER_H

#include "mhc_shape.h"

namespace Mhc {

template <typename SHAPE>
class PlaneWriter {
public:
    __aicore__ inline void Init(uint32_t lanes, TPipe *pipe)
    {
        lanes_ = lanes;
        pipe->InitBuffer(tiles_, 2, lanes_ * TILE_STRIDE * sizeof(float));
    }

    // One plane to [count].
    __aicore__ inline void WritePlane(const GlobalTensor<float> &to, const LocalTensor<float> &plane, uint32_t count)
    {
        LocalTensor<float> tile = tiles_.template AllocTensor<float>();
        DataCopy(tile, plane, lanes_);
        tile = Ready(tile);
        DataCopyExtParams params(1, count * sizeof(float), 0, 0, 0);
        DataCopyPad(to, tile, params);
        tiles_.FreeTensor(tile);
    }

    // [lanes][MIX_STRIDE], as the cube wrote them, to [count][MIX].
    __aicore__ inline void WriteProducts(const GlobalTensor<float> &to, const LocalTensor<float> &rows, uint32_t count)
    {
        LocalTensor<float> tile = tiles_.template AllocTensor<float>();
        DataCopy(tile, rows, count * SHAPE::MIX_STRIDE);
        tile = Ready(tile);
        StoreRows<SHAPE::MIX, SHAPE::MIX_STRIDE>(to, tile, count);
        tiles_.FreeTensor(tile);
    }

    // n planes each to [count][n].
    __aicore__ inline void WritePair(const GlobalTensor<float> &toFirst, const LocalTensor<float> &first,
                                     const GlobalTensor<float> &toSecond, const LocalTensor<float> &second, uint32_t count)
    {
        LocalTensor<float> tile = TransposePair(first, second, count);
        StoreRows<SHAPE::STREAMS, NCHW_CONV_ADDR_LIST_SIZE>(toFirst, tile, count);
        StoreRows<SHAPE::STREAMS, NCHW_CONV_ADDR_LIST_SIZE>(toSecond, tile[FP32_BLOCK], count);
        tiles_.FreeTensor(tile);
    }

    // n planes to [count][n].
    __aicore__ inline void WriteStreams(const GlobalTensor<float> &to, const LocalTensor<float> &planes, uint32_t count)
    {
        LocalTensor<float> tile = TransposePair(planes, planes, count);
        StoreRows<SHAPE::STREAMS, NCHW_CONV_ADDR_LIST_SIZE>(to, tile, count);
        tiles_.FreeTensor(tile);
    }

    // n*n planes to [count][n*n].
    __aicore__ inline void WriteCells(const GlobalTensor<float> &to, const LocalTensor<float> &cells, uint32_t count)
    {
        LocalTensor<float> tile = tiles_.template AllocTensor<float>();
        for (uint32_t first = 0; first < SHAPE::CELLS; first += NCHW_CONV_ADDR_LIST_SIZE) {
            LocalTensor<float> planes[NCHW_CONV_ADDR_LIST_SIZE];
            for (uint32_t i = 0; i < NCHW_CONV_ADDR_LIST_SIZE; ++i) {
                const uint32_t cell = first + i < SHAPE::CELLS ? first + i : SHAPE::CELLS - 1; // the rest is not stored
                planes[i] = cells[cell * lanes_];
            }
            Transpose(tile[first], planes, CELLS_STRIDE, count);
        }
        PipeBarrier<PIPE_V>();
        tile = Ready(tile);
        StoreRows<SHAPE::CELLS, CELLS_STRIDE>(to, tile, count);
        tiles_.FreeTensor(tile);
    }

private:
    static constexpr uint32_t CELLS_STRIDE =
        (SHAPE::CELLS + NCHW_CONV_ADDR_LIST_SIZE - 1) / NCHW_CONV_ADDR_LIST_SIZE * NCHW_CONV_ADDR_LIST_SIZE;
    static constexpr uint32_t LARGEST = CELLS_STRIDE > SHAPE::MIX_STRIDE ? CELLS_STRIDE : SHAPE::MIX_STRIDE;
    static constexpr uint32_t TILE_STRIDE = LARGEST > NCHW_CONV_ADDR_LIST_SIZE ? LARGEST : NCHW_CONV_ADDR_LIST_SIZE;

    __aicore__ inline LocalTensor<float> Ready(const LocalTensor<float> &tile)
    {
        tiles_.EnQue(tile);
        return tiles_.template DeQue<float>();
    }

    // To [token][first n, rest of 8, second n, rest of 8]: each group starts a block of 32 bytes.
    __aicore__ inline LocalTensor<float> TransposePair(const LocalTensor<float> &first, const LocalTensor<float> &second,
                                                       uint32_t count)
    {
        LocalTensor<float> planes[NCHW_CONV_ADDR_LIST_SIZE];
        for (uint32_t i = 0; i < FP32_BLOCK; ++i) {
            planes[i] = first[i % SHAPE::STREAMS * lanes_];
            planes[FP32_BLOCK + i] = second[i % SHAPE::STREAMS * lanes_];
        }
        LocalTensor<float> tile = tiles_.template AllocTensor<float>();
        Transpose(tile, planes, NCHW_CONV_ADDR_LIST_SIZE, count);
        PipeBarrier<PIPE_V>(); // the planes may be overwritten next
        return Ready(tile);
    }

    // 16 planes to 16 columns of [token][stride], eight tokens a repeat.
    __aicore__ inline void Transpose(const LocalTensor<float> &tile,
                                     const LocalTensor<float> (&planes)[NCHW_CONV_ADDR_LIST_SIZE], uint32_t stride,
                                     uint32_t count)
    {
        LocalTensor<float> to[NCHW_CONV_ADDR_LIST_SIZE];
        for (uint32_t i = 0; i < NCHW_CONV_ADDR_LIST_SIZE; ++i) {
            to[i] = tile[i / 2 * stride + i % 2 * FP32_BLOCK];
        }
        TransDataTo5HDParams params;
        params.repeatTimes = static_cast<uint8_t>((count + FP32_BLOCK - 1) / FP32_BLOCK);
        params.dstRepStride = params.repeatTimes > 1 ? static_cast<uint16_t>(stride) : 0; // eight rows, in blocks
        params.srcRepStride = params.repeatTimes > 1 ? 1 : 0;
        TransDataTo5HD<float>(to, planes, params);
    }

    // The first WIDTH floats of every row of STRIDE, densely.
    template <uint32_t WIDTH, uint32_t STRIDE>
    __aicore__ inline void StoreRows(const GlobalTensor<float> &to, const LocalTensor<float> &tile, uint32_t count)
    {
        if constexpr (WIDTH == STRIDE) {
            DataCopy(to, tile, count * WIDTH);
        } else {
            constexpr uint32_t blocks = (WIDTH + FP32_BLOCK - 1) / FP32_BLOCK;
            DataCopyExtParams params(static_cast<uint16_t>(count), WIDTH * sizeof(float), STRIDE / FP32_BLOCK - blocks, 0, 0);
            DataCopyPad(to, tile, params);
        }
    }

    uint32_t lanes_ = 0;
    TQue<TPosition::VECOUT, 2> tiles_;
};

} // namespace Mhc

#endif // MHC_PLANE_WRITER_H
