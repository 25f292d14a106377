// Reads pieces of x into the unified buffer.
#ifndef MHC_STREAM_READER_H
#define MHC_STREAM_READER_H

#include "mhc_projection_tiling_data.h"
#include "mhc_shape.h"

namespace Mhc {

template <typename T>
class StreamReader {
public:
    // size: elements of x; most: elements of the largest piece.
    __aicore__ inline void Init(GM_ADDR x, uint64_t size, uint32_t most, TPipe *pipe)
    {
        x_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(x), size);
        pipe->InitBuffer(queue_, 2, most * sizeof(T));
    }

    // For the pieces of both the projection and the weighted sum of `streams` streams.
    __aicore__ inline void Init(GM_ADDR x, uint32_t streams, const MhcProjectionTilingData &tiling, TPipe *pipe)
    {
        const uint64_t chunk = tiling.rowsPerLoop * tiling.kPerSlot;
        const uint64_t tails = streams * tiling.tailTile;
        Init(x, tiling.tokens * streams * tiling.tail, static_cast<uint32_t>(chunk > tails ? chunk : tails), pipe);
    }

    // `blocks` pieces of `length` elements, `gap` elements apart, one behind the other.
    __aicore__ inline LocalTensor<T> Load(uint64_t offset, uint32_t blocks, uint32_t length, uint64_t gap)
    {
        LocalTensor<T> tile = queue_.template AllocTensor<T>();
        DataCopyExtParams params(static_cast<uint16_t>(blocks), length * sizeof(T), static_cast<uint32_t>(gap * sizeof(T)), 0,
                                 0);
        DataCopyPadExtParams<T> noPadding(false, 0, 0, 0);
        DataCopyPad(tile, x_[offset], params, noPadding);
        queue_.EnQue(tile);
        return queue_.template DeQue<T>();
    }

    __aicore__ inline void Free(LocalTensor<T> &tile)
    {
        queue_.FreeTensor(tile);
    }

private:
    GlobalTensor<T> x_;
    TQue<TPosition::VECIN, 2> queue_;
};

} // namespace Mhc

#endif // MHC_STREAM_READER_H
