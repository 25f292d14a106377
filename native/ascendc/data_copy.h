// Copies between global memory, UB and L1.
#pragma once

#include "atomic.h"
#include "vector_walk.h"

ASCENDC_BEGIN

struct DataCopyParams {
    DataCopyParams() {}
    DataCopyParams(const uint16_t count, const uint16_t len, const uint16_t srcStrideIn, const uint16_t dstStrideIn)
        : blockCount(count), blockLen(len), srcStride(srcStrideIn), dstStride(dstStrideIn)
    {
    }
    uint16_t blockCount = DEFAULT_DATA_COPY_NBURST;
    uint16_t blockLen = 0;
    uint16_t srcStride = DEFAULT_DATA_COPY_STRIDE;
    uint16_t dstStride = DEFAULT_DATA_COPY_STRIDE;
};

struct DataCopyExtParams {
    DataCopyExtParams() {}
    DataCopyExtParams(const uint16_t count, const uint32_t len, const uint32_t srcStrideIn, const uint32_t dstStrideIn,
                      const uint32_t rsvIn)
        : blockCount(count), blockLen(len), srcStride(srcStrideIn), dstStride(dstStrideIn), rsv(rsvIn)
    {
    }
    uint16_t blockCount = DEFAULT_DATA_COPY_NBURST;
    uint32_t blockLen = 0;
    uint32_t srcStride = DEFAULT_DATA_COPY_STRIDE;
    uint32_t dstStride = DEFAULT_DATA_COPY_STRIDE;
    uint32_t rsv = 0;
};

struct DataCopyPadParams {
    DataCopyPadParams() {}
    DataCopyPadParams(const bool isPadValue, const uint8_t leftPadValue, const uint8_t rightPadValue, const uint64_t padValue)
        : isPad(isPadValue), leftPadding(leftPadValue), rightPadding(rightPadValue), paddingValue(padValue)
    {
    }
    bool isPad = false;
    uint8_t leftPadding = 0;
    uint8_t rightPadding = 0;
    uint64_t paddingValue = 0;
};

template <typename T>
struct DataCopyPadExtParams {
    DataCopyPadExtParams() {}
    DataCopyPadExtParams(const bool isPadValue, const uint8_t leftPadValue, const uint8_t rightPadValue, T padValue)
        : isPad(isPadValue), leftPadding(leftPadValue), rightPadding(rightPadValue), paddingValue(padValue)
    {
    }
    bool isPad = false;
    uint8_t leftPadding = 0;
    uint8_t rightPadding = 0;
    T paddingValue = 0;
};

struct Nd2NzParams {
    Nd2NzParams() {}
    Nd2NzParams(const uint16_t ndNumIn, const uint16_t nValueIn, const uint16_t dValueIn, const uint16_t srcNdMatrixStrideIn,
                const uint16_t srcDValueIn, const uint16_t dstNzC0StrideIn, const uint16_t dstNzNStrideIn,
                const uint16_t dstNzMatrixStrideIn)
        : ndNum(ndNumIn), nValue(nValueIn), dValue(dValueIn), srcNdMatrixStride(srcNdMatrixStrideIn), srcDValue(srcDValueIn),
          dstNzC0Stride(dstNzC0StrideIn), dstNzNStride(dstNzNStrideIn), dstNzMatrixStride(dstNzMatrixStrideIn)
    {
    }
    uint16_t ndNum = 0;
    uint16_t nValue = 0;
    uint16_t dValue = 0;
    uint16_t srcNdMatrixStride = 0;
    uint16_t srcDValue = 0;
    uint16_t dstNzC0Stride = 0;
    uint16_t dstNzNStride = 0;
    uint16_t dstNzMatrixStride = 0;
};

struct CopyRepeatParams {
    CopyRepeatParams() {}
    CopyRepeatParams(const uint16_t dstStrideIn, const uint16_t srcStrideIn, uint16_t dstRepeatSizeIn, uint16_t srcRepeatSizeIn)
        : dstStride(dstStrideIn), srcStride(srcStrideIn), dstRepeatSize(dstRepeatSizeIn), srcRepeatSize(srcRepeatSizeIn)
    {
    }
    uint16_t dstStride = DEFAULT_BLK_STRIDE;
    uint16_t srcStride = DEFAULT_BLK_STRIDE;
    uint16_t dstRepeatSize = DEFAULT_REPEAT_STRIDE;
    uint16_t srcRepeatSize = DEFAULT_REPEAT_STRIDE;
};

// Rows of a block-wise copy, all in bytes. A pitch is start to start.
struct CopyRows {
    uint64_t rows, length, srcPitch, dstPitch;
    uint64_t SrcExtent() const { return rows == 0 ? 0 : (rows - 1) * srcPitch + length; }
    uint64_t DstExtent() const { return rows == 0 ? 0 : (rows - 1) * dstPitch + length; }
};

