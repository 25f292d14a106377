// The cube side of the column pass, float32 in and out: products = gradient of hcBeforeNorm . phi for the vector cores, tile
// after tile, and gradPhi += gradient^T . x~ with the sums in L0C until all tokens are in.
#ifndef MHC_PRE_SINKHORN_BACKWARD_CUBE_H
#define MHC_PRE_SINKHORN_BACKWARD_CUBE_H

#include "../../mhc_common/op_kernel/mhc_fractals.h"
#include "mhc_pre_sinkhorn_backward_common.h"

namespace MhcPreSinkhornBackward {

using Mhc::FRACTAL_ROWS;
using Mhc::LoadLeft;
using Mhc::LoadRight;
using Mhc::Nd2Nz;

class Cube {
public:
    __aicore__ inline void Init(const Addresses &addresses, const TilingData &tiling, TPipe *pipe)
    {
        tiling_ = &tiling;
        width_ = tiling.streams * tiling.tail;
        mixFractals_ = RoundUp(tiling.mix, FRACTAL_ROWS);
        workspace_.Init(addresses.workspace, tiling, GetBlockIdx());
        gradPhi_.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(addresses.gradPhi), tiling.mix * width_);

        pipe->InitBuffer(phi1_, 1, tiling.streamsPerSweep * COLUMNS * tiling.mixRows * sizeof(float));
        pipe->InitBuffer(grad1_, 2, (TILE * tiling.mixRows + mixFractals_ * TILE) * sizeof(float));
        pipe->InitBuffer(x1_, SLOTS, TILE * COLUMNS * sizeof(float));
        pipe->InitBuffer(a2_, 2, TILE * mixFractals_ * sizeof(float));
        pipe->InitBuffer(b2_, 2, K_STEP * COLUMNS * sizeof(float));
        pipe->InitBuffer(product_, SLOTS, TILE * COLUMNS * sizeof(float));
        pipe->InitBuffer(sum_, 1, tiling.streamsPerSweep * mixFractals_ * COLUMNS * sizeof(float));
        SetHF32Mode(HF32Mode::DISABLE); // whatever ran before: the products are full float32
    }

    // SPLIT: the tokens are split too, and gradPhi goes to workspace, one partial sum per part.
    template <bool SPLIT>
    __aicore__ inline void Process()
    {
        const ColumnWork work(*tiling_, GetBlockIdx());
        const uint64_t turns = work.Turns();
        uint64_t turn = 0;
        for (uint64_t index = 0; index < work.Units(); ++index) {
            const Unit unit = work.At(index);
            LoadPhi(unit);
            LocalTensor<float> phi = phi1_.DeQue<float>();
            LocalTensor<float> sum = sum_.AllocTensor<float>();
            for (uint64_t tile = 0; tile < unit.Tiles(); ++tile) {
                const uint32_t rows = unit.Rows(tile);
                LoadGradients(unit.token + tile * TILE, rows);
                LocalTensor<float> grad = grad1_.DeQue<float>();
                for (uint32_t stream = 0; stream < unit.streams; ++stream, ++turn) {
                    const uint16_t slot = static_cast<uint16_t>(turn % SLOTS);
                    Product(grad, phi[stream * COLUMNS * tiling_->mixRows], rows);
                    if (turn >= SLOTS) {
                        CrossCoreWaitFlag(FLAG_PRODUCT_FREE + slot);
                    }
                    StoreProduct(slot, rows);
                    CrossCoreSetFlag<2, PIPE_FIX>(FLAG_PRODUCT_READY + slot);

                    CrossCoreWaitFlag(FLAG_X_READY + slot);
                    LoadX(slot, rows);
                    if (turn + SLOTS < turns) { // nobody waits for the last ones
                        CrossCoreSetFlag<2, PIPE_MTE2>(FLAG_X_FREE + slot);
                    }
                    AddGradPhi(sum[stream * mixFractals_ * COLUMNS], grad[TILE * tiling_->mixRows], rows, tile == 0);
                }
                grad1_.FreeTensor(grad);
            }
            phi1_.FreeTensor(phi);
            sum_.EnQue(sum);
            StoreGradPhi<SPLIT>(unit);
        }
    }

private:
    static constexpr uint32_t K_STEP = 64; // of L0B at a time

