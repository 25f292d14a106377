// HcPreInvRms: y = (mean(x^2) + epsilon)^(-1/2), one value per row of x.
#include "kernel_operator.h"

#include "hc_pre_inv_rms_tiling_data.h"

namespace HcPreInvRms {

using namespace AscendC;

constexpr uint32_t FP32_REPEAT = 64; // floats of one vector repeat
constexpr uint32_t BLOCK_BYTES = 32;

template <typename T>
class Kernel {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const HcPreInvRmsTilingData &tiling, TPipe *pipe)
    {
        tiling_ = &tiling;
        first_ = Smaller(GetBlockIdx() * tiling.rowsPerCore, tiling.rows);
        last_ = Smaller(first_ + tiling.rowsPerCore, tiling.rows);
        x_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(x), tiling.rows * tiling.rowSize);
        y_.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(y), tiling.rows);

        pipe->InitBuffer(in_, 2, tiling.loadBytes);
        pipe->InitBuffer(out_, 2, tiling.rowsPerPass * sizeof(float));
        pipe->InitBuffer(partialBuf_, tiling.lanes * sizeof(float));
        pipe->InitBuffer(sumsBuf_, tiling.rowsPerPass * sizeof(float));
        pipe->InitBuffer(onesBuf_, tiling.rowsPerPass * sizeof(float));
        if constexpr (WIDENED) {
            pipe->InitBuffer(wideBuf_, tiling.lanes * sizeof(float));
            wide_ = wideBuf_.template Get<float>();
        }
        partial_ = partialBuf_.template Get<float>();
        sums_ = sumsBuf_.template Get<float>();
        ones_ = onesBuf_.template Get<float>();
    }

    // SPLIT: a row is loaded in pieces; otherwise several rows at a time. The sums are the same to the bit.
    template <bool SPLIT>
    __aicore__ inline void Process()
    {
        Duplicate(ones_, 1.0f, tiling_->rowsPerPass);
        PipeBarrier<PIPE_V>();
        for (uint64_t row = first_; row < last_; row += tiling_->rowsPerPass) {
            const uint32_t count = static_cast<uint32_t>(Smaller(tiling_->rowsPerPass, last_ - row));
            if constexpr (SPLIT) {
                for (uint32_t i = 0; i < count; ++i) {
                    SumPieces(row + i, i);
                }
            } else {
                SumRows(row, count);
            }
            Store(row, count);
        }
    }

