// DataCopyPad: rows of any length between global memory and UB; in UB each row starts at a block of 32 bytes.
#pragma once

#include "data_copy.h"

ASCENDC_BEGIN

constexpr uint32_t kPadMostBytes = 2097151;

// What fills up a row in UB when DataCopyPad is not told: the pad register.
template <typename T, TPosition pos = TPosition::MAX>
inline void SetPadValue(T paddingValue)
{
    ThisCore().padValue = 0;
    __builtin_memcpy(&ThisCore().padValue, &paddingValue, sizeof(T) < 8 ? sizeof(T) : 8);
}

ASCENDC_INLINE void CheckPadRows(uint32_t blockCount, uint32_t blockLen, size_t size)
{
    if (ASCENDC_UNLIKELY(blockCount > 4095 || blockLen > kPadMostBytes || blockLen % size != 0)) {
        ::ascendc::Fail("DataCopyPad: blockCount %u must be at most 4095, blockLen %u at most %u bytes and a multiple of %u",
                        blockCount, blockLen, kPadMostBytes, static_cast<uint32_t>(size));
    }
}

template <typename T>
ASCENDC_INLINE void FillRow(uint8_t *to, uint32_t count, T value)
{
    for (uint32_t i = 0; i < count; ++i) {
        __builtin_memcpy(to + i * sizeof(T), &value, sizeof(T));
    }
}

template <typename T>
ASCENDC_INLINE void PadIn(const LocalTensor<T> &dst, const GlobalTensor<T> &src, uint32_t blockCount, uint32_t blockLen,
                          uint32_t srcStride, uint32_t dstStride, bool isPad, uint32_t left, uint32_t right, T padding)
{
    NeedVectorCore("DataCopyPad");
    CheckPadRows(blockCount, blockLen, sizeof(T));
    if (blockCount == 0 || blockLen == 0) {
        return;
    }
    if (ASCENDC_UNLIKELY(left * sizeof(T) > kBlockBytes || right * sizeof(T) > kBlockBytes)) {
        ::ascendc::Fail("DataCopyPad: leftPadding %u and rightPadding %u must each be at most 32 bytes", left, right);
    }
    if (!isPad) {
        __builtin_memcpy(static_cast<void *>(&padding), &ThisCore().padValue, sizeof(T));
    }
    const uint64_t used = blockLen + (uint64_t{left} + right) * sizeof(T);
    const uint64_t row = AlignUp<uint64_t>(used, kBlockBytes);
    const CopyRows toRows{blockCount, used, 0, row + uint64_t{dstStride} * kBlockBytes};
    const CopyRows fromRows{blockCount, blockLen, uint64_t{blockLen} + srcStride, 0};
    auto *to = reinterpret_cast<uint8_t *>(dst.Use(Memory::UB, toRows.DstExtent(), kBlockBytes, "DataCopyPad", "dst"));
    auto *from = reinterpret_cast<const uint8_t *>(src.Use(fromRows.SrcExtent(), "DataCopyPad", "src"));
    const auto after = static_cast<uint32_t>((row - left * sizeof(T) - blockLen) / sizeof(T));
    for (uint32_t i = 0; i < blockCount; ++i) {
        uint8_t *out = to + i * toRows.dstPitch;
        FillRow(out, left, padding);
        out += left * sizeof(T);
        __builtin_memcpy(out, from + i * fromRows.srcPitch, blockLen);
        FillRow(out + blockLen, after, padding);
    }
}

template <typename T>
ASCENDC_INLINE void PadOut(const GlobalTensor<T> &dst, const LocalTensor<T> &src, uint32_t blockCount, uint32_t blockLen,
                           uint32_t srcStride, uint32_t dstStride)
{
    NeedVectorCore("DataCopyPad");
    CheckPadRows(blockCount, blockLen, sizeof(T));
    if (blockCount == 0 || blockLen == 0) {
        return;
    }
    const CopyRows rows{blockCount, blockLen, AlignUp<uint64_t>(blockLen, kBlockBytes) + uint64_t{srcStride} * kBlockBytes,
                        uint64_t{blockLen} + dstStride};
    auto *from = reinterpret_cast<const uint8_t *>(src.Use(Memory::UB, rows.SrcExtent(), kBlockBytes, "DataCopyPad", "src"));
    auto *to = reinterpret_cast<uint8_t *>(dst.Use(rows.DstExtent(), "DataCopyPad", "dst"));
    for (uint32_t i = 0; i < blockCount; ++i) {
        StoreGlobal(reinterpret_cast<T *>(to + i * rows.dstPitch), reinterpret_cast<const T *>(from + i * rows.srcPitch), blockLen,
                    "DataCopyPad");
    }
}

// GM -> UB: strides are gaps, of bytes in GM and of blocks in UB.
template <typename T>
inline void DataCopyPad(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyExtParams &dataCopyParams,
                        const DataCopyPadExtParams<T> &padParams)
{
    const auto &p = dataCopyParams;
    PadIn(dst, src, p.blockCount, p.blockLen, p.srcStride, p.dstStride, padParams.isPad, padParams.leftPadding,
          padParams.rightPadding, padParams.paddingValue);
}
template <typename T>
inline void DataCopyPad(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyParams &dataCopyParams,
                        const DataCopyPadParams &padParams)
{
    const auto &p = dataCopyParams;
    T padding;
    __builtin_memcpy(static_cast<void *>(&padding), &padParams.paddingValue, sizeof(T));
    PadIn(dst, src, p.blockCount, p.blockLen, p.srcStride, p.dstStride, padParams.isPad, padParams.leftPadding,
          padParams.rightPadding, padding);
}

// UB -> GM: strides are gaps, of blocks in UB and of bytes in GM.
template <typename T>
inline void DataCopyPad(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyExtParams &dataCopyParams)
{
    PadOut(dst, src, dataCopyParams.blockCount, dataCopyParams.blockLen, dataCopyParams.srcStride, dataCopyParams.dstStride);
}
template <typename T>
inline void DataCopyPad(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &dataCopyParams)
{
    PadOut(dst, src, dataCopyParams.blockCount, dataCopyParams.blockLen, dataCopyParams.srcStride, dataCopyParams.dstStride);
}

ASCENDC_END
