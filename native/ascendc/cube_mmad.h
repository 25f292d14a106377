// Mmad: L0C = L0A x L0B, in float.
#pragma once

#include "cube_load.h"

ASCENDC_BEGIN

struct MmadParams {
    MmadParams() {}
    MmadParams(const uint16_t mIn, const uint16_t nIn, const uint16_t kIn, const bool isBiasIn, const int32_t fmOffsetIn,
               const bool enSsparseIn, const bool enWinogradAIn, const bool enWinogradBIn)
        : m(mIn), n(nIn), k(kIn), isBias(isBiasIn), fmOffset(fmOffsetIn), enSsparse(enSsparseIn), enWinogradA(enWinogradAIn),
          enWinogradB(enWinogradBIn)
    {
    }
    MmadParams(const uint16_t mIn, const uint16_t nIn, const uint16_t kIn, const uint8_t unitFlagIn, const bool cmatrixSourceIn,
               const bool cmatrixInitValIn)
        : m(mIn), n(nIn), k(kIn), unitFlag(unitFlagIn), cmatrixSource(cmatrixSourceIn), cmatrixInitVal(cmatrixInitValIn)
    {
    }
    uint16_t m = 0;
    uint16_t n = 0;
    uint16_t k = 0;
    bool isBias = false;
    int32_t fmOffset = 0;
    bool enSsparse = false;
    bool enWinogradA = false;
    bool enWinogradB = false;
    uint8_t unitFlag = 0;
    bool kDirectionAlign = false;
    bool cmatrixSource = false;
    bool cmatrixInitVal = true;
    bool disableGemv = false;
};

// The reduced float of the cube: 10 bits of mantissa, the rest cut off.
inline void SetHF32Mode(HF32Mode hf32Mode)
{
    ThisCore().hf32 = hf32Mode == HF32Mode::ENABLE ? 1 : 0;
}
inline void SetHF32Mode(bool hf32Mode)
{
    ThisCore().hf32 = hf32Mode ? 1 : 0;
}
// How the chip rounds to that format; the twin cuts off in both modes.
inline void SetHF32TransMode(HF32TransMode hf32TransMode)
{
    ThisCore().hf32Trans = static_cast<uint32_t>(hf32TransMode);
}
inline void SetHF32TransMode(bool hf32TransMode)
{
    ThisCore().hf32Trans = hf32TransMode ? 1 : 0;
}

#if defined(__AVX512F__)
constexpr uint32_t kVector = 16;
#elif defined(__AVX__)
constexpr uint32_t kVector = 8;
#else
constexpr uint32_t kVector = 4;
#endif
typedef float MmadVector __attribute__((vector_size(kVector * 4)));

// Where L0A's and L0C's elements are. Rows of A in one fractal are k0 floats apart.
struct MmadTile {
    const float *a;          // row 0 of the tile
    uint64_t aFractalStep;   // floats from one fractal along k to the next
    const float *b;          // [k][bRow] packed
    uint32_t bRow;
    float *c[3];             // the tile's vectors of row 0; the next row is 16 floats on
    uint32_t k;
    bool load;               // add to what is in c
};

// rows x (vectors * kVector) elements, with all sums in registers. The only place where a multiplication and an addition may
// fuse; noinline because a caller cannot share that option.
template <uint32_t rows, uint32_t vectors, uint32_t k0>
__attribute__((noinline, optimize("fp-contract=fast"))) void MmadKernel(const MmadTile &tile)
{
    MmadVector sum[rows][vectors];
#pragma GCC unroll 8
    for (uint32_t row = 0; row < rows; ++row) {
#pragma GCC unroll 8
        for (uint32_t v = 0; v < vectors; ++v) {
            sum[row][v] = MmadVector{};
        }
    }
    const float *b = tile.b;
    const float *a = tile.a;
    uint32_t left = tile.k;
    while (left > 0) {
        const uint32_t count = left < k0 ? left : k0;
        for (uint32_t k = 0; k < count; ++k) {
            MmadVector bs[vectors];
#pragma GCC unroll 8
            for (uint32_t v = 0; v < vectors; ++v) {
                __builtin_memcpy(&bs[v], b + v * kVector, sizeof(MmadVector));
            }
#pragma GCC unroll 8
            for (uint32_t row = 0; row < rows; ++row) {
                const float x = a[row * k0 + k];
#pragma GCC unroll 8
                for (uint32_t v = 0; v < vectors; ++v) {
                    sum[row][v] += x * bs[v];
                }
            }
            b += tile.bRow;
        }
        a += tile.aFractalStep;
        left -= count;
    }
#pragma GCC unroll 8
    for (uint32_t row = 0; row < rows; ++row) {
#pragma GCC unroll 8
        for (uint32_t v = 0; v < vectors; ++v) {
            if (tile.load) { // added last: one rounding per call, not per k, on the way to a long sum
                MmadVector before;
                __builtin_memcpy(&before, tile.c[v] + row * 16, sizeof(MmadVector));
                sum[row][v] += before;
            }
            __builtin_memcpy(tile.c[v] + row * 16, &sum[row][v], sizeof(MmadVector));
        }
    }
}

