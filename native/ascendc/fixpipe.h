// L0C -> global memory.
#pragma once

#include "atomic.h"

ASCENDC_BEGIN

enum class CO2Layout : uint8_t { NZ = 0, ROW_MAJOR, COLUMN_MAJOR };

struct FixpipeConfig {
    CO2Layout format;
};
constexpr FixpipeConfig CFG_NZ = {CO2Layout::NZ};
constexpr FixpipeConfig CFG_ROW_MAJOR = {CO2Layout::ROW_MAJOR};
constexpr FixpipeConfig CFG_COLUMN_MAJOR = {CO2Layout::COLUMN_MAJOR};

struct FixpipeParamsV220 {
    FixpipeParamsV220() {}
    FixpipeParamsV220(const uint16_t nSizeIn, const uint16_t mSizeIn, const uint16_t srcStrideIn, const uint32_t dstStrideIn,
                      const bool reluEnIn)
        : nSize(nSizeIn), mSize(mSizeIn), srcStride(srcStrideIn), dstStride(dstStrideIn), reluEn(reluEnIn)
    {
    }
    FixpipeParamsV220(const uint16_t nSizeIn, const uint16_t mSizeIn, const uint16_t srcStrideIn, const uint32_t dstStrideIn,
                      const bool reluEnIn, const QuantMode_t quantPreIn, const int64_t deqScalarIn, const uint16_t ndNumIn,
                      const uint16_t srcNdStrideIn, const uint16_t dstNdStrideIn, const uint8_t unitFlagIn,
                      const bool isChannelSplitIn = false)
        : nSize(nSizeIn), mSize(mSizeIn), srcStride(srcStrideIn), dstStride(dstStrideIn), quantPre(quantPreIn),
          deqScalar(static_cast<uint64_t>(deqScalarIn)), ndNum(ndNumIn), srcNdStride(srcNdStrideIn), dstNdStride(dstNdStrideIn),
          reluEn(reluEnIn), unitFlag(unitFlagIn), isChannelSplit(isChannelSplitIn)
    {
    }
    uint16_t nSize = 0;
    uint16_t mSize = 0;
    uint16_t srcStride = 0;
    uint32_t dstStride = 0;
    QuantMode_t quantPre = QuantMode_t::NoQuant;
    uint64_t deqScalar = 0;
    uint16_t ndNum = 1;
    uint16_t srcNdStride = 0;
    uint16_t dstNdStride = 0;
    bool reluEn = false;
    uint8_t unitFlag = 0;
    bool isChannelSplit = false;
};

struct DataCopyCO12DstParams {
    DataCopyCO12DstParams() {}
    DataCopyCO12DstParams(const uint16_t nSizeIn, const uint16_t mSizeIn, const uint32_t dstStrideIn, const uint16_t srcStrideIn,
                          const QuantMode_t quantPreIn, const uint8_t reluPreIn, const bool channelSplitIn, const bool nz2ndEnIn)
        : nSize(nSizeIn), mSize(mSizeIn), dstStride(dstStrideIn), srcStride(srcStrideIn), quantPre(quantPreIn),
          reluPre(reluPreIn), channelSplit(channelSplitIn), nz2ndEn(nz2ndEnIn)
    {
    }
    uint8_t sid = 0;
    uint16_t nSize = 0;
    uint16_t mSize = 0;
    uint32_t dstStride = 0;
    uint16_t srcStride = 0;
    uint8_t unitFlag = 0;
    uint8_t clipReluPre = 0;
    uint8_t eltWiseOp = 0;
    QuantMode_t quantPre = QuantMode_t::NoQuant;
    uint8_t reluPre = 0;
    bool channelSplit = false;
    bool nz2ndEn = false;
};

// What DataCopy from L0C with nz2ndEn uses: how many matrices, and how far they are apart in L0C (in fractals of 16 x 16) and
// in global memory (in elements).
inline void SetFixpipeNz2ndFlag(uint16_t ndNum, uint16_t srcNdStride, uint16_t dstNdStride)
{
    auto &core = ThisCore();
    core.ndNum = ndNum;
    core.srcNdStride = srcNdStride;
    core.dstNdStride = dstNdStride;
    core.ndSet = 1;
}

// A copy out of L0C, whichever instruction asks for it.
struct CubeResult {
    const char *instruction;
    uint32_t n, m;
    uint64_t srcStride;     // of 16 elements, from one block of 16 columns to the next
    uint64_t dstStride;     // elements between rows (row-major) or 32-byte blocks between columns (Nz)
    bool rowMajor, relu, channelSplit;
    uint32_t matrices;
    uint64_t srcMatrix, dstMatrix;   // elements from one matrix to the next
    QuantMode_t quant;
};

// Up to 16 neighbours of a row, converted.
template <typename T>
ASCENDC_INLINE void PutColumns(T *to, const float *from, uint32_t count, bool relu, const char *instruction)
{
    float values[16] = {};
    if (ASCENDC_LIKELY(count == 16)) {
        __builtin_memcpy(values, from, sizeof(values));
    } else {
        __builtin_memcpy(values, from, count * sizeof(float));
    }
    if (relu) {
        for (float &value : values) {
            value = value > 0.0f ? value : 0.0f;
        }
    }
    T result[16];
    if constexpr (std::is_same_v<T, float>) {
        __builtin_memcpy(result, values, sizeof(values));
    } else {
        Narrow(result, values, 16);
    }
    if (ASCENDC_LIKELY(count == 16)) {
        StoreGlobal(to, static_cast<const T *>(result), sizeof(result), instruction);
    } else {
        StoreGlobal(to, static_cast<const T *>(result), count * sizeof(T), instruction);
    }
}