private:
    static constexpr bool WIDENED = sizeof(T) == 2; // the arithmetic is float32

    static __aicore__ inline uint64_t Smaller(uint64_t a, uint64_t b)
    {
        return a < b ? a : b;
    }

    __aicore__ inline void SumRows(uint64_t row, uint32_t count)
    {
        const uint32_t size = static_cast<uint32_t>(tiling_->rowSize);
        const uint32_t pitch = (size * sizeof(T) + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES / sizeof(T); // in UB
        Load(row * tiling_->rowSize, count, size);
        LocalTensor<T> rows = in_.template DeQue<T>();
        for (uint32_t i = 0; i < count; ++i) {
            AddSquares(rows[i * pitch], size, true);
            Total(i);
        }
        in_.FreeTensor(rows);
    }

    __aicore__ inline void SumPieces(uint64_t row, uint32_t index)
    {
        for (uint64_t done = 0; done < tiling_->rowSize; done += tiling_->pieceSize) {
            const uint32_t size = static_cast<uint32_t>(Smaller(tiling_->pieceSize, tiling_->rowSize - done));
            Load(row * tiling_->rowSize + done, 1, size);
            LocalTensor<T> piece = in_.template DeQue<T>();
            AddSquares(piece, size, done == 0);
            in_.FreeTensor(piece);
        }
        Total(index);
    }

    // In UB each row starts at a 32-byte block.
    __aicore__ inline void Load(uint64_t offset, uint32_t rows, uint32_t size)
    {
        LocalTensor<T> to = in_.template AllocTensor<T>();
        DataCopyExtParams params(static_cast<uint16_t>(rows), size * sizeof(T), 0, 0, 0);
        DataCopyPadExtParams<T> noPadding(false, 0, 0, 0);
        DataCopyPad(to, x_[offset], params, noPadding);
        in_.EnQue(to);
    }

    // Adds the squares of `size` elements to the partial sums, element k to lane k % lanes.
    __aicore__ inline void AddSquares(const LocalTensor<T> &from, uint32_t size, bool first)
    {
        for (uint32_t done = 0; done < size; done += tiling_->lanes) {
            const uint32_t count = static_cast<uint32_t>(Smaller(tiling_->lanes, size - done));
            const LocalTensor<float> wide = Widened(from[done], count);
            if (first && done == 0) {
                Mul(partial_, wide, wide, count);
            } else {
                MulAddDst(partial_, wide, wide, count);
            }
            PipeBarrier<PIPE_V>();
        }
    }

    __aicore__ inline LocalTensor<float> Widened(const LocalTensor<T> &from, uint32_t count)
    {
        if constexpr (WIDENED) {
            Cast(wide_, from, RoundMode::CAST_NONE, count);
            PipeBarrier<PIPE_V>();
            return wide_;
        } else {
            return from;
        }
    }

    // The partial sums, the upper half added to the lower one until one repeat is left, to one sum.
    __aicore__ inline void Total(uint32_t index)
    {
        uint32_t left = static_cast<uint32_t>(Smaller(tiling_->lanes, tiling_->rowSize));
        while (left > FP32_REPEAT) {
            const uint32_t lower = (left + 2 * FP32_REPEAT - 1) / (2 * FP32_REPEAT) * FP32_REPEAT;
            Add(partial_, partial_, partial_[lower], left - lower);
            PipeBarrier<PIPE_V>();
            left = lower;
        }
        WholeReduceSum(sums_[index], partial_, left, 1, 1, 1, 8);
        PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void Store(uint64_t row, uint32_t count)
    {
        Muls(sums_, sums_, tiling_->meanFactor, count);
        PipeBarrier<PIPE_V>();
        Adds(sums_, sums_, tiling_->epsilon, count);
        PipeBarrier<PIPE_V>();
        Sqrt(sums_, sums_, count);
        PipeBarrier<PIPE_V>();
        LocalTensor<float> result = out_.template AllocTensor<float>();
        Div(result, ones_, sums_, count);
        PipeBarrier<PIPE_V>(); // the next pass overwrites the sums
        out_.EnQue(result);
        result = out_.template DeQue<float>();
        DataCopyExtParams params(1, count * sizeof(float), 0, 0, 0);
        DataCopyPad(y_[row], result, params);
        out_.FreeTensor(result);
    }

    const HcPreInvRmsTilingData *tiling_ = nullptr;
    uint64_t first_ = 0;
    uint64_t last_ = 0;
    GlobalTensor<T> x_;
    GlobalTensor<float> y_;
    TQue<TPosition::VECIN, 2> in_;
    TQue<TPosition::VECOUT, 2> out_;
    TBuf<TPosition::VECCALC> partialBuf_;
    TBuf<TPosition::VECCALC> wideBuf_;
    TBuf<TPosition::VECCALC> sumsBuf_;
    TBuf<TPosition::VECCALC> onesBuf_;
    LocalTensor<float> partial_;
    LocalTensor<float> wide_;
    LocalTensor<float> sums_;
    LocalTensor<float> ones_;
};

template <bool SPLIT>
__aicore__ inline void Run(GM_ADDR x, GM_ADDR y, const HcPreInvRmsTilingData &tiling)
{
    TPipe pipe;
    Kernel<DTYPE_X> kernel;
    kernel.Init(x, y, tiling, &pipe);
    kernel.template Process<SPLIT>();
}

} // namespace HcPreInvRms

// Tiling key 1000: whole rows fit the unified buffer. Key 1001: they are loaded in pieces.
extern "C" __global__ __aicore__ void hc_pre_inv_rms(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    REGISTER_TILING_DEFAULT(HcPreInvRmsTilingData);
    GET_TILING_DATA_WITH_STRUCT(HcPreInvRmsTilingData, tilingData, tiling);
    if (TILING_KEY_IS(1000)) {
        HcPreInvRms::Run<false>(x, y, tilingData);
    } else if (TILING_KEY_IS(1001)) {
        HcPreInvRms::Run<true>(x, y, tilingData);
    }
}
