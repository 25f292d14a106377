// The cube side: products of pooled query and pooled key, a tile of query blocks with all key blocks at a time.
#ifndef BSA_SELECT_BLOCK_MASK_CUBE_H
#define BSA_SELECT_BLOCK_MASK_CUBE_H

#include "bsa_select_block_mask_common.h"

namespace BSASelectBlockMask {

class Cube {
public:
    __aicore__ inline void Init(Batches *batches, Workspace *workspace, const BSASelectBlockMaskTilingData &tiling,
                                TPipe *pipe)
    {
        tiling_ = &tiling;
        batches_ = batches;
        workspace_ = workspace;
        const uint32_t rows = static_cast<uint32_t>(RoundUp(tiling.tileRows, FRACTAL_ROWS));
        pipe->InitBuffer(a1_, 1, rows * HEAD_DIM * sizeof(half));
        pipe->InitBuffer(b1_, 2, KEY_TILE * HEAD_DIM * sizeof(half));
        pipe->InitBuffer(a2_, 1, rows * HEAD_DIM * sizeof(half));
        pipe->InitBuffer(b2_, 2, KEY_TILE * HEAD_DIM * sizeof(half));
        pipe->InitBuffer(c_, 2, rows * KEY_TILE * sizeof(float));
    }

    __aicore__ inline void Process(uint64_t firstHead, uint64_t lastHead)
    {
        const uint64_t block = GetBlockIdx();
        for (Tiles tiles(*batches_, *tiling_, firstHead, lastHead, block, GetBlockNum()); tiles.Valid(); tiles.Next()) {
            const uint16_t slot = static_cast<uint16_t>(turn_ % SLOTS);
            if (turn_ >= SLOTS) {
                CrossCoreWaitFlag(FLAG_FREE + slot);
            }
            const uint64_t columns = batches_->Of(tiles.Head()).columns;
            Multiply(tiles.Head(), tiles.Row(), tiles.Rows(), columns, workspace_->Slot(block, slot, *tiling_));
            CrossCoreSetFlag<2, PIPE_FIX>(FLAG_READY + slot);
            ++turn_;
        }
    }

private:
    static constexpr uint32_t FRACTAL_ROWS = 16;
    static constexpr uint32_t C0 = 16; // halves in 32 bytes
    static constexpr uint32_t FRACTAL = FRACTAL_ROWS * C0;
    static constexpr uint32_t K_FRACTALS = HEAD_DIM / C0;

    static __aicore__ inline uint32_t RoundUp16(uint32_t value)
    {
        return (value + FRACTAL_ROWS - 1) / FRACTAL_ROWS * FRACTAL_ROWS;
    }

    __aicore__ inline void Multiply(uint64_t head, uint64_t row, uint32_t rows, uint64_t columns,
                                    const GlobalTensor<float> &to)
    {
        const uint32_t m = RoundUp16(rows); // m = 1 would switch to the GEMV layout
        LocalTensor<half> a1 = a1_.AllocTensor<half>();
        DataCopy(a1, workspace_->pooledQuery[(head * tiling_->xBlocks + row) * HEAD_DIM], Nd2Nz(rows, m));
        a1_.EnQue(a1);
        a1 = a1_.DeQue<half>();
        LocalTensor<half> a2 = a2_.AllocTensor<half>();
        LoadQuery(a2, a1, m / FRACTAL_ROWS);
        a2_.EnQue(a2);
        a1_.FreeTensor(a1);
        a2 = a2_.DeQue<half>();

        for (uint64_t column = 0; column < columns; column += KEY_TILE) {
            const uint32_t n = static_cast<uint32_t>(Smaller(KEY_TILE, columns - column));
            const uint32_t nAligned = RoundUp16(n);
            LocalTensor<half> b1 = b1_.AllocTensor<half>();
            DataCopy(b1, workspace_->pooledKey[(head * tiling_->yBlocks + column) * HEAD_DIM], Nd2Nz(n, nAligned));
            b1_.EnQue(b1);
            b1 = b1_.DeQue<half>();
            LocalTensor<half> b2 = b2_.AllocTensor<half>();
            LoadKey(b2, b1, nAligned / FRACTAL_ROWS);
            b2_.EnQue(b2);
            b1_.FreeTensor(b1);
            b2 = b2_.DeQue<half>();

            LocalTensor<float> c = c_.AllocTensor<float>();
            MmadParams params;
            params.m = static_cast<uint16_t>(m);
            params.n = static_cast<uint16_t>(n);
            params.k = HEAD_DIM;
            params.cmatrixInitVal = true;
            Mmad(c, a2, b2, params);
            b2_.FreeTensor(b2);
            c_.EnQue(c);
            Store(to[column], rows, n, m);
        }
        a2_.FreeTensor(a2);
    }

