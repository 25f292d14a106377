// Nd2Nz, LoadData, Mmad, Fixpipe.
#include "probe.h"

namespace probe {
namespace {

template <typename T>
GlobalTensor<T> Global(uint8_t *address, uint64_t bytes)
{
    GlobalTensor<T> tensor;
    tensor.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(address), bytes / sizeof(T));
    return tensor;
}

// What a cube core has in L1 and L0 cannot be copied to global memory, so a probe reads it element by element.
template <typename T>
void Peek(const LocalTensor<T> &tensor, uint8_t *to, uint64_t bytes)
{
    for (uint32_t i = 0; i < bytes / sizeof(T); ++i) {
        const T value = tensor.GetValue(i);
        __builtin_memcpy(to + i * sizeof(T), &value, sizeof(T));
    }
}
template <typename T>
void Poke(const LocalTensor<T> &tensor, const uint8_t *from, uint64_t bytes)
{
    for (uint32_t i = 0; i < bytes / sizeof(T); ++i) {
        T value;
        __builtin_memcpy(static_cast<void *>(&value), from + i * sizeof(T), sizeof(T));
        tensor.SetValue(i, value);
    }
}

template <typename T>
void Nd2Nz(const ProbeArgs &args)
{
    TPipe pipe;
    TBuf<TPosition::A1> buffer;
    pipe.InitBuffer(buffer, static_cast<uint32_t>(args.outBytes[0]));
    LocalTensor<T> dst = buffer.Get<T>();
    Poke(dst, args.out[0], args.outBytes[0]);
    const auto n = [&](uint32_t i) { return static_cast<uint16_t>(args.number[i]); };
    DataCopy(dst, Global<T>(args.in[0], args.inBytes[0]), Nd2NzParams(n(0), n(1), n(2), n(3), n(4), n(5), n(6), n(7)));
    Peek(dst, args.out[0], args.outBytes[0]);
}

// number: 0 which load, 1 L0A or L0B, 2.. its parameters
template <typename T>
void Load(const ProbeArgs &args)
{
    TPipe pipe;
    TBuf<TPosition::A1> from;
    TBuf<TPosition::A2> a2;
    TBuf<TPosition::B2> b2;
    pipe.InitBuffer(from, static_cast<uint32_t>(args.inBytes[0]));
    pipe.InitBuffer(a2, static_cast<uint32_t>(args.outBytes[0]));
    pipe.InitBuffer(b2, static_cast<uint32_t>(args.outBytes[0]));
    LocalTensor<T> src = from.Get<T>();
    LocalTensor<T> dst = args.number[1] == 0 ? a2.Get<T>() : b2.Get<T>();
    Poke(src, args.in[0], args.inBytes[0]);
    Poke(dst, args.out[0], args.outBytes[0]);
    const int64_t *n = args.number + 2;
    if (args.number[0] == 0) {
        LoadData2DParams p;
        p.startIndex = static_cast<uint16_t>(n[0]);
        p.repeatTimes = static_cast<uint8_t>(n[1]);
        p.srcStride = static_cast<uint16_t>(n[2]);
        p.dstGap = static_cast<uint16_t>(n[3]);
        p.ifTranspose = n[4] != 0;
        LoadData(dst, src, p);
    } else if (args.number[0] == 1) {
        LoadData2DParamsV2 p;
        p.mStartPosition = static_cast<uint32_t>(n[0]);
        p.kStartPosition = static_cast<uint32_t>(n[1]);
        p.mStep = static_cast<uint16_t>(n[2]);
        p.kStep = static_cast<uint16_t>(n[3]);
        p.srcStride = static_cast<int32_t>(n[4]);
        p.dstStride = static_cast<uint16_t>(n[5]);
        LoadData(dst, src, p);
    } else {
        LoadData3DParamsV2<T> p;
        p.l1H = static_cast<uint16_t>(n[0] / 16);
        p.l1W = 16;
        p.channelSize = static_cast<uint16_t>(n[1]);
        p.mStartPt = static_cast<uint16_t>(n[2]);
        p.kStartPt = static_cast<uint16_t>(n[3]);
        p.mExtension = static_cast<uint16_t>(n[4]);
        p.kExtension = static_cast<uint16_t>(n[5]);
        LoadData(dst, src, p);
    }
    Peek(dst, args.out[0], args.outBytes[0]);
}

// in: L0A, L0B, optional bias; out: L0C. number: 0 m, 1 n, 2 k, 3 init, 4 hf32, 5 kDirectionAlign, 6 bias
template <typename T>
void MmadProbe(const ProbeArgs &args)
{
    TPipe pipe;
    TBuf<TPosition::A2> a2;
    TBuf<TPosition::B2> b2;
    TBuf<TPosition::CO1> co1;
    TBuf<TPosition::C2> c2;
    pipe.InitBuffer(a2, static_cast<uint32_t>(args.inBytes[0]));
    pipe.InitBuffer(b2, static_cast<uint32_t>(args.inBytes[1]));
    pipe.InitBuffer(co1, static_cast<uint32_t>(args.outBytes[0]));
    LocalTensor<T> a = a2.Get<T>();
    LocalTensor<T> b = b2.Get<T>();
    LocalTensor<float> c = co1.Get<float>();
    Poke(a, args.in[0], args.inBytes[0]);
    Poke(b, args.in[1], args.inBytes[1]);
    Poke(c, args.out[0], args.outBytes[0]);
    MmadParams p;
    p.m = static_cast<uint16_t>(args.number[0]);
    p.n = static_cast<uint16_t>(args.number[1]);
    p.k = static_cast<uint16_t>(args.number[2]);
    p.cmatrixInitVal = args.number[3] != 0;
    p.kDirectionAlign = args.number[5] != 0;
    SetHF32Mode(args.number[4] != 0 ? HF32Mode::ENABLE : HF32Mode::DISABLE);
    if (args.number[6] != 0) {
        pipe.InitBuffer(c2, static_cast<uint32_t>(args.inBytes[2]));
        TBuf<TPosition::C1> c1;
        pipe.InitBuffer(c1, static_cast<uint32_t>(args.inBytes[2]));
        LocalTensor<float> row = c1.Get<float>();
        LocalTensor<float> bias = c2.Get<float>();
        DataCopy(row, Global<float>(args.in[2], args.inBytes[2]), static_cast<uint32_t>(args.inBytes[2] / 4));
        DataCopy(bias, row, DataCopyParams(1, static_cast<uint16_t>(args.inBytes[2] / 64), 0, 0));
        Mmad(c, a, b, bias, p);
    } else {
        Mmad(c, a, b, p);
    }
    Peek(c, args.out[0], args.outBytes[0]);
}

// in: L0C; out: global memory. number: 0 which instruction, 1 n, 2 m, 3 srcStride, 4 dstStride, 5 relu, 6 row-major,
// 7 matrices, 8 srcNdStride, 9 dstNdStride, 10 channel split, 11 atomic add, 12 leave SetFixpipeNz2ndFlag out
template <typename T>
void FixpipeProbe(const ProbeArgs &args)
{
    TPipe pipe;
    TBuf<TPosition::CO1> co1;
    pipe.InitBuffer(co1, static_cast<uint32_t>(args.inBytes[0]));
    LocalTensor<float> c = co1.Get<float>();
    Poke(c, args.in[0], args.inBytes[0]);
    GlobalTensor<T> dst = Global<T>(args.out[0], args.outBytes[0]);
    const QuantMode_t quant = sizeof(T) == 4                      ? QuantMode_t::NoQuant
                              : std::is_same_v<T, bfloat16_t> ? QuantMode_t::F322BF16
                                                              : QuantMode_t::F322F16;
    const auto n = [&](uint32_t i) { return static_cast<uint16_t>(args.number[i]); };
    if (args.number[11] != 0) {
        SetAtomicAdd<T>();
    }
    if (args.number[0] == 0) {
        FixpipeParamsV220 p(n(1), n(2), n(3), n(4), args.number[5] != 0, quant, 0, n(7), n(8), n(9), 0, args.number[10] != 0);
        if (args.number[6] != 0) {
            Fixpipe<T, float, CFG_ROW_MAJOR>(dst, c, p);
        } else {
            Fixpipe<T, float, CFG_NZ>(dst, c, p);
        }
    } else {
        if (args.number[12] == 0) {
            SetFixpipeNz2ndFlag(n(7), n(8), n(9));
        }
        DataCopy(dst, c, DataCopyCO12DstParams(n(1), n(2), n(4), n(3), quant, args.number[5] != 0 ? 1 : 0, args.number[10] != 0,
                                               args.number[6] != 0));
    }
    SetAtomicNone();
}

} // namespace
} // namespace probe

using namespace probe;

const Probe kCubeProbes[] = {
    {"nd2nz_float32", Nd2Nz<float>},
    {"nd2nz_float16", Nd2Nz<half>},
    {"load_float32", Load<float>},
    {"load_float16", Load<half>},
    {"mmad_float32", MmadProbe<float>},
    {"mmad_float16", MmadProbe<half>},
    {"mmad_bfloat16", MmadProbe<bfloat16_t>},
    {"fixpipe_float32", FixpipeProbe<float>},
    {"fixpipe_float16", FixpipeProbe<half>},
    {"fixpipe_bfloat16", FixpipeProbe<bfloat16_t>},
    {nullptr, nullptr},
};