ASCENDC_INLINE CopyRows RowsOf(const DataCopyParams &params)
{
    if (ASCENDC_UNLIKELY(params.blockCount > 4095)) {
        ::ascendc::Fail("DataCopy: blockCount %u is more than 4095", params.blockCount);
    }
    const uint64_t length = uint64_t{params.blockLen} * kBlockBytes;
    CopyRows rows{params.blockCount, length, length + uint64_t{params.srcStride} * kBlockBytes,
                  length + uint64_t{params.dstStride} * kBlockBytes};
    if (length == 0) {
        rows.rows = 0;
    }
    return rows;
}

ASCENDC_INLINE uint64_t WholeBlocks(uint64_t count, size_t size)
{
    const uint64_t bytes = count * size;
    if (ASCENDC_UNLIKELY(bytes % kBlockBytes != 0)) {
        ::ascendc::Fail("DataCopy: %llu elements are %llu bytes, which is not a multiple of 32; use DataCopyPad",
                        static_cast<unsigned long long>(count), static_cast<unsigned long long>(bytes));
    }
    return bytes;
}

// The memory a copy from or to global memory may use: UB on a vector core, L1 on a cube core.
template <typename T>
ASCENDC_INLINE T *UseForGlobalCopy(const LocalTensor<T> &tensor, uint64_t bytes, const char *instruction, const char *operand)
{
    const Memory memory = ThisCore().aic != 0 ? Memory::L1 : Memory::UB;
    return tensor.Use(memory, bytes, kBlockBytes, instruction, operand);
}

// GM -> UB, GM -> L1
template <typename T>
inline void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyParams &repeatParams)
{
    const CopyRows rows = RowsOf(repeatParams);
    if (rows.rows == 0) {
        return;
    }
    auto *to = reinterpret_cast<uint8_t *>(UseForGlobalCopy(dst, rows.DstExtent(), "DataCopy", "dst"));
    auto *from = reinterpret_cast<const uint8_t *>(src.Use(rows.SrcExtent(), "DataCopy", "src"));
    for (uint64_t row = 0; row < rows.rows; ++row) {
        __builtin_memcpy(to + row * rows.dstPitch, from + row * rows.srcPitch, rows.length);
    }
}
template <typename T>
inline void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const uint32_t count)
{
    const uint64_t bytes = WholeBlocks(count, sizeof(T));
    if (bytes == 0) {
        return;
    }
    T *to = UseForGlobalCopy(dst, bytes, "DataCopy", "dst");
    __builtin_memcpy(to, src.Use(bytes, "DataCopy", "src"), bytes);
}

// UB -> GM
template <typename T>
inline void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &repeatParams)
{
    NeedVectorCore("DataCopy UB to GM");
    const CopyRows rows = RowsOf(repeatParams);
    if (rows.rows == 0) {
        return;
    }
    auto *from = reinterpret_cast<const uint8_t *>(src.Use(Memory::UB, rows.SrcExtent(), kBlockBytes, "DataCopy", "src"));
    auto *to = reinterpret_cast<uint8_t *>(dst.Use(rows.DstExtent(), "DataCopy", "dst"));
    for (uint64_t row = 0; row < rows.rows; ++row) {
        StoreGlobal(reinterpret_cast<T *>(to + row * rows.dstPitch), reinterpret_cast<const T *>(from + row * rows.srcPitch),
                    rows.length, "DataCopy");
    }
}
template <typename T>
inline void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t count)
{
    NeedVectorCore("DataCopy UB to GM");
    const uint64_t bytes = WholeBlocks(count, sizeof(T));
    if (bytes == 0) {
        return;
    }
    const T *from = src.Use(Memory::UB, bytes, kBlockBytes, "DataCopy", "src");
    StoreGlobal(dst.Use(bytes, "DataCopy", "dst"), from, bytes, "DataCopy");
}

// L1 -> bias table: block lengths and gaps of dst in units of 64 bytes, gaps of src of 32.
template <typename T>
inline void CopyToBiasTable(const LocalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &params)
{
    NeedCubeCore("DataCopy L1 to C2");
    if (params.blockCount == 0 || params.blockLen == 0) {
        return;
    }
    const uint64_t length = uint64_t{params.blockLen} * 64;
    const CopyRows rows{params.blockCount, length, length + uint64_t{params.srcStride} * kBlockBytes,
                        length + uint64_t{params.dstStride} * 64};
    auto *from = reinterpret_cast<const uint8_t *>(src.Use(Memory::L1, rows.SrcExtent(), kBlockBytes, "DataCopy L1 to C2", "src"));
    auto *to = reinterpret_cast<uint8_t *>(dst.Use(Memory::BIAS, rows.DstExtent(), 64, "DataCopy L1 to C2", "dst"));
    for (uint64_t row = 0; row < rows.rows; ++row) {
        __builtin_memcpy(to + row * rows.dstPitch, from + row * rows.srcPitch, length);
    }
}

