// y_d = sum_i w_i * x_{i,d}, float32, rounded once.
#ifndef MHC_WEIGHTED_SUM_H
#define MHC_WEIGHTED_SUM_H

#include "mhc_stream_reader.h"

namespace Mhc {

template <typename T, uint32_t N>
class WeightedSum {
public:
    // `x` must hold pieces of N * tailTile elements; tailTile is a multiple of 32 bytes, the tail need not be.
    __aicore__ inline void Init(StreamReader<T> &x, GM_ADDR y, uint64_t tokens, uint64_t tail, uint32_t tailTile, TPipe *pipe)
    {
        x_ = &x;
        tail_ = tail;
        tailTile_ = tailTile;
        y_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(y), tokens * tail);
        pipe->InitBuffer(wideBuf_, N * tailTile * sizeof(float));
        pipe->InitBuffer(sumBuf_, tailTile * sizeof(float));
        pipe->InitBuffer(out_, 2, tailTile * sizeof(T));
    }

    // The weight of stream i of the k-th token is weights[k * tokenStep + i * streamStep]; they were written by vector
    // instructions, or the vector pipe has waited for them. One token after the other, the tail in tiles.
    __aicore__ inline void Make(uint64_t token, uint32_t count, const LocalTensor<float> &weights, uint32_t tokenStep,
                                uint32_t streamStep)
    {
        const event_t ready = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::V_S));
        SetFlag<HardEvent::V_S>(ready);
        WaitFlag<HardEvent::V_S>(ready);
        LocalTensor<float> wide = wideBuf_.Get<float>();
        LocalTensor<float> sum = sumBuf_.Get<float>();
        for (uint32_t row = 0; row < count; ++row) {
            for (uint64_t first = 0; first < tail_; first += tailTile_) {
                const uint32_t columns = static_cast<uint32_t>(Smaller(tailTile_, tail_ - first));
                const uint32_t pitch = (columns + PER_BLOCK - 1) / PER_BLOCK * PER_BLOCK; // of a loaded stream
                LocalTensor<T> narrow = x_->Load((token + row) * N * tail_ + first, N, columns, tail_ - columns);
                Cast(wide, narrow, RoundMode::CAST_NONE, N * pitch);
                PipeBarrier<PIPE_V>();
                x_->Free(narrow);
                Muls(sum, wide, weights.GetValue(row * tokenStep), columns);
                PipeBarrier<PIPE_V>();
                for (uint32_t stream = 1; stream < N; ++stream) {
                    Axpy(sum, wide[stream * pitch], weights.GetValue(row * tokenStep + stream * streamStep), columns);
                    PipeBarrier<PIPE_V>();
                }
                LocalTensor<T> rounded = out_.template AllocTensor<T>();
                Cast(rounded, sum, RoundMode::CAST_RINT, columns);
                out_.EnQue(rounded);
                rounded = out_.template DeQue<T>();
                DataCopyExtParams params(1, columns * sizeof(T), 0, 0, 0);
                DataCopyPad(y_[(token + row) * tail_ + first], rounded, params);
                out_.FreeTensor(rounded);
            }
        }
        const event_t read = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::S_V));
        SetFlag<HardEvent::S_V>(read);
        WaitFlag<HardEvent::S_V>(read);
    }

private:
    static constexpr uint32_t PER_BLOCK = ONE_BLK_SIZE / sizeof(T);

    StreamReader<T> *x_ = nullptr;
    uint64_t tail_ = 0;
    uint32_t tailTile_ = 0;
    GlobalTensor<T> y_;
    TBuf<TPosition::VECCALC> wideBuf_;
    TBuf<TPosition::VECCALC> sumBuf_;
    TQue<TPosition::VECOUT, 2> out_;
};

} // namespace Mhc

#endif // MHC_WEIGHTED_SUM_H
