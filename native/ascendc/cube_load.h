// L1 -> L0A and L0B, in fractals of 512 bytes: 16 rows of 32 bytes.
#pragma once

#include "tensor.h"

ASCENDC_BEGIN

constexpr uint32_t kFractalBytes = 512;

struct LoadData2DParams {
    LoadData2DParams() {}
    LoadData2DParams(const uint16_t startIndexIn, const uint8_t repeatTimesIn, const uint16_t srcStrideIn, const uint8_t sidIn,
                     const uint16_t dstGapIn, const bool ifTransposeIn, const uint8_t addrModeIn)
        : startIndex(startIndexIn), dstGap(dstGapIn), srcStride(srcStrideIn), ifTranspose(ifTransposeIn),
          repeatTimes(repeatTimesIn), sid(sidIn), addrMode(addrModeIn)
    {
    }
    uint16_t startIndex = 0;
    uint16_t dstGap = 0;
    uint16_t srcStride = 0;
    bool ifTranspose = 0;
    uint8_t repeatTimes = 0;
    uint8_t sid = 0;
    uint8_t addrMode = 0;
};
using LoadData2dParams = LoadData2DParams;

struct LoadData2DParamsV2 {
    LoadData2DParamsV2() {}
    LoadData2DParamsV2(const uint32_t mStartPositionIn, const uint32_t kStartPositionIn, const uint16_t mStepIn,
                       const uint16_t kStepIn, const int32_t srcStrideIn, const uint16_t dstStrideIn, const bool ifTransposeIn,
                       const uint8_t sidIn)
        : mStartPosition(mStartPositionIn), kStartPosition(kStartPositionIn), mStep(mStepIn), kStep(kStepIn),
          srcStride(srcStrideIn), dstStride(dstStrideIn), ifTranspose(ifTransposeIn), sid(sidIn)
    {
    }
    uint32_t mStartPosition = 0;
    uint32_t kStartPosition = 0;
    uint16_t mStep = 0;
    uint16_t kStep = 0;
    int32_t srcStride = 0;
    uint16_t dstStride = 0;
    bool ifTranspose = false;
    uint8_t sid = 0;
};

template <typename T>
struct LoadData3DParamsV2 {
    LoadData3DParamsV2() {}
    LoadData3DParamsV2(const uint8_t padListIn[PAD_SIZE], const uint16_t l1HIn, const uint16_t l1WIn, const uint16_t channelSizeIn,
                       const uint16_t kExtensionIn, const uint16_t mExtensionIn, const uint16_t kStartPtIn,
                       const uint16_t mStartPtIn, const uint8_t strideWIn, const uint8_t strideHIn, const uint8_t filterWIn,
                       const uint8_t filterHIn, const uint8_t dilationFilterWIn, const uint8_t dilationFilterHIn,
                       const bool enTransposeIn, const bool enSmallKIn, const T padValueIn, const bool filterSizeWIn = false,
                       const bool filterSizeHIn = false, const bool fMatrixCtrlIn = false)
        : l1H(l1HIn), l1W(l1WIn), channelSize(channelSizeIn), kExtension(kExtensionIn), mExtension(mExtensionIn),
          kStartPt(kStartPtIn), mStartPt(mStartPtIn), strideW(strideWIn), strideH(strideHIn), filterW(filterWIn),
          filterH(filterHIn), dilationFilterW(dilationFilterWIn), dilationFilterH(dilationFilterHIn), enTranspose(enTransposeIn),
          enSmallK(enSmallKIn), padValue(padValueIn), filterSizeW(filterSizeWIn), filterSizeH(filterSizeHIn),
          fMatrixCtrl(fMatrixCtrlIn)
    {
        for (uint32_t i = 0; i < PAD_SIZE; ++i) {
            padList[i] = padListIn[i];
        }
    }
    uint8_t padList[PAD_SIZE] = {0};
    uint16_t l1H = 0;
    uint16_t l1W = 0;
    uint16_t channelSize = 0;
    uint16_t kExtension = 0;
    uint16_t mExtension = 0;
    uint16_t kStartPt = 0;
    uint16_t mStartPt = 0;
    uint8_t strideW = 1;
    uint8_t strideH = 1;
    uint8_t filterW = 1;
    uint8_t filterH = 1;
    uint8_t dilationFilterW = 1;
    uint8_t dilationFilterH = 1;
    bool enTranspose = false;
    bool enSmallK = false;
    T padValue = 0;
    bool filterSizeW = false;
    bool filterSizeH = false;
    bool fMatrixCtrl = false;
};

struct IsResetLoad3dConfig {
    bool isSetFMatrix = true;
    bool isSetPadding = true;
};
constexpr IsResetLoad3dConfig IS_RESER_LOAD3D_DEFAULT_CONFIG = {true, true};

typedef uint8_t FractalRow __attribute__((vector_size(32), aligned(1), may_alias));