template <typename T>
inline void StoreCubeResult(const GlobalTensor<T> &dst, const LocalTensor<float> &src, const CubeResult &r)
{
    static_assert(std::is_same_v<T, float> || std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t>,
                  "L0C cannot be copied out in this dtype");
    NeedCubeCore(r.instruction);
    if (r.n == 0 || r.m == 0) {
        return;
    }
    constexpr QuantMode_t wanted = std::is_same_v<T, float> ? QuantMode_t::NoQuant
                                   : std::is_same_v<T, half> ? QuantMode_t::F322F16
                                                             : QuantMode_t::F322BF16;
    if (ASCENDC_UNLIKELY(r.quant != wanted)) {
        ::ascendc::Fail("%s: quantPre %u does not give the dtype of dst, %u does", r.instruction, static_cast<uint32_t>(r.quant),
                        static_cast<uint32_t>(wanted));
    }
    if (ASCENDC_UNLIKELY(r.srcStride < r.m)) {
        ::ascendc::Fail("%s: srcStride %llu, the rows of a block of columns in L0C, is less than mSize %u", r.instruction,
                        static_cast<unsigned long long>(r.srcStride), r.m);
    }
    const uint32_t n1Count = CeilDiv<uint32_t>(r.n, 16);
    const uint64_t srcCount = (r.matrices - 1) * r.srcMatrix + ((n1Count - 1) * r.srcStride + r.m) * 16;
    const float *from = src.Use(Memory::L0C, srcCount * sizeof(float), 64, r.instruction, "src");
    if (r.rowMajor) {
        const uint64_t dstCount = (r.matrices - 1) * r.dstMatrix + (r.m - 1) * r.dstStride + r.n;
        T *to = dst.Use(dstCount * sizeof(T), r.instruction, "dst");
        for (uint32_t matrix = 0; matrix < r.matrices; ++matrix) {
            const float *in = from + matrix * r.srcMatrix;
            T *out = to + matrix * r.dstMatrix;
            for (uint32_t n1 = 0; n1 < n1Count; ++n1) {
                const uint32_t count = r.n - n1 * 16 < 16 ? r.n - n1 * 16 : 16;
                for (uint32_t m = 0; m < r.m; ++m) {
                    PutColumns(out + m * r.dstStride + n1 * 16, in + (n1 * r.srcStride + m) * 16, count, r.relu, r.instruction);
                }
            }
        }
        return;
    }
    // Nz: blocks of 16 columns (8 with channelSplit), each row of a block whole.
    const uint32_t width = r.channelSplit ? 8 : 16;
    const uint32_t blocks = CeilDiv<uint32_t>(r.n, width);
    const uint64_t blockElements = r.dstStride * 32 / sizeof(T);
    T *to = dst.Use(((blocks - 1) * blockElements + uint64_t{r.m} * width) * sizeof(T), r.instruction, "dst");
    for (uint32_t block = 0; block < blocks; ++block) {
        const uint32_t n = block * width;
        for (uint32_t m = 0; m < r.m; ++m) {
            PutColumns(to + block * blockElements + uint64_t{m} * width, from + (n / 16 * r.srcStride + m) * 16 + n % 16, width,
                       r.relu, r.instruction);
        }
    }
}

template <typename T, typename U>
inline void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<U> &src, const DataCopyCO12DstParams &params)
{
    static_assert(std::is_same_v<U, float>, "only float results of the cube are emulated");
    const auto &core = ThisCore();
    if (ASCENDC_UNLIKELY(params.nz2ndEn && core.ndSet == 0)) {
        ::ascendc::Fail("DataCopy from L0C with nz2ndEn: call SetFixpipeNz2ndFlag first");
    }
    CubeResult r{};
    r.instruction = "DataCopy from L0C";
    r.n = params.nSize;
    r.m = params.mSize;
    r.srcStride = params.srcStride;
    r.dstStride = params.dstStride;
    r.rowMajor = params.nz2ndEn;
    r.relu = params.reluPre == 1;
    r.channelSplit = params.channelSplit;
    r.matrices = params.nz2ndEn ? core.ndNum : 1;
    r.srcMatrix = uint64_t{core.srcNdStride} * 256;
    r.dstMatrix = core.dstNdStride;
    r.quant = params.quantPre;
    if (r.matrices != 0) {
        StoreCubeResult(dst, src, r);
    }
}

template <typename DstT, typename SrcT, const FixpipeConfig &config = CFG_ROW_MAJOR>
inline void Fixpipe(const GlobalTensor<DstT> &dst, const LocalTensor<SrcT> &src, const FixpipeParamsV220 &params)
{
    static_assert(std::is_same_v<SrcT, float>, "only float results of the cube are emulated");
    static_assert(config.format != CO2Layout::COLUMN_MAJOR, "CFG_COLUMN_MAJOR does not exist on this chip");
    CubeResult r{};
    r.instruction = "Fixpipe";
    r.n = params.nSize;
    r.m = params.mSize;
    r.srcStride = params.srcStride;
    r.dstStride = params.dstStride;
    r.rowMajor = config.format == CO2Layout::ROW_MAJOR;
    r.relu = params.reluEn;
    r.channelSplit = params.isChannelSplit;
    r.matrices = r.rowMajor ? params.ndNum : 1;
    r.srcMatrix = uint64_t{params.srcNdStride} * 256;
    r.dstMatrix = params.dstNdStride;
    r.quant = params.quantPre;
    if (r.matrices != 0) {
        StoreCubeResult(dst, src, r);
    }
}

ASCENDC_END