template <uint32_t rows, uint32_t k0>
ASCENDC_INLINE void MmadVectors(const MmadTile &tile, uint32_t vectors)
{
    switch (vectors) {
        case 1: return MmadKernel<rows, 1, k0>(tile);
        case 2: return MmadKernel<rows, 2, k0>(tile);
        default: return MmadKernel<rows, 3, k0>(tile);
    }
}

ASCENDC_INLINE void CopyHf32(float *to, const float *from, uint64_t count)
{
    for (uint64_t i = 0; i < count; ++i) {
        to[i] = BitsFloat(FloatBits(from[i]) & 0xffffe000u);
    }
}

// An operand as floats in its own order: itself, or converted into `room`.
template <typename T>
ASCENDC_INLINE const float *AsFloat(float *room, const T *from, uint64_t count, bool hf32)
{
    if constexpr (std::is_same_v<T, float>) {
        if (!hf32) {
            return from;
        }
        CopyHf32(room, from, count);
    } else {
        Widen(room, from, static_cast<uint32_t>(count));
    }
    return room;
}

typedef float FourFloats __attribute__((vector_size(16)));
typedef int32_t FourLanes __attribute__((vector_size(16)));

// Four rows of four become four columns: to[j][i] = from[i][j].
ASCENDC_INLINE void Transpose4x4(float *to, size_t toRow, const float *from, size_t fromRow)
{
    FourFloats row[4];
    for (uint32_t i = 0; i < 4; ++i) {
        __builtin_memcpy(&row[i], from + i * fromRow, sizeof(FourFloats));
    }
    const FourLanes low{0, 4, 1, 5}, high{2, 6, 3, 7}, first{0, 1, 4, 5}, second{2, 3, 6, 7};
    const FourFloats a = __builtin_shuffle(row[0], row[1], low);
    const FourFloats b = __builtin_shuffle(row[0], row[1], high);
    const FourFloats c = __builtin_shuffle(row[2], row[3], low);
    const FourFloats d = __builtin_shuffle(row[2], row[3], high);
    row[0] = __builtin_shuffle(a, c, first);
    row[1] = __builtin_shuffle(a, c, second);
    row[2] = __builtin_shuffle(b, d, first);
    row[3] = __builtin_shuffle(b, d, second);
    for (uint32_t i = 0; i < 4; ++i) {
        __builtin_memcpy(to + i * toRow, &row[i], sizeof(FourFloats));
    }
}

// L0B [k1][n1][16 n][k0] -> [k][n], as floats. `to` has room for whole fractals.
template <typename T>
ASCENDC_INLINE void PackB(float *to, const T *from, uint32_t k, uint32_t n1Count, bool hf32)
{
    constexpr uint32_t k0 = 32 / sizeof(T);
    const uint32_t row = n1Count * 16;
    for (uint32_t k1 = 0; k1 * k0 < k; ++k1) {
        for (uint32_t n1 = 0; n1 < n1Count; ++n1) {
            float room[16 * k0];
            const float *fractal = AsFloat(room, from + (size_t{k1} * n1Count + n1) * 16 * k0, 16 * k0, hf32);
            float *out = to + size_t{k1} * k0 * row + n1 * 16;
            for (uint32_t kk = 0; kk < k0; kk += 4) {
                for (uint32_t n = 0; n < 16; n += 4) {
                    Transpose4x4(out + size_t{kk} * row + n, row, fractal + n * k0 + kk, k0);
                }
            }
        }
    }
}

template <typename T>
constexpr bool kMmadType = std::is_same_v<T, float> || std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t>;

