// MhcSinkhorn: each n x n matrix of x becomes a nearly doubly stochastic one. Cell (i, j) of `lanes` tokens is a plane.
#include "kernel_operator.h"

#include "../../mhc_common/op_kernel/mhc_sinkhorn_planes.h"
#include "mhc_sinkhorn_slots.h"

namespace MhcSinkhorn {

using Mhc::SinkhornPlanes;

struct Addresses {
    GM_ADDR x;
    GM_ADDR output;
    GM_ADDR normOut; // this one and the next only with SLOTS
    GM_ADDR sumOut;
};

template <uint32_t N, bool SLOTS>
class Kernel {
public:
    __aicore__ inline void Init(const Addresses &addresses, const MhcSinkhornTilingData &tiling, TPipe *pipe)
    {
        tiling_ = &tiling;
        lanes_ = tiling.lanes;
        x_.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(addresses.x), tiling.tokens * CELLS);
        output_.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(addresses.output), tiling.tokens * CELLS);
        pipe->InitBuffer(xIn_, 2, lanes_ * X_STRIDE * sizeof(float));
        pipe->InitBuffer(outQueue_, 2, lanes_ * OUT_STRIDE * sizeof(float));
        pipe->InitBuffer(planesBuf_, (X_STRIDE + CELLS + 2 * N) * lanes_ * sizeof(float));
        LocalTensor<float> planes = planesBuf_.template Get<float>();
        cells_ = planes;
        spoilt_ = cells_[X_STRIDE * lanes_];
        rows_ = spoilt_[CELLS * lanes_];
        columns_ = rows_[N * lanes_];
        if constexpr (SLOTS) {
            slots_.Init(addresses.normOut, addresses.sumOut, tiling, pipe);
        }
    }

    __aicore__ inline void Process()
    {
        const uint64_t blocks = GetBlockNum();
        const uint64_t block = GetBlockIdx();
        const uint64_t last = tiling_->tokens * (block + 1) / blocks;
        for (uint64_t token = tiling_->tokens * block / blocks; token < last; token += lanes_) {
            const uint32_t count = static_cast<uint32_t>(Mhc::Smaller(lanes_, last - token));
            Load(token, count);
            Spoil();
            Iterate(token, count);
            Store(token, count);
        }
    }