// UB -> UB, and L1 -> bias table
template <typename T>
inline void DataCopy(const LocalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &repeatParams)
{
    if (dst.GetMemory() == Memory::BIAS) {
        return CopyToBiasTable(dst, src, repeatParams);
    }
    NeedVectorCore("DataCopy UB to UB");
    const CopyRows rows = RowsOf(repeatParams);
    if (rows.rows == 0) {
        return;
    }
    auto *from = reinterpret_cast<const uint8_t *>(src.Use(Memory::UB, rows.SrcExtent(), kBlockBytes, "DataCopy", "src"));
    auto *to = reinterpret_cast<uint8_t *>(dst.Use(Memory::UB, rows.DstExtent(), kBlockBytes, "DataCopy", "dst"));
    for (uint64_t row = 0; row < rows.rows; ++row) {
        __builtin_memmove(to + row * rows.dstPitch, from + row * rows.srcPitch, rows.length);
    }
}
template <typename T>
inline void DataCopy(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t count)
{
    NeedVectorCore("DataCopy UB to UB");
    const uint64_t bytes = WholeBlocks(count, sizeof(T));
    if (bytes == 0) {
        return;
    }
    const T *from = src.Use(Memory::UB, bytes, kBlockBytes, "DataCopy", "src");
    __builtin_memmove(dst.Use(Memory::UB, bytes, kBlockBytes, "DataCopy", "dst"), from, bytes);
}

// GM -> L1, from row-major n x d to blocks of 32 bytes of d: dst[d / c0][n][c0], the last block filled with zeros.
template <typename T>
inline void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const Nd2NzParams &params)
{
    NeedCubeCore("DataCopy with Nd2NzParams");
    if (params.ndNum == 0 || params.nValue == 0 || params.dValue == 0) {
        return;
    }
    constexpr uint32_t c0 = kBlockBytes / sizeof(T);
    const uint32_t whole = params.dValue / c0;
    const uint32_t rest = params.dValue % c0;
    const uint32_t blocks = whole + (rest != 0 ? 1 : 0);
    if (ASCENDC_UNLIKELY(params.nValue > 16384)) {
        ::ascendc::Fail("DataCopy with Nd2NzParams: nValue %u is more than 16384", params.nValue);
    }
    if (ASCENDC_UNLIKELY(params.srcDValue < params.dValue && params.nValue > 1)) {
        ::ascendc::Fail("DataCopy with Nd2NzParams: srcDValue %u, the length of a source row, is less than dValue %u",
                        params.srcDValue, params.dValue);
    }
    const uint64_t matrixBytes = uint64_t{params.dstNzMatrixStride} * sizeof(T);
    const uint64_t columnBytes = uint64_t{params.dstNzC0Stride} * kBlockBytes;
    const uint64_t rowBytes = uint64_t{params.dstNzNStride} * kBlockBytes;
    const uint64_t dstBytes = (params.ndNum - 1u) * matrixBytes + (blocks - 1) * columnBytes + (params.nValue - 1u) * rowBytes +
                              kBlockBytes;
    const uint64_t srcElements = uint64_t{params.ndNum - 1u} * params.srcNdMatrixStride +
                                 uint64_t{params.nValue - 1u} * params.srcDValue + params.dValue;
    auto *to = reinterpret_cast<uint8_t *>(dst.Use(Memory::L1, dstBytes, kBlockBytes, "DataCopy with Nd2NzParams", "dst"));
    const T *from = src.Use(srcElements * sizeof(T), "DataCopy with Nd2NzParams", "src");
    for (uint32_t matrix = 0; matrix < params.ndNum; ++matrix) {
        for (uint32_t row = 0; row < params.nValue; ++row) {
            auto *in = reinterpret_cast<const uint8_t *>(from + size_t{matrix} * params.srcNdMatrixStride +
                                                         size_t{row} * params.srcDValue);
            uint8_t *out = to + matrix * matrixBytes + row * rowBytes;
            for (uint32_t block = 0; block < whole; ++block) {
                __builtin_memcpy(out + block * columnBytes, in + block * kBlockBytes, kBlockBytes);
            }
            if (rest != 0) {
                uint8_t last[kBlockBytes] = {};
                __builtin_memcpy(last, in + whole * kBlockBytes, rest * sizeof(T));
                __builtin_memcpy(out + whole * columnBytes, last, kBlockBytes);
            }
        }
    }
}

// UB -> UB with a mask
template <bool isSetMask, typename Mask, typename T>
ASCENDC_INLINE void CopyRepeats(const LocalTensor<T> &dst, const LocalTensor<T> &src, Mask mask, RepeatTimes repeat,
                                const CopyRepeatParams &p)
{
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "Copy does not exist for this dtype");
    WalkRepeats<isSetMask>(
        "Copy", mask, repeat, [](auto n, T *d, const T *s) { __builtin_memmove(d, s, n * sizeof(T)); },
        Walk<T>{dst, "dst", p.dstStride, p.dstRepeatSize}, Walk<const T>{src, "src", p.srcStride, p.srcRepeatSize});
}
template <typename T, bool isSetMask = true>
inline void Copy(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint64_t mask[], const RepeatTimes repeatTimes,
                 const CopyRepeatParams &repeatParams)
{
    CopyRepeats<isSetMask>(dst, src, mask, repeatTimes, repeatParams);
}
template <typename T, bool isSetMask = true>
inline void Copy(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint64_t mask, const RepeatTimes repeatTimes,
                 const CopyRepeatParams &repeatParams)
{
    CopyRepeats<isSetMask>(dst, src, mask, repeatTimes, repeatParams);
}

ASCENDC_END
