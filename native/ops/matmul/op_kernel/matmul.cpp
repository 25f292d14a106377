// Matmul: out = self . mat2 on the cube cores, sums in float32. mat2 comes transposed, [n, k], as L0B wants it.
#include "kernel_operator.h"

#include "matmul_tiling_data.h"

namespace Matmul {

using namespace AscendC;

template <typename T>
class Kernel {
public:
    __aicore__ inline void Init(GM_ADDR self, GM_ADDR mat2, GM_ADDR out, const MatmulTilingData &tiling, TPipe *pipe)
    {
        tiling_ = &tiling;
        self_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(self), tiling.m * tiling.k);
        mat2_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(mat2), tiling.n * tiling.k);
        out_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(out), tiling.m * tiling.n);
        pipe->InitBuffer(a1_, 2, tiling.mTile * tiling.kTile * sizeof(T));
        pipe->InitBuffer(b1_, 2, tiling.nTile * tiling.kTile * sizeof(T));
        pipe->InitBuffer(a2_, 2, tiling.mTile * tiling.kStep * sizeof(T));
        pipe->InitBuffer(b2_, 2, tiling.nTile * tiling.kStep * sizeof(T));
        pipe->InitBuffer(c_, 1, tiling.mTile * tiling.nTile * sizeof(float));
        SetHF32Mode(tiling.hf32 != 0 ? HF32Mode::ENABLE : HF32Mode::DISABLE);
        SetHF32TransMode(HF32TransMode::NEAREST_ZERO);
    }

    __aicore__ inline void Process()
    {
        const uint64_t nTiles = (tiling_->n + tiling_->nTile - 1) / tiling_->nTile;
        const uint64_t mTiles = (tiling_->m + tiling_->mTile - 1) / tiling_->mTile;
        for (uint64_t tile = GetBlockIdx(); tile < mTiles * nTiles; tile += GetBlockNum()) {
            MakeTile(tile / nTiles * tiling_->mTile, tile % nTiles * tiling_->nTile);
        }
        if (tiling_->hf32 != 0) {
            PipeBarrier<PIPE_ALL>(); // no product may still be under way when the mode changes
            SetHF32Mode(HF32Mode::DISABLE);
        }
    }