private:
    static constexpr uint32_t CELLS = N * N;
    static constexpr uint32_t X_STRIDE = (CELLS + FP32_BLOCK - 1) / FP32_BLOCK * FP32_BLOCK; // of a token in UB
    static constexpr uint32_t LIST = NCHW_CONV_ADDR_LIST_SIZE;
    static constexpr uint32_t OUT_STRIDE = (CELLS + LIST - 1) / LIST * LIST;

    // [count][n*n] to planes. Lanes behind `count` hold what was there; nothing of them is stored.
    __aicore__ inline void Load(uint64_t token, uint32_t count)
    {
        LocalTensor<float> rows = xIn_.template AllocTensor<float>();
        DataCopyExtParams copy(static_cast<uint16_t>(count), CELLS * sizeof(float), 0, 0, 0);
        DataCopyPadExtParams<float> noPadding(false, 0, 0, 0.0f);
        DataCopyPad(rows, x_[token * CELLS], copy, noPadding);
        xIn_.EnQue(rows);
        rows = xIn_.template DeQue<float>();

        TransDataTo5HDParams params;
        params.repeatTimes = static_cast<uint8_t>(lanes_ / LIST); // of 16 tokens each
        params.dstRepStride = params.repeatTimes > 1 ? LIST / FP32_BLOCK : 0;
        params.srcRepStride = params.repeatTimes > 1 ? LIST * X_STRIDE / FP32_BLOCK : 0;
        for (uint32_t column = 0; column < X_STRIDE; column += FP32_BLOCK) {
            LocalTensor<float> from[NCHW_CONV_ADDR_LIST_SIZE];
            LocalTensor<float> to[NCHW_CONV_ADDR_LIST_SIZE];
            for (uint32_t i = 0; i < LIST; ++i) {
                from[i] = rows[i * X_STRIDE + column];
                to[i] = cells_[(column + i / 2) * lanes_ + i % 2 * FP32_BLOCK];
            }
            TransDataTo5HD<float>(to, from, params);
        }
        PipeBarrier<PIPE_V>();
        xIn_.FreeTensor(rows);
    }

    // A NaN or infinity anywhere makes every cell of its token NaN: 0 * cell is then NaN, else 0, and all of them are added.
    __aicore__ inline void Spoil()
    {
        const uint32_t row = N * lanes_;
        Muls(spoilt_, cells_, 0.0f, static_cast<int32_t>(CELLS * lanes_));
        PipeBarrier<PIPE_V>();
        for (uint32_t i = 1; i < N; ++i) {
            Add(spoilt_, spoilt_, spoilt_[i * row], static_cast<int32_t>(row));
            PipeBarrier<PIPE_V>();
        }
        for (uint32_t j = 1; j < N; ++j) {
            Add(spoilt_, spoilt_, spoilt_[j * lanes_], static_cast<int32_t>(lanes_));
            PipeBarrier<PIPE_V>();
        }
        const uint8_t plane = static_cast<uint8_t>(lanes_ / FP32_BLOCK);
        Add(cells_, cells_, spoilt_, static_cast<uint64_t>(lanes_), static_cast<uint8_t>(CELLS), {1, 1, 1, plane, plane, 0});
        PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void Iterate(uint64_t token, uint32_t count)
    {
        SinkhornPlanes<N> planes(cells_, rows_, columns_, lanes_, tiling_->eps);
        for (uint32_t iter = 0; iter < tiling_->numIters; ++iter) {
            if (iter == 0) {
                planes.SoftmaxStep();
            } else {
                planes.RowStep();
            }
            if constexpr (SLOTS) {
                slots_.WriteNorm(2 * iter, token, cells_, count);
            }
            planes.ColumnStep();
            if constexpr (SLOTS) {
                slots_.WriteNorm(2 * iter + 1, token, cells_, count);
                slots_.WriteSums(2 * iter, token, rows_, columns_, count);
            }
        }
    }

    // Planes to [count][n*n].
    __aicore__ inline void Store(uint64_t token, uint32_t count)
    {
        LocalTensor<float> tile = outQueue_.template AllocTensor<float>();
        TransDataTo5HDParams params;
        params.repeatTimes = static_cast<uint8_t>((count + FP32_BLOCK - 1) / FP32_BLOCK); // of 8 tokens each
        params.dstRepStride = params.repeatTimes > 1 ? OUT_STRIDE : 0;
        params.srcRepStride = params.repeatTimes > 1 ? 1 : 0;
        for (uint32_t first = 0; first < CELLS; first += LIST) {
            LocalTensor<float> from[NCHW_CONV_ADDR_LIST_SIZE];
            LocalTensor<float> to[NCHW_CONV_ADDR_LIST_SIZE];
            for (uint32_t i = 0; i < LIST; ++i) {
                from[i] = cells_[(first + i < CELLS ? first + i : CELLS - 1) * lanes_]; // what is behind is not stored
                to[i] = tile[i / 2 * OUT_STRIDE + first + i % 2 * FP32_BLOCK];
            }
            TransDataTo5HD<float>(to, from, params);
        }
        PipeBarrier<PIPE_V>();
        outQueue_.EnQue(tile);
        tile = outQueue_.template DeQue<float>();
        const uint32_t gap = (OUT_STRIDE - X_STRIDE) / FP32_BLOCK;
        DataCopyExtParams copy(static_cast<uint16_t>(count), CELLS * sizeof(float), gap, 0, 0);
        DataCopyPad(output_[token * CELLS], tile, copy);
        outQueue_.FreeTensor(tile);
    }

    const MhcSinkhornTilingData *tiling_ = nullptr;
    uint32_t lanes_ = 0;
    GlobalTensor<float> x_;
    GlobalTensor<float> output_;
    TQue<TPosition::VECIN, 2> xIn_;
    TQue<TPosition::VECOUT, 2> outQueue_;
    TBuf<TPosition::VECCALC> planesBuf_;
    Slots<N> slots_;
    LocalTensor<float> cells_;   // n*n planes, and as many more as fill blocks of 32 bytes of a token
    LocalTensor<float> spoilt_;  // n*n planes
    LocalTensor<float> rows_;    // n planes
    LocalTensor<float> columns_; // n planes
};

template <uint32_t N, bool SLOTS>
__aicore__ inline void RunFor(const Addresses &addresses, const MhcSinkhornTilingData &tiling)
{
    TPipe pipe;
    Kernel<N, SLOTS> kernel;
    kernel.Init(addresses, tiling, &pipe);
    kernel.Process();
}

template <bool SLOTS>
__aicore__ inline void Run(const Addresses &addresses, const MhcSinkhornTilingData &tiling)
{
    if (tiling.streams == 4) {
        RunFor<4, SLOTS>(addresses, tiling);
    } else if (tiling.streams == 6) {
        RunFor<6, SLOTS>(addresses, tiling);
    } else if (tiling.streams == 8) {
        RunFor<8, SLOTS>(addresses, tiling);
    }
}

} // namespace MhcSinkhorn

// Tiling key 1: with the optional outputs.
extern "C" __global__ __aicore__ void mhc_sinkhorn(GM_ADDR x, GM_ADDR output, GM_ADDR normOut, GM_ADDR sumOut,
                                                   GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    REGISTER_TILING_DEFAULT(MhcSinkhornTilingData);
    GET_TILING_DATA_WITH_STRUCT(MhcSinkhornTilingData, tilingData, tiling);
    const MhcSinkhorn::Addresses addresses{x, output, normOut, sumOut};
    if (TILING_KEY_IS(0)) {
        MhcSinkhorn::Run<false>(addresses, tilingData);
    } else if (TILING_KEY_IS(1)) {
        MhcSinkhorn::Run<true>(addresses, tilingData);
    }
}