// `bias` is a row of n floats that every row starts from, or null.
template <typename T>
inline void MmadFloat(const LocalTensor<float> &dst, const LocalTensor<T> &fm, const LocalTensor<T> &filter, const float *bias,
                      const MmadParams &p)
{
    static_assert(kMmadType<T>, "Mmad does not exist for these dtypes");
    NeedCubeCore("Mmad");
    if (p.m == 0 || p.n == 0 || p.k == 0) {
        return;
    }
    if (ASCENDC_UNLIKELY(p.m > 4095 || p.n > 4095 || p.k > 4095)) {
        ::ascendc::Fail("Mmad: m %u, n %u and k %u must be at most 4095", p.m, p.n, p.k);
    }
    if (ASCENDC_UNLIKELY(p.enSsparse || p.enWinogradA || p.enWinogradB)) {
        ::ascendc::Fail("Mmad: sparse and Winograd matrices do not exist on this chip");
    }
    auto &core = ThisCore();
    constexpr uint32_t k0 = 32 / sizeof(T);
    constexpr bool isFloat = std::is_same_v<T, float>;
    const uint32_t kAligned = AlignUp<uint32_t>(p.k, isFloat && p.kDirectionAlign ? 16 : k0);
    const uint32_t k1Count = kAligned / k0;
    const uint32_t m1Count = CeilDiv<uint32_t>(p.m, 16);
    const uint32_t n1Count = CeilDiv<uint32_t>(p.n, 16);
    const bool hf32 = isFloat && core.hf32 != 0;
    // One row turns the cube into a matrix-vector unit, which reads A as a plain row.
    const bool gemv = p.m == 1 && !p.disableGemv;
    const uint64_t aCount = gemv ? kAligned : uint64_t{m1Count} * k1Count * 16 * k0;
    const uint64_t bCount = uint64_t{n1Count} * k1Count * 16 * k0;
    const T *aIn = fm.Use(Memory::L0A, aCount * sizeof(T), kFractalBytes, "Mmad", "fm");
    const T *bIn = filter.Use(Memory::L0B, bCount * sizeof(T), kFractalBytes, "Mmad", "filter");
    const uint32_t mAligned = m1Count * 16;
    const uint64_t cCount = (uint64_t{n1Count - 1} * mAligned + p.m) * 16;
    float *c = dst.Use(Memory::L0C, cCount * sizeof(float), 1024, "Mmad", "dst");

    float *b = core.scratch;
    PackB(b, bIn, p.k, n1Count, hf32);
    const float *a = AsFloat(core.scratch + bCount, aIn, aCount, hf32);

    // L0A is [m1][k1] of fractals on 2201 and [k1][m1] on 3510.
    const bool nz = core.npuArch == 3510;
    const uint64_t fractal = 16 * k0;
    const uint64_t m1Step = nz ? fractal : k1Count * fractal;
    const uint64_t k1Step = gemv ? k0 : nz ? m1Count * fractal : fractal;
    const uint32_t row = n1Count * 16;
    const uint32_t rowVectors = CeilDiv<uint32_t>(p.n, kVector);
    bool load = !p.cmatrixInitVal;
    if (bias != nullptr) {
        for (uint32_t n1 = 0; n1 < n1Count; ++n1) {
            for (uint32_t m = 0; m < p.m; ++m) {
                __builtin_memcpy(c + (size_t{n1} * mAligned + m) * 16, bias + n1 * 16, 64);
            }
        }
        load = true;
    }
    for (uint32_t v = 0; v < rowVectors;) {
        const uint32_t rest = rowVectors - v;
        const uint32_t vectors = rest == 4 ? 2 : rest < 3 ? rest : 3;
        MmadTile tile;
        tile.b = b + v * kVector;
        tile.bRow = row;
        tile.aFractalStep = k1Step;
        tile.k = p.k;
        tile.load = load;
        float *column[3];
        for (uint32_t i = 0; i < vectors; ++i) {
            const uint32_t n = (v + i) * kVector;
            column[i] = c + size_t{n / 16} * mAligned * 16 + n % 16;
        }
        for (uint32_t m = 0; m < p.m; m += 4) {
            tile.a = a + (m / 16) * m1Step + (m % 16) * k0;
            for (uint32_t i = 0; i < vectors; ++i) {
                tile.c[i] = column[i] + size_t{m} * 16;
            }
            switch (p.m - m) {
                case 1: MmadVectors<1, k0>(tile, vectors); break;
                case 2: MmadVectors<2, k0>(tile, vectors); break;
                case 3: MmadVectors<3, k0>(tile, vectors); break;
                default: MmadVectors<4, k0>(tile, vectors); break;
            }
        }
        v += vectors;
    }
}

// C += A x B, or C = A x B with cmatrixInitVal.
template <typename DstT, typename Src0T, typename Src1T>
inline void Mmad(const LocalTensor<DstT> &dst, const LocalTensor<Src0T> &fm, const LocalTensor<Src1T> &filter,
                 const MmadParams &mmadParams)
{
    static_assert(std::is_same_v<DstT, float> && std::is_same_v<Src0T, Src1T>, "Mmad does not exist for these dtypes");
    if (ASCENDC_UNLIKELY(mmadParams.cmatrixSource)) {
        ::ascendc::Fail("Mmad: cmatrixSource asks for the bias table, but no bias is given");
    }
    MmadFloat(dst, fm, filter, nullptr, mmadParams);
}

// C = A x B + bias, the bias a row in the bias table (C2).
template <typename DstT, typename Src0T, typename Src1T, typename BiasT>
inline void Mmad(const LocalTensor<DstT> &dst, const LocalTensor<Src0T> &fm, const LocalTensor<Src1T> &filter,
                 const LocalTensor<BiasT> &bias, const MmadParams &mmadParams)
{
    static_assert(std::is_same_v<DstT, float> && std::is_same_v<Src0T, Src1T> && std::is_same_v<BiasT, float>,
                  "Mmad does not exist for these dtypes");
    const uint64_t bytes = AlignUp<uint64_t>(mmadParams.n, 16) * sizeof(float);
    MmadFloat(dst, fm, filter, bias.Use(Memory::BIAS, bytes, 64, "Mmad", "bias"), mmadParams);
}

ASCENDC_END