    // phi^T of the unit's columns: [stream][k1][COLUMNS][8], k over the rows of phi.
    __aicore__ inline void LoadPhi(const Unit &unit)
    {
        const uint32_t k = tiling_->mixRows;
        LocalTensor<float> phi = phi1_.AllocTensor<float>();
        for (uint32_t stream = 0; stream < unit.streams; ++stream) {
            const uint64_t column = (unit.stream + stream) * tiling_->tail + unit.column;
            DataCopy(phi[stream * COLUMNS * k], workspace_.phi[column * k], Nd2Nz(COLUMNS, k, k, COLUMNS));
        }
        phi1_.EnQue(phi);
    }

    // The gradient of hcBeforeNorm of a tile, both ways: [k1][rows][8] with k over mix, then [k1][mix][8] with k over tokens.
    __aicore__ inline void LoadGradients(uint64_t token, uint32_t rows)
    {
        const uint32_t k = tiling_->mixRows;
        LocalTensor<float> grad = grad1_.AllocTensor<float>();
        DataCopy(grad, workspace_.rows[token * k], Nd2Nz(rows, k, k, RoundUp(rows, FRACTAL_ROWS)));
        LocalTensor<float> planes = grad[TILE * k];
        if (tiling_->tokenStride <= Mhc::LARGEST_ND_STRIDE) {
            DataCopy(planes, workspace_.planes[token],
                     Nd2Nz(tiling_->mix, rows, static_cast<uint32_t>(tiling_->tokenStride), mixFractals_));
        } else {
            for (uint32_t row = 0; row < tiling_->mix; ++row) {
                DataCopy(planes[row * FP32_BLOCK], workspace_.planes[row * tiling_->tokenStride + token],
                         Nd2Nz(1, rows, rows, mixFractals_));
            }
        }
        grad1_.EnQue(grad);
    }

    // x^T of a tile, [groups][COLUMNS][16] in the slot, becomes [k1][COLUMNS][8] with k over tokens.
    __aicore__ inline void LoadX(uint16_t slot, uint32_t rows)
    {
        LocalTensor<float> x = x1_.AllocTensor<float>();
        Nd2NzParams params = Nd2Nz(COLUMNS, GROUP, GROUP, COLUMNS);
        params.ndNum = static_cast<uint16_t>((rows + GROUP - 1) / GROUP);
        params.srcNdMatrixStride = COLUMNS * GROUP;
        params.dstNzMatrixStride = COLUMNS * GROUP;
        DataCopy(x, workspace_.x[slot], params);
        x1_.EnQue(x);
    }

    __aicore__ inline void Product(const LocalTensor<float> &grad, const LocalTensor<float> &phi, uint32_t rows)
    {
        LocalTensor<float> product = product_.AllocTensor<float>();
        // m = 1 would switch to the GEMV layout
        Multiply(product, grad, RoundUp(rows, FRACTAL_ROWS), RoundUp(rows, FRACTAL_ROWS), phi, tiling_->mix, true);
        product_.EnQue(product);
    }

    __aicore__ inline void AddGradPhi(const LocalTensor<float> &sum, const LocalTensor<float> &grad, uint32_t rows, bool first)
    {
        LocalTensor<float> x = x1_.DeQue<float>();
        Multiply(sum, grad, tiling_->mix, mixFractals_, x, rows, first);
        x1_.FreeTensor(x);
    }

