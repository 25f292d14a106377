// The cube side: products = x~ . phi^T for one tile of tokens after the other, float32 in and out.
#ifndef MHC_PROJECTION_CUBE_H
#define MHC_PROJECTION_CUBE_H

#include "mhc_block_work.h"
#include "mhc_fractals.h"

namespace Mhc {

template <typename SHAPE>
class ProjectionCube {
public:
    __aicore__ inline void Init(GM_ADDR phi, GM_ADDR workspace, const MhcProjectionTilingData &tiling, TPipe *pipe)
    {
        tiling_ = &tiling;
        width_ = SHAPE::STREAMS * tiling.tail;
        workspace_.Init(workspace, tiling, GetBlockIdx());
        phi_.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(phi), SHAPE::MIX * width_);

        const uint32_t rows = 2 * tiling.rowsPerLoop;
        pipe->InitBuffer(a1_, SLOTS, rows * tiling.kPerSlot * sizeof(float));
        pipe->InitBuffer(b1_, SLOTS, SHAPE::PHI_ROWS * tiling.kPerSlot * sizeof(float));
        pipe->InitBuffer(a2_, 2, rows * SHAPE::K_STEP * sizeof(float));
        pipe->InitBuffer(b2_, 2, SHAPE::PHI_ROWS * SHAPE::K_STEP * sizeof(float));
        pipe->InitBuffer(c_, 1, rows * SHAPE::PHI_ROWS * sizeof(float));
    }

    // SPLIT_K: the products are partial sums, and the vector cores wait for those of all blocks.
    template <bool SPLIT_K>
    __aicore__ inline void Process()
    {
        SetMode(tiling_->hf32 != 0); // also when off: whatever ran before may have left it on
        const BlockWork work(*tiling_, width_, GetBlockIdx());
        const uint64_t total = work.Tiles() * work.Chunks();
        for (uint64_t tile = 0; tile < work.Tiles(); ++tile) {
            const uint32_t rows = work.Rows(tile);
            LocalTensor<float> c = c_.template AllocTensor<float>();
            for (uint64_t chunk = 0; chunk < work.Chunks(); ++chunk) {
                const uint64_t turn = tile * work.Chunks() + chunk;
                const uint16_t slot = static_cast<uint16_t>(turn % SLOTS);
                const uint32_t columns = work.Columns(chunk);
                CrossCoreWaitFlag(FLAG_READY + slot);
                LoadToL1(slot, work.Column(chunk), columns, rows);
                if (turn + SLOTS < total) { // nobody waits for the last ones
                    CrossCoreSetFlag<2, PIPE_MTE2>(FLAG_FREE + slot);
                }
                Multiply(c, rows, columns, chunk == 0);
            }
            c_.EnQue(c);
            StoreProducts(work.KPart() * tiling_->tokens + work.Start(tile), rows);
            if constexpr (!SPLIT_K) {
                CrossCoreSetFlag<2, PIPE_FIX>(FLAG_PRODUCT);
            }
        }
        if (tiling_->hf32 != 0) {
            PipeBarrier<PIPE_ALL>(); // no product may still be under way when the mode changes
            SetMode(false);
        }
        if constexpr (SPLIT_K) {
            SyncAll<false>();
        }
    }

private:
    static __aicore__ inline uint32_t RoundUp16(uint32_t value)
    {
        return (value + FRACTAL_ROWS - 1) / FRACTAL_ROWS * FRACTAL_ROWS;
    }

    static __aicore__ inline void SetMode(bool hf32)
    {
        SetHF32Mode(hf32 ? HF32Mode::ENABLE : HF32Mode::DISABLE);
        if (hf32) {
            SetHF32TransMode(HF32TransMode::NEAREST_ZERO);
        }
    }

    __aicore__ inline void LoadToL1(uint16_t slot, uint64_t column, uint32_t columns, uint32_t m)
    {
        LocalTensor<float> a = a1_.template AllocTensor<float>();
        DataCopy(a, workspace_.slots[slot], Nd2Nz(m, columns, columns, RoundUp16(m)));
        a1_.EnQue(a);

        LocalTensor<float> b = b1_.template AllocTensor<float>();
        if (width_ <= LARGEST_ND_STRIDE) {
            DataCopy(b, phi_[column], Nd2Nz(SHAPE::MIX, columns, static_cast<uint32_t>(width_), SHAPE::PHI_ROWS));
        } else {
            for (uint32_t row = 0; row < SHAPE::MIX; ++row) {
                DataCopy(b[row * FP32_BLOCK], phi_[row * width_ + column], Nd2Nz(1, columns, columns, SHAPE::PHI_ROWS));
            }
        }
        b1_.EnQue(b);
    }

    __aicore__ inline void Multiply(const LocalTensor<float> &c, uint32_t m, uint32_t columns, bool first)
    {
        LocalTensor<float> a1 = a1_.template DeQue<float>();
        LocalTensor<float> b1 = b1_.template DeQue<float>();
        const uint32_t mAligned = RoundUp16(m);
        for (uint32_t k = 0; k < columns; k += SHAPE::K_STEP) {
            const uint32_t step = static_cast<uint32_t>(Smaller(SHAPE::K_STEP, columns - k));
            LocalTensor<float> a2 = a2_.template AllocTensor<float>();
            LoadLeft(a2, a1[k * mAligned], mAligned / FRACTAL_ROWS, step / FP32_BLOCK);
            a2_.EnQue(a2);

            LocalTensor<float> b2 = b2_.template AllocTensor<float>();
            LoadRight(b2, b1[k * SHAPE::PHI_ROWS], SHAPE::PHI_ROWS / FRACTAL_ROWS, step / FP32_BLOCK);
            b2_.EnQue(b2);

            a2 = a2_.template DeQue<float>();
            b2 = b2_.template DeQue<float>();
            MmadParams params;
            params.m = static_cast<uint16_t>(mAligned); // m = 1 would switch to the GEMV layout
            params.n = SHAPE::MIX;
            params.k = static_cast<uint16_t>(step);
            params.cmatrixInitVal = first && k == 0;
            Mmad(c, a2, b2, params);
            PipeBarrier<PIPE_M>();
            a2_.FreeTensor(a2);
            b2_.FreeTensor(b2);
        }
        a1_.FreeTensor(a1);
        b1_.FreeTensor(b1);
    }

    __aicore__ inline void StoreProducts(uint64_t row, uint32_t m)
    {
        LocalTensor<float> c = c_.template DeQue<float>();
        DataCopyCO12DstParams params;
        params.nSize = SHAPE::MIX;
        params.mSize = static_cast<uint16_t>(m);
        params.dstStride = SHAPE::MIX_STRIDE;
        params.srcStride = static_cast<uint16_t>(RoundUp16(m));
        params.quantPre = QuantMode_t::NoQuant;
        params.nz2ndEn = true;
        SetFixpipeNz2ndFlag(1, 0, 0);
        DataCopy(workspace_.products[row * SHAPE::MIX_STRIDE], c, params);
        c_.FreeTensor(c);
    }

    const MhcProjectionTilingData *tiling_ = nullptr;
    uint64_t width_ = 0; // n*c
    ProjectionWorkspace workspace_;
    GlobalTensor<float> phi_;
    TQue<TPosition::A1, SLOTS> a1_;
    TQue<TPosition::B1, SLOTS> b1_;
    TQue<TPosition::A2, 2> a2_;
    TQue<TPosition::B2, 2> b2_;
    TQue<TPosition::CO1, 1> c_;
};

} // namespace Mhc

#endif // MHC_PROJECTION_CUBE_H
