// TransDataTo5HD and Transpose.
#pragma once

#include "vector_walk.h"

ASCENDC_BEGIN

struct TransDataTo5HDParams {
    TransDataTo5HDParams() {}
    TransDataTo5HDParams(const bool dstHighHalfIn, const bool srcHighHalfIn, const uint8_t repeatTimesIn,
                         const uint16_t dstRepStrideIn, const uint16_t srcRepStrideIn)
        : dstHighHalf(dstHighHalfIn), srcHighHalf(srcHighHalfIn), repeatTimes(repeatTimesIn), dstRepStride(dstRepStrideIn),
          srcRepStride(srcRepStrideIn)
    {
    }
    bool dstHighHalf = false;
    bool srcHighHalf = false;
    uint8_t repeatTimes = 1;
    uint16_t dstRepStride = 0;
    uint16_t srcRepStride = 0;
};

// A block of 32 bytes in UB given by its address.
ASCENDC_INLINE uint8_t *BlockAt(uint64_t address, uint64_t offset, const char *operand, uint32_t index)
{
    const auto &core = ThisCore();
    const auto base = reinterpret_cast<uint64_t>(core.memory[static_cast<uint32_t>(Memory::UB)]);
    const uint64_t size = core.memorySize[static_cast<uint32_t>(Memory::UB)];
    if (ASCENDC_UNLIKELY(address < base || address % kBlockBytes != 0 || address - base + offset + kBlockBytes > size)) {
        ::ascendc::Fail("TransDataTo5HD: %s[%u] is not the address of a 32-byte block of UB (UB address %lld)", operand, index,
                        static_cast<long long>(address - base + offset));
    }
    return reinterpret_cast<uint8_t *>(address + offset);
}

// Sixteen source blocks are the rows of a matrix; its columns fill the destination blocks. 16-bit: 16 x 16, one block a column.
// 32-bit: 16 x 8, two blocks a column. 8-bit: half blocks of 16 x 16.
template <typename T>
ASCENDC_INLINE void TransposeBlocks(const uint64_t *dstList, const uint64_t *srcList, const TransDataTo5HDParams &p)
{
    NeedVectorCore("TransDataTo5HD");
    constexpr uint32_t rows = 16;
    constexpr uint32_t columns = sizeof(T) == 4 ? 8 : 16;
    for (uint32_t repeat = 0; repeat < p.repeatTimes; ++repeat) {
        // A single repeat starts one stride further, several start at the lists' addresses.
        const uint64_t step = p.repeatTimes == 1 ? 1 : repeat;
        T matrix[rows][columns];
        for (uint32_t row = 0; row < rows; ++row) {
            const uint8_t *from = BlockAt(srcList[row], step * p.srcRepStride * kBlockBytes, "src", row);
            from += sizeof(T) == 1 && p.srcHighHalf ? kBlockBytes / 2 : 0;
            __builtin_memcpy(matrix[row], from, sizeof(matrix[row]));
        }
        constexpr uint32_t blocks = sizeof(T) == 4 ? 2 : 1;
        constexpr uint32_t rowsPerBlock = rows / blocks;
        for (uint32_t column = 0; column < columns; ++column) {
            for (uint32_t part = 0; part < blocks; ++part) {
                const uint32_t index = column * blocks + part;
                T out[rowsPerBlock];
                for (uint32_t row = 0; row < rowsPerBlock; ++row) {
                    out[row] = matrix[part * rowsPerBlock + row][column];
                }
                uint8_t *to = BlockAt(dstList[index], step * p.dstRepStride * kBlockBytes, "dst", index);
                to += sizeof(T) == 1 && p.dstHighHalf ? kBlockBytes / 2 : 0;
                __builtin_memcpy(to, out, sizeof(out));
            }
        }
    }
}

template <typename T>
inline void TransDataTo5HD(uint64_t dstList[NCHW_CONV_ADDR_LIST_SIZE], uint64_t srcList[NCHW_CONV_ADDR_LIST_SIZE],
                           const TransDataTo5HDParams &nchwconvParams)
{
    static_assert(sizeof(T) <= 4, "TransDataTo5HD does not exist for this dtype");
    TransposeBlocks<T>(dstList, srcList, nchwconvParams);
}
template <typename T>
inline void TransDataTo5HD(const LocalTensor<T> (&dstList)[NCHW_CONV_ADDR_LIST_SIZE],
                           const LocalTensor<T> (&srcList)[NCHW_CONV_ADDR_LIST_SIZE], const TransDataTo5HDParams &nchwconvParams)
{
    static_assert(sizeof(T) <= 4, "TransDataTo5HD does not exist for this dtype");
    uint64_t dst[NCHW_CONV_ADDR_LIST_SIZE], src[NCHW_CONV_ADDR_LIST_SIZE];
    for (int32_t i = 0; i < NCHW_CONV_ADDR_LIST_SIZE; ++i) {
        dst[i] = reinterpret_cast<uint64_t>(dstList[i].Use(Memory::UB, kBlockBytes, kBlockBytes, "TransDataTo5HD", "dst"));
        src[i] = reinterpret_cast<uint64_t>(srcList[i].Use(Memory::UB, kBlockBytes, kBlockBytes, "TransDataTo5HD", "src"));
    }
    TransposeBlocks<T>(dst, src, nchwconvParams);
}

// A 16 x 16 matrix of 16-bit elements.
template <typename T>
inline void Transpose(const LocalTensor<T> &dst, const LocalTensor<T> &src)
{
    static_assert(sizeof(T) == 2, "Transpose does not exist for this dtype");
    NeedVectorCore("Transpose");
    T matrix[16][16];
    __builtin_memcpy(matrix, src.Use(Memory::UB, sizeof(matrix), kBlockBytes, "Transpose", "src"), sizeof(matrix));
    T *to = dst.Use(Memory::UB, sizeof(matrix), kBlockBytes, "Transpose", "dst");
    for (uint32_t row = 0; row < 16; ++row) {
        for (uint32_t column = 0; column < 16; ++column) {
            to[column * 16 + row] = matrix[row][column];
        }
    }
}

ASCENDC_END