    static __aicore__ inline Nd2NzParams Nd2Nz(uint32_t rows, uint32_t nzRows)
    {
        Nd2NzParams params;
        params.ndNum = 1;
        params.nValue = static_cast<uint16_t>(rows);
        params.dValue = HEAD_DIM;
        params.srcNdMatrixStride = 0;
        params.srcDValue = HEAD_DIM;
        params.dstNzC0Stride = static_cast<uint16_t>(nzRows);
        params.dstNzNStride = 1;
        params.dstNzMatrixStride = 0;
        return params;
    }

#if defined(__NPU_ARCH__) && (__NPU_ARCH__ == 3510)
    // L0A and L0B hold what L1 holds, [k1][rows][16].
    static __aicore__ inline void LoadQuery(const LocalTensor<half> &a2, const LocalTensor<half> &a1, uint32_t fractals)
    {
        LoadFractals(a2, a1, fractals);
    }

    static __aicore__ inline void LoadKey(const LocalTensor<half> &b2, const LocalTensor<half> &b1, uint32_t fractals)
    {
        LoadFractals(b2, b1, fractals);
    }

    static __aicore__ inline void LoadFractals(const LocalTensor<half> &to, const LocalTensor<half> &from, uint32_t fractals)
    {
        LoadData2DParamsV2 params;
        params.mStep = static_cast<uint16_t>(fractals);
        params.kStep = K_FRACTALS;
        params.srcStride = static_cast<int32_t>(fractals);
        params.dstStride = static_cast<uint16_t>(fractals);
        LoadData(to, from, params);
    }
#else
    // L1 holds [k1][rows][16]; L0A wants [m1][k1][16][16].
    static __aicore__ inline void LoadQuery(const LocalTensor<half> &a2, const LocalTensor<half> &a1, uint32_t fractals)
    {
        LoadData2DParams params;
        params.repeatTimes = K_FRACTALS;
        params.srcStride = static_cast<uint16_t>(fractals);
        for (uint32_t fractal = 0; fractal < fractals; ++fractal) {
            LoadData(a2[fractal * K_FRACTALS * FRACTAL], a1[fractal * FRACTAL], params);
        }
    }

    // L1 holds [k1][n][16], which is what L0B wants.
    static __aicore__ inline void LoadKey(const LocalTensor<half> &b2, const LocalTensor<half> &b1, uint32_t fractals)
    {
        LoadData2DParams params;
        params.repeatTimes = static_cast<uint8_t>(K_FRACTALS * fractals);
        params.srcStride = 1;
        LoadData(b2, b1, params);
    }
#endif

    __aicore__ inline void Store(const GlobalTensor<float> &to, uint32_t rows, uint32_t n, uint32_t m)
    {
        LocalTensor<float> c = c_.DeQue<float>();
        DataCopyCO12DstParams params;
        params.nSize = static_cast<uint16_t>(n);
        params.mSize = static_cast<uint16_t>(rows);
        params.dstStride = tiling_->slotColumns;
        params.srcStride = static_cast<uint16_t>(m);
        params.quantPre = QuantMode_t::NoQuant;
        params.nz2ndEn = true;
        SetFixpipeNz2ndFlag(1, 0, 0);
        DataCopy(to, c, params);
        c_.FreeTensor(c);
    }

    const BSASelectBlockMaskTilingData *tiling_ = nullptr;
    Batches *batches_ = nullptr;
    Workspace *workspace_ = nullptr;
    uint64_t turn_ = 0;
    TQue<TPosition::A1, 1> a1_;
    TQue<TPosition::B1, 2> b1_;
    TQue<TPosition::A2, 1> a2_;
    TQue<TPosition::B2, 2> b2_;
    TQue<TPosition::CO1, 2> c_;
};

} // namespace BSASelectBlockMask

#endif // BSA_SELECT_BLOCK_MASK_CUBE_H