private:
    static constexpr uint32_t FRACTAL_ROWS = 16;
    static constexpr uint32_t C0 = 32 / sizeof(T);            // elements in a row of a fractal
    static constexpr uint32_t LARGEST_ND_STRIDE = 65535;      // Nd2Nz cannot step further between rows

    static __aicore__ inline uint32_t RoundUp(uint32_t value, uint32_t to)
    {
        return (value + to - 1) / to * to;
    }

    static __aicore__ inline uint32_t Smaller(uint64_t left, uint32_t most)
    {
        return left < most ? static_cast<uint32_t>(left) : most;
    }

    __aicore__ inline void MakeTile(uint64_t row, uint64_t column)
    {
        const uint32_t m = Smaller(tiling_->m - row, tiling_->mTile);
        const uint32_t n = Smaller(tiling_->n - column, tiling_->nTile);
        LocalTensor<float> c = c_.AllocTensor<float>();
        for (uint64_t k = 0; k < tiling_->k; k += tiling_->kTile) {
            const uint32_t width = Smaller(tiling_->k - k, tiling_->kTile);
            Load(a1_, self_, row * tiling_->k + k, m, width);
            Load(b1_, mat2_, column * tiling_->k + k, n, width);
            Multiply(c, m, n, width, k == 0);
        }
        c_.EnQue(c);
        Store(row * tiling_->n + column, m, n);
    }

    // `rows` rows of `width` elements, tiling.k apart, to [width / C0][rows up to 16][C0] in L1.
    template <typename Queue>
    __aicore__ inline void Load(Queue &queue, const GlobalTensor<T> &from, uint64_t offset, uint32_t rows, uint32_t width)
    {
        LocalTensor<T> to = queue.template AllocTensor<T>();
        const uint32_t nzRows = RoundUp(rows, FRACTAL_ROWS);
        if (tiling_->k <= LARGEST_ND_STRIDE) {
            DataCopy(to, from[offset], Nd2Nz(rows, width, static_cast<uint32_t>(tiling_->k), nzRows));
        } else {
            for (uint32_t row = 0; row < rows; ++row) {
                DataCopy(to[row * C0], from[offset + row * tiling_->k], Nd2Nz(1, width, width, nzRows));
            }
        }
        queue.EnQue(to);
    }

    static __aicore__ inline Nd2NzParams Nd2Nz(uint32_t rows, uint32_t width, uint32_t stride, uint32_t nzRows)
    {
        Nd2NzParams params;
        params.ndNum = 1;
        params.nValue = static_cast<uint16_t>(rows);
        params.dValue = static_cast<uint16_t>(width);
        params.srcNdMatrixStride = 0;
        params.srcDValue = static_cast<uint16_t>(stride);
        params.dstNzC0Stride = static_cast<uint16_t>(nzRows);
        params.dstNzNStride = 1;
        params.dstNzMatrixStride = 0;
        return params;
    }

    __aicore__ inline void Multiply(const LocalTensor<float> &c, uint32_t m, uint32_t n, uint32_t width, bool first)
    {
        LocalTensor<T> a1 = a1_.template DeQue<T>();
        LocalTensor<T> b1 = b1_.template DeQue<T>();
        const uint32_t mAligned = RoundUp(m, FRACTAL_ROWS);
        const uint32_t nAligned = RoundUp(n, FRACTAL_ROWS);
        for (uint32_t k = 0; k < width; k += tiling_->kStep) {
            const uint32_t step = Smaller(width - k, tiling_->kStep);
            const uint32_t kFractals = RoundUp(step, C0) / C0;
            LocalTensor<T> a2 = a2_.template AllocTensor<T>();
            LoadRows(a2, a1[k * mAligned], mAligned / FRACTAL_ROWS, kFractals);
            a2_.EnQue(a2);
            LocalTensor<T> b2 = b2_.template AllocTensor<T>();
            LoadColumns(b2, b1[k * nAligned], nAligned / FRACTAL_ROWS, kFractals);
            b2_.EnQue(b2);

            a2 = a2_.template DeQue<T>();
            b2 = b2_.template DeQue<T>();
            MmadParams params;
            params.m = static_cast<uint16_t>(mAligned); // m = 1 would switch to the GEMV layout
            params.n = static_cast<uint16_t>(n);
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

#if defined(__NPU_ARCH__) && (__NPU_ARCH__ == 3510)
    // L0A and L0B hold what L1 holds, [k1][rows][C0].
    static __aicore__ inline void LoadRows(const LocalTensor<T> &to, const LocalTensor<T> &from, uint32_t rows,
                                           uint32_t kFractals)
    {
        LoadData2DParamsV2 params;
        params.mStep = static_cast<uint16_t>(rows);
        params.kStep = static_cast<uint16_t>(kFractals);
        params.srcStride = static_cast<int32_t>(rows);
        params.dstStride = static_cast<uint16_t>(rows);
        LoadData(to, from, params);
    }

    static __aicore__ inline void LoadColumns(const LocalTensor<T> &to, const LocalTensor<T> &from, uint32_t columns,
                                              uint32_t kFractals)
    {
        LoadRows(to, from, columns, kFractals);
    }
#else
    // L1 holds [k1][m][C0]; L0A wants [m1][k1][16][C0].
    static __aicore__ inline void LoadRows(const LocalTensor<T> &to, const LocalTensor<T> &from, uint32_t rows,
                                           uint32_t kFractals)
    {
        constexpr uint32_t fractal = FRACTAL_ROWS * C0;
        LoadData2DParams params;
        params.repeatTimes = static_cast<uint8_t>(kFractals);
        params.srcStride = static_cast<uint16_t>(rows);
        for (uint32_t row = 0; row < rows; ++row) {
            LoadData(to[row * kFractals * fractal], from[row * fractal], params);
        }
    }

    // L1 holds [k1][n][C0], which is what L0B wants.
    static __aicore__ inline void LoadColumns(const LocalTensor<T> &to, const LocalTensor<T> &from, uint32_t columns,
                                              uint32_t kFractals)
    {
        LoadData2DParams params;
        params.repeatTimes = static_cast<uint8_t>(columns * kFractals);
        params.srcStride = 1;
        LoadData(to, from, params);
    }
#endif

    __aicore__ inline void Store(uint64_t offset, uint32_t m, uint32_t n)
    {
        LocalTensor<float> c = c_.template DeQue<float>();
        DataCopyCO12DstParams params;
        params.nSize = static_cast<uint16_t>(n);
        params.mSize = static_cast<uint16_t>(m);
        params.dstStride = static_cast<uint32_t>(tiling_->n);
        params.srcStride = static_cast<uint16_t>(RoundUp(m, FRACTAL_ROWS));
        params.quantPre = IsSameType<T, float>::value  ? QuantMode_t::NoQuant
                          : IsSameType<T, half>::value ? QuantMode_t::F322F16
                                                       : QuantMode_t::F322BF16;
        params.nz2ndEn = true;
        SetFixpipeNz2ndFlag(1, 0, 0);
        DataCopy(out_[offset], c, params);
        c_.FreeTensor(c);
    }

    const MatmulTilingData *tiling_ = nullptr;
    GlobalTensor<T> self_;
    GlobalTensor<T> mat2_;
    GlobalTensor<T> out_;
    TQue<TPosition::A1, 2> a1_;
    TQue<TPosition::B1, 2> b1_;
    TQue<TPosition::A2, 2> a2_;
    TQue<TPosition::B2, 2> b2_;
    TQue<TPosition::CO1, 1> c_;
};

} // namespace Matmul

extern "C" __global__ __aicore__ void matmul(GM_ADDR self, GM_ADDR mat2, GM_ADDR out, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    REGISTER_TILING_DEFAULT(MatmulTilingData);
    GET_TILING_DATA_WITH_STRUCT(MatmulTilingData, tilingData, tiling);
    AscendC::TPipe pipe;
    Matmul::Kernel<DTYPE_SELF> kernel;
    kernel.Init(self, mat2, out, tilingData, &pipe);
    kernel.Process();
}
