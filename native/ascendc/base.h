// Namespaces, qualifiers, enums and constants of the AscendC API.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "twin/core.h"

// Each variant (dtype x SIMD level) of a kernel has the whole API in a namespace of its own, so that the linker never merges
// an inline function compiled for one processor with that compiled for another.
#ifndef ASCENDC_TWIN_VARIANT
#define ASCENDC_TWIN_VARIANT variant_default
#endif
#define ASCENDC_BEGIN namespace AscendC { inline namespace ASCENDC_TWIN_VARIANT {
#define ASCENDC_END } }

#define __aicore__
#define __global__
#define __gm__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __fbuf__
#define __biasbuf__
#define __local_mem__
#define __inout_pipe__(pipe)
#define __in_pipe__(pipe)
#define __out_pipe__(pipe)
#define __sync_alias__
#define __check_sync_alias__
#define __sync_noalias__
#define __BLOCK_LOCAL__
#define GM_ADDR __gm__ uint8_t *

#define ASCENDC_LIKELY(x) __builtin_expect(!!(x), 1)
#define ASCENDC_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define ASCENDC_INLINE __attribute__((always_inline)) inline

ASCENDC_BEGIN

using ::ascendc::Memory;

enum class TPosition : uint8_t {
    GM, A1, A2, B1, B2, C1, C2, CO1, CO2, VECIN, VECOUT, VECCALC, LCM = VECCALC, SPM, SHM = SPM, TSCM, C2PIPE2GM, C2PIPE2LOCAL,
    MAX,
};
using QuePosition = TPosition;

enum class Hardware : uint8_t { GM, UB, L1, L0A, L0B, L0C, BIAS, FIXBUF, MAX };

enum pipe_t : uint8_t {
    PIPE_S = 0, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_ALL, PIPE_MTE4, PIPE_MTE5, PIPE_V2, PIPE_FIX,
};

enum event_t : uint8_t { EVENT_ID0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7 };

using TEventID = int8_t;
constexpr TEventID INVALID_TEVENTID = -1;

enum class HardEvent : uint8_t {
    MTE2_MTE1, MTE1_MTE2, MTE1_M, M_MTE1, MTE2_V, V_MTE2, MTE3_V, V_MTE3, M_V, V_M, V_V, MTE3_MTE1, MTE1_MTE3, MTE1_V, MTE2_M,
    M_MTE2, V_MTE1, M_FIX, FIX_M, MTE3_MTE2, MTE2_MTE3, S_V, V_S, S_MTE2, MTE2_S, S_MTE3, MTE3_S, MTE2_FIX, FIX_MTE2, FIX_S,
    M_S, FIX_MTE3, MTE1_FIX, FIX_MTE1, FIX_FIX, MAX,
};
static_assert(static_cast<uint32_t>(HardEvent::MAX) <= ::ascendc::kHardEvents);

enum class MemoryT : uint8_t { L1, L0A, L0B, L0C, UB, BIAS };
enum class MemDsbT : uint8_t { ALL, DDR, UB, SEQ };
enum class CacheLine : uint64_t { SINGLE_CACHE_LINE = 0, ENTIRE_DATA_CACHE };
enum class DcciDst : uint64_t { CACHELINE_ALL = 0, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };
enum class CacheMode { CACHE_MODE_DISABLE = 0, CACHE_MODE_NORMAL, CACHE_MODE_LAST, CACHE_MODE_PERSISTENT };
enum class CacheRwMode { READ = 1, WRITE = 2, RW = 3 };

enum class RoundMode : uint8_t {
    CAST_NONE = 0, CAST_RINT, CAST_FLOOR, CAST_CEIL, CAST_ROUND, CAST_TRUNC, CAST_ODD, CAST_HYBRID,
};
enum class MaskMode : uint8_t { NORMAL = 0, COUNTER };
enum class ReduceOrder { ORDER_VALUE_INDEX = 0, ORDER_INDEX_VALUE, ORDER_ONLY_VALUE, ORDER_ONLY_INDEX };
enum class CMPMODE : uint8_t { LT = 0, GT, EQ, LE, GE, NE };
enum class SELMODE : uint8_t { VSEL_CMPMASK_SPR = 0, VSEL_TENSOR_SCALAR_MODE, VSEL_TENSOR_TENSOR_MODE };
enum class DataFormat : uint8_t { ND = 0, NZ, NCHW, NC1HWC0, NHWC };
enum class HF32Mode : uint8_t { DISABLE = 0, ENABLE = 1 };
enum class HF32TransMode : uint8_t { NEAREST_EVEN = 0, NEAREST_ZERO = 1 };
enum class BlockMode : uint8_t { BLOCK_MODE_NORMAL = 0, BLOCK_MODE_MATRIX, BLOCK_MODE_VECTOR, BLOCK_MODE_SMALL_CHANNEL };