// A memcpy of 512 bytes: compilers make that a string instruction, which takes several times as long.
ASCENDC_INLINE void CopyFractal(uint8_t *to, const uint8_t *from)
{
    auto *out = reinterpret_cast<FractalRow *>(to);
    auto *in = reinterpret_cast<const FractalRow *>(from);
#pragma GCC unroll 16
    for (uint32_t row = 0; row < 16; ++row) {
        out[row] = in[row];
    }
}

// A 16 x 16 fractal of 16-bit elements.
ASCENDC_INLINE void TransposeFractal(uint8_t *to, const uint8_t *from)
{
    uint16_t in[16][16], out[16][16];
    __builtin_memcpy(in, from, kFractalBytes);
    for (uint32_t row = 0; row < 16; ++row) {
        for (uint32_t column = 0; column < 16; ++column) {
            out[column][row] = in[row][column];
        }
    }
    __builtin_memcpy(to, out, kFractalBytes);
}

// The destination of a load: L0A or L0B, whichever the tensor is in.
template <typename T>
ASCENDC_INLINE uint8_t *UseL0(const LocalTensor<T> &dst, uint64_t bytes, const char *instruction)
{
    const Memory memory = dst.GetMemory() == Memory::L0B ? Memory::L0B : Memory::L0A;
    return reinterpret_cast<uint8_t *>(dst.Use(memory, bytes, kFractalBytes, instruction, "dst"));
}

template <typename T, typename Source>
ASCENDC_INLINE void CopyFractals(uint8_t *to, const LoadData2DParams &p, Source &&source)
{
    static_assert(sizeof(T) <= 4, "LoadData does not exist for this dtype");
    for (uint32_t i = 0; i < p.repeatTimes; ++i) {
        const uint8_t *from = source(i);
        uint8_t *out = to + uint64_t{i} * (p.dstGap + 1u) * kFractalBytes;
        if (p.ifTranspose) {
            TransposeFractal(out, from);
        } else {
            CopyFractal(out, from);
        }
    }
}

// repeatTimes fractals: from index startIndex on in steps of srcStride fractals, to neighbours dstGap fractals apart.
template <typename T>
inline void LoadData(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LoadData2DParams &loadDataParams)
{
    NeedCubeCore("LoadData");
    const auto &p = loadDataParams;
    if (p.repeatTimes == 0) {
        return;
    }
    if (ASCENDC_UNLIKELY(p.ifTranspose && sizeof(T) != 2)) {
        ::ascendc::Fail("LoadData: ifTranspose needs 16-bit elements, these have %u bits", static_cast<uint32_t>(sizeof(T) * 8));
    }
    const uint64_t reach = uint64_t{p.repeatTimes - 1u} * p.srcStride;
    const bool down = p.addrMode == 1;
    if (ASCENDC_UNLIKELY(down && reach > p.startIndex)) {
        ::ascendc::Fail("LoadData: %u fractals down from index %u in steps of %u pass the start of src", p.repeatTimes,
                        p.startIndex, p.srcStride);
    }
    const uint64_t last = down ? p.startIndex : p.startIndex + reach;
    auto *from = reinterpret_cast<const uint8_t *>(src.Use(Memory::L1, (last + 1) * kFractalBytes, 32, "LoadData", "src"));
    uint8_t *to = UseL0(dst, (uint64_t{p.repeatTimes - 1u} * (p.dstGap + 1u) + 1) * kFractalBytes, "LoadData");
    CopyFractals<T>(to, p, [&](uint32_t i) {
        const uint64_t step = uint64_t{i} * p.srcStride;
        return from + (down ? p.startIndex - step : p.startIndex + step) * kFractalBytes;
    });
}

// The same from global memory, into L1 too.
template <typename T>
inline void LoadData(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const LoadData2DParams &loadDataParams)
{
    NeedCubeCore("LoadData");
    const auto &p = loadDataParams;
    if (p.repeatTimes == 0) {
        return;
    }
    if (ASCENDC_UNLIKELY(p.ifTranspose || p.addrMode != 0)) {
        ::ascendc::Fail("LoadData: ifTranspose and addrMode must be 0 for a source in global memory");
    }
    const uint64_t last = p.startIndex + uint64_t{p.repeatTimes - 1u} * p.srcStride;
    const uint64_t bytes = (uint64_t{p.repeatTimes - 1u} * (p.dstGap + 1u) + 1) * kFractalBytes;
    auto *from = reinterpret_cast<const uint8_t *>(src.Use((last + 1) * kFractalBytes, "LoadData", "src"));
    uint8_t *to = dst.GetMemory() == Memory::L1
                      ? reinterpret_cast<uint8_t *>(dst.Use(Memory::L1, bytes, 32, "LoadData", "dst"))
                      : UseL0(dst, bytes, "LoadData");
    CopyFractals<T>(to, p, [&](uint32_t i) { return from + (p.startIndex + uint64_t{i} * p.srcStride) * kFractalBytes; });
}