    // c (+)= a . b with b COLUMNS wide; a is [k1][mAligned][8] and b [k1][COLUMNS][8] in L1.
    __aicore__ inline void Multiply(const LocalTensor<float> &c, const LocalTensor<float> &a, uint32_t m, uint32_t mAligned,
                                    const LocalTensor<float> &b, uint32_t k, bool first)
    {
        for (uint32_t from = 0; from < k; from += K_STEP) {
            const uint32_t count = k - from < K_STEP ? k - from : K_STEP;
            const uint32_t fractals = (count + FP32_BLOCK - 1) / FP32_BLOCK;
            LocalTensor<float> a2 = a2_.AllocTensor<float>();
            LoadLeft(a2, a[from * mAligned], mAligned / FRACTAL_ROWS, fractals);
            a2_.EnQue(a2);
            LocalTensor<float> b2 = b2_.AllocTensor<float>();
            LoadRight(b2, b[from * COLUMNS], COLUMNS / FRACTAL_ROWS, fractals);
            b2_.EnQue(b2);

            a2 = a2_.DeQue<float>();
            b2 = b2_.DeQue<float>();
            MmadParams params;
            params.m = static_cast<uint16_t>(m);
            params.n = COLUMNS;
            params.k = static_cast<uint16_t>(count); // what lies behind k in the last fractals is not used
            params.cmatrixInitVal = first && from == 0;
            Mmad(c, a2, b2, params);
            PipeBarrier<PIPE_M>();
            a2_.FreeTensor(a2);
            b2_.FreeTensor(b2);
        }
    }

    static __aicore__ inline DataCopyCO12DstParams RowMajor(uint32_t rows, uint32_t fractalRows, uint64_t stride)
    {
        DataCopyCO12DstParams params;
        params.nSize = COLUMNS;
        params.mSize = static_cast<uint16_t>(rows);
        params.dstStride = static_cast<uint32_t>(stride);
        params.srcStride = static_cast<uint16_t>(fractalRows);
        params.quantPre = QuantMode_t::NoQuant;
        params.nz2ndEn = true;
        return params;
    }

    __aicore__ inline void StoreProduct(uint16_t slot, uint32_t rows)
    {
        LocalTensor<float> product = product_.DeQue<float>();
        SetFixpipeNz2ndFlag(1, 0, 0);
        DataCopy(workspace_.products[slot], product, RowMajor(rows, RoundUp(rows, FRACTAL_ROWS), COLUMNS));
        product_.FreeTensor(product);
    }

    template <bool SPLIT>
    __aicore__ inline void StoreGradPhi(const Unit &unit)
    {
        LocalTensor<float> sum = sum_.DeQue<float>();
        const uint64_t partial = unit.part * tiling_->mix * width_;
        for (uint32_t stream = 0; stream < unit.streams; ++stream) {
            const uint64_t column = (unit.stream + stream) * tiling_->tail + unit.column;
            const GlobalTensor<float> to = SPLIT ? workspace_.gradPhi[partial + column] : gradPhi_[column];
            SetFixpipeNz2ndFlag(1, 0, 0);
            DataCopy(to, sum[stream * mixFractals_ * COLUMNS], RowMajor(tiling_->mix, mixFractals_, width_));
        }
        sum_.FreeTensor(sum);
    }

    const TilingData *tiling_ = nullptr;
    uint64_t width_ = 0;       // n*c
    uint32_t mixFractals_ = 0; // mix in whole fractals
    Workspace workspace_;
    GlobalTensor<float> gradPhi_;
    TQue<TPosition::B1, 1> phi1_;
    TQue<TPosition::A1, 2> grad1_;
    TQue<TPosition::B1, SLOTS> x1_;
    TQue<TPosition::A2, 2> a2_;
    TQue<TPosition::B2, 2> b2_;
    TQue<TPosition::CO1, SLOTS> product_;
    TQue<TPosition::CO1, 1> sum_;
};

} // namespace MhcPreSinkhornBackward

#endif // MHC_PRE_SINKHORN_BACKWARD_CUBE_H