enum QuantMode_t : uint8_t {
    NoQuant = 0, F322F16 = 1, VQF322HIF8_PRE = 2, QF322HIF8_PRE = 3, VQF322HIF8_PRE_HYBRID = 4, QF322HIF8_PRE_HYBRID = 5,
    AttachF16Mul = 6, VREQ8 = 8, REQ8 = 9, VDEQF16 = 10, DEQF16 = 11, VSHIFTS322S16 = 12, SHIFTS322S16 = 13, F322BF16 = 16,
    VQF162B8_PRE = 17, QF162B8_PRE = 18, VQF162S4_PRE = 19, QF162S4_PRE = 20, VREQ4 = 21, REQ4 = 22, VQF322B8_PRE = 23,
    QF322B8_PRE = 24,
};

constexpr int32_t ONE_BLK_SIZE = 32;
constexpr int32_t ONE_REPEAT_BYTE_SIZE = 256;
constexpr int32_t ONE_BYTE_BIT_SIZE = 8;
constexpr int32_t BLOCK_CUBE = 16;
constexpr uint32_t CUBE_MAX_SIZE = 256;
constexpr int32_t DEFAULT_BLK_NUM = 8;
constexpr uint8_t DEFAULT_BLK_STRIDE = 1;
constexpr uint8_t DEFAULT_REPEAT_STRIDE = 8;
constexpr uint16_t DEFAULT_DATA_COPY_NBURST = 1;
constexpr uint16_t DEFAULT_DATA_COPY_STRIDE = 0;
constexpr int32_t MAX_REPEAT_TIMES = 255;
constexpr uint64_t MASK_PLACEHOLDER = 0;
constexpr uint64_t MASK_PLACEHOLDER_LIST[2] = {0, 0};
constexpr uint64_t FULL_MASK = 0xffffffffffffffffULL;
constexpr int32_t NCHW_CONV_ADDR_LIST_SIZE = 16;
constexpr uint32_t PAD_SIZE = 4;
constexpr uint32_t K_MAX_SHAPE_DIM = 8;

constexpr Memory MemoryOf(TPosition position)
{
    switch (position) {
        case TPosition::A1:
        case TPosition::B1:
        case TPosition::C1:
        case TPosition::TSCM:
        case TPosition::SPM: return Memory::L1;
        case TPosition::A2: return Memory::L0A;
        case TPosition::B2: return Memory::L0B;
        case TPosition::C2: return Memory::BIAS;
        case TPosition::CO1: return Memory::L0C;
        case TPosition::C2PIPE2GM:
        case TPosition::C2PIPE2LOCAL: return Memory::FIXPIPE;
        case TPosition::GM:
        case TPosition::CO2: return Memory::COUNT;
        default: return Memory::UB;
    }
}

template <typename T, typename U>
struct IsSameType {
    static constexpr bool value = std::is_same_v<T, U>;
};
template <typename T>
using PrimT = T;

// The core that runs this code.
ASCENDC_INLINE ::ascendc::Core &ThisCore()
{
    return *::ascendc::t_core;
}

// Runs before a vector or a cube instruction.
ASCENDC_INLINE void NeedVectorCore(const char *instruction)
{
    if (ASCENDC_UNLIKELY(ThisCore().aic != 0)) {
        ::ascendc::FailWrongCore(instruction);
    }
}
ASCENDC_INLINE void NeedCubeCore(const char *instruction)
{
    if (ASCENDC_UNLIKELY(ThisCore().aic == 0)) {
        ::ascendc::FailWrongCore(instruction);
    }
}

template <typename T>
constexpr T CeilDiv(T a, T b)
{
    return (a + b - 1) / b;
}
template <typename T>
constexpr T AlignUp(T a, T b)
{
    return (a + b - 1) / b * b;
}
template <typename T>
constexpr T DivCeil(T a, T b)
{
    return (a + b - 1) / b;
}

ASCENDC_END

using AscendC::pipe_t;
using AscendC::PIPE_S;
using AscendC::PIPE_V;
using AscendC::PIPE_M;
using AscendC::PIPE_MTE1;
using AscendC::PIPE_MTE2;
using AscendC::PIPE_MTE3;
using AscendC::PIPE_ALL;
using AscendC::PIPE_FIX;
using AscendC::event_t;
using AscendC::EVENT_ID0;
using AscendC::EVENT_ID1;
using AscendC::EVENT_ID2;
using AscendC::EVENT_ID3;
using AscendC::EVENT_ID4;
using AscendC::EVENT_ID5;
using AscendC::EVENT_ID6;
using AscendC::EVENT_ID7;
using AscendC::QuantMode_t;