// 3510: a window of mStep x kStep fractals of an Nz matrix in L1, columns srcStride fractals apart; in L0 they are dstStride
// fractals apart.
template <typename T>
inline void LoadData(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LoadData2DParamsV2 &loadDataParams)
{
    NeedCubeCore("LoadData");
    const auto &p = loadDataParams;
    if (ASCENDC_UNLIKELY(ThisCore().npuArch != 3510)) {
        ::ascendc::Fail("LoadData: LoadData2DParamsV2 does not exist on this chip; use LoadData2DParams");
    }
    if (ASCENDC_UNLIKELY(p.ifTranspose)) {
        ::ascendc::Fail("LoadData: ifTranspose of LoadData2DParamsV2 is not emulated");
    }
    if (p.mStep == 0 || p.kStep == 0) {
        return;
    }
    if (ASCENDC_UNLIKELY(p.srcStride < 0)) {
        ::ascendc::Fail("LoadData: srcStride %d is negative", p.srcStride);
    }
    const auto srcStride = static_cast<uint64_t>(p.srcStride);
    const uint64_t lastSrc = (p.kStartPosition + p.kStep - 1) * srcStride + p.mStartPosition + p.mStep - 1;
    const uint64_t lastDst = (p.kStep - 1u) * uint64_t{p.dstStride} + p.mStep - 1;
    auto *from = reinterpret_cast<const uint8_t *>(src.Use(Memory::L1, (lastSrc + 1) * kFractalBytes, 32, "LoadData", "src"));
    uint8_t *to = UseL0(dst, (lastDst + 1) * kFractalBytes, "LoadData");
    for (uint32_t k = 0; k < p.kStep; ++k) {
        __builtin_memcpy(to + uint64_t{k} * p.dstStride * kFractalBytes,
                         from + ((p.kStartPosition + k) * srcStride + p.mStartPosition) * kFractalBytes,
                         uint64_t{p.mStep} * kFractalBytes);
    }
}

// The image-to-column load, for the case matrices need: a 1 x 1 filter on an image of l1H x l1W pixels without padding. Then
// pixel i is row i, channels are columns: an Nz matrix in L1 becomes Zz in L0A (Zn with enTranspose swapped roles in L0B).
template <typename T, const IsResetLoad3dConfig &defaultConfig = IS_RESER_LOAD3D_DEFAULT_CONFIG, typename U = PrimT<T>,
          typename std::enable_if<IsSameType<PrimT<T>, U>::value, bool>::type = true>
inline void LoadData(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LoadData3DParamsV2<U> &loadDataParams)
{
    NeedCubeCore("LoadData");
    const auto &p = loadDataParams;
    constexpr uint32_t c0 = 32 / sizeof(T);
    const bool plain = p.filterW == 1 && p.filterH == 1 && p.strideW == 1 && p.strideH == 1 && p.dilationFilterW == 1 &&
                       p.dilationFilterH == 1 && (p.padList[0] | p.padList[1] | p.padList[2] | p.padList[3]) == 0 &&
                       !p.filterSizeW && !p.filterSizeH;
    if (ASCENDC_UNLIKELY(!plain || p.enTranspose || p.enSmallK)) {
        ::ascendc::Fail("LoadData: of LoadData3DParamsV2 only 1 x 1 filters without padding, stride or transposition are emulated");
    }
    if (ASCENDC_UNLIKELY(p.kStartPt % c0 != 0 || p.mStartPt % 16 != 0 || p.kExtension % c0 != 0 || p.mExtension % 16 != 0)) {
        ::ascendc::Fail("LoadData: mStartPt %u and mExtension %u must be multiples of 16, kStartPt %u and kExtension %u of %u",
                        p.mStartPt, p.mExtension, p.kStartPt, p.kExtension, c0);
    }
    if (p.mExtension == 0 || p.kExtension == 0) {
        return;
    }
    const uint64_t pixels = uint64_t{p.l1H} * p.l1W;
    if (ASCENDC_UNLIKELY(uint64_t{p.mStartPt} + p.mExtension > pixels || uint32_t{p.kStartPt} + p.kExtension > p.channelSize)) {
        ::ascendc::Fail("LoadData: rows [%u, %u) of %llu and columns [%u, %u) of %u pass the end of the source", p.mStartPt,
                        p.mStartPt + p.mExtension, static_cast<unsigned long long>(pixels), p.kStartPt,
                        p.kStartPt + p.kExtension, p.channelSize);
    }
    const uint32_t firstColumn = p.kStartPt / c0;
    const uint32_t columns = p.kExtension / c0;
    const uint32_t rows = p.mExtension / 16;
    auto *from = reinterpret_cast<const uint8_t *>(
        src.Use(Memory::L1, ((firstColumn + columns - 1) * pixels + p.mStartPt + p.mExtension) * 32, 32, "LoadData", "src"));
    uint8_t *to = UseL0(dst, uint64_t{rows} * columns * kFractalBytes, "LoadData");
    for (uint32_t row = 0; row < rows; ++row) {
        for (uint32_t column = 0; column < columns; ++column) {
            const uint8_t *in = from + ((firstColumn + column) * pixels + p.mStartPt + row * 16u) * 32;
            CopyFractal(to + (uint64_t{row} * columns + column) * kFractalBytes, in);
        }
    }
}

ASCENDC_END
