// Float32 operands of the cube: from rows in global memory to fractals of 16 x 8 in L1, and on to L0A and L0B.
#ifndef MHC_FRACTALS_H
#define MHC_FRACTALS_H

#include "mhc_shape.h"

namespace Mhc {

constexpr uint32_t FRACTAL = FRACTAL_ROWS * FP32_BLOCK;
constexpr uint32_t LARGEST_ND_STRIDE = 65535; // Nd2Nz cannot step further between rows

// One matrix, `stride` elements from row to row, to [k1][nzRows][8] in L1.
__aicore__ inline Nd2NzParams Nd2Nz(uint32_t rows, uint32_t columns, uint32_t stride, uint32_t nzRows)
{
    Nd2NzParams params;
    params.ndNum = 1;
    params.nValue = static_cast<uint16_t>(rows);
    params.dValue = static_cast<uint16_t>(columns);
    params.srcNdMatrixStride = 0;
    params.srcDValue = static_cast<uint16_t>(stride);
    params.dstNzC0Stride = static_cast<uint16_t>(nzRows);
    params.dstNzNStride = 1;
    params.dstNzMatrixStride = 0;
    return params;
}

#if defined(__NPU_ARCH__) && (__NPU_ARCH__ == 3510)
// L0A and L0B hold what L1 holds, [k1][m][8] and [k1][n][8].
__aicore__ inline void LoadFractals(const LocalTensor<float> &to, const LocalTensor<float> &from, uint32_t rowFractals,
                                    uint32_t kFractals)
{
    LoadData2DParamsV2 params;
    params.mStep = static_cast<uint16_t>(rowFractals);
    params.kStep = static_cast<uint16_t>(kFractals);
    params.srcStride = static_cast<int32_t>(rowFractals);
    params.dstStride = static_cast<uint16_t>(rowFractals);
    LoadData(to, from, params);
}

__aicore__ inline void LoadLeft(const LocalTensor<float> &a2, const LocalTensor<float> &a1, uint32_t mFractals,
                                uint32_t kFractals)
{
    LoadFractals(a2, a1, mFractals, kFractals);
}

__aicore__ inline void LoadRight(const LocalTensor<float> &b2, const LocalTensor<float> &b1, uint32_t nFractals,
                                 uint32_t kFractals)
{
    LoadFractals(b2, b1, nFractals, kFractals);
}
#else
// L1 holds [k1][m][8]; L0A wants [m1][k1][16][8].
__aicore__ inline void LoadLeft(const LocalTensor<float> &a2, const LocalTensor<float> &a1, uint32_t mFractals,
                                uint32_t kFractals)
{
    LoadData2DParams params;
    params.repeatTimes = static_cast<uint8_t>(kFractals);
    params.srcStride = static_cast<uint16_t>(mFractals);
    for (uint32_t fractal = 0; fractal < mFractals; ++fractal) {
        LoadData(a2[fractal * kFractals * FRACTAL], a1[fractal * FRACTAL], params);
    }
}

// L1 holds [k1][n][8], which is what L0B wants.
__aicore__ inline void LoadRight(const LocalTensor<float> &b2, const LocalTensor<float> &b1, uint32_t nFractals,
                                 uint32_t kFractals)
{
    LoadData2DParams params;
    params.repeatTimes = static_cast<uint8_t>(kFractals * nFractals);
    params.srcStride = 1;
    LoadData(b2, b1, params);
}
#endif

} // namespace Mhc

#endif // MHC_FRACTALS_H
