// DataCopy, DataCopyPad, atomic copies.
#include "probe.h"

namespace probe {
namespace {

DataCopyParams Params(const int64_t *n)
{
    return DataCopyParams(static_cast<uint16_t>(n[0]), static_cast<uint16_t>(n[1]), static_cast<uint16_t>(n[2]),
                          static_cast<uint16_t>(n[3]));
}
DataCopyExtParams ExtParams(const int64_t *n)
{
    return DataCopyExtParams(static_cast<uint16_t>(n[0]), static_cast<uint32_t>(n[1]), static_cast<uint32_t>(n[2]),
                             static_cast<uint32_t>(n[3]), 0);
}

template <typename T>
GlobalTensor<T> Global(uint8_t *address, uint64_t bytes)
{
    GlobalTensor<T> tensor;
    tensor.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(address), bytes / sizeof(T));
    return tensor;
}

// in[0] is global memory, out[0] is UB.
template <typename T>
void CopyIn(const ProbeArgs &args)
{
    Room room(args);
    LocalTensor<T> dst = room.Out<T>();
    GlobalTensor<T> src = Global<T>(args.in[0], args.inBytes[0]);
    if (args.number[0] == 0) {
        DataCopy(dst, src, static_cast<uint32_t>(args.number[1]));
    } else {
        DataCopy(dst, src, Params(args.number + 1));
    }
    room.Store(dst);
}

// in[0] is UB, out[0] is global memory.
template <typename T>
void CopyOut(const ProbeArgs &args)
{
    Room room(args);
    LocalTensor<T> src = room.In<T>(0);
    GlobalTensor<T> dst = Global<T>(args.out[0], args.outBytes[0]);
    switch (args.number[0]) {
        case 0: DataCopy(dst, src, static_cast<uint32_t>(args.number[1])); break;
        case 1: DataCopy(dst, src, Params(args.number + 1)); break;
        case 2: DataCopyPad(dst, src, ExtParams(args.number + 1)); break;
        default: DataCopyPad(dst, src, Params(args.number + 1)); break;
    }
}

template <typename T>
void CopyWithin(const ProbeArgs &args)
{
    Room room(args);
    LocalTensor<T> dst = room.Out<T>();
    LocalTensor<T> src = room.In<T>(0);
    if (args.number[0] == 0) {
        DataCopy(dst, src, static_cast<uint32_t>(args.number[1]));
    } else {
        DataCopy(dst, src, Params(args.number + 1));
    }
    room.Store(dst);
}

// number: 1.. the copy, 5 isPad, 6 left, 7 right; real 0 the padding, real 1 the pad register
template <typename T>
void PadIn(const ProbeArgs &args)
{
    Room room(args);
    LocalTensor<T> dst = room.Out<T>();
    GlobalTensor<T> src = Global<T>(args.in[0], args.inBytes[0]);
    SetPadValue<T>(static_cast<T>(args.real[1]));
    const bool isPad = args.number[5] != 0;
    const auto left = static_cast<uint8_t>(args.number[6]);
    const auto right = static_cast<uint8_t>(args.number[7]);
    const T padding = static_cast<T>(args.real[0]);
    if (args.number[0] == 0) {
        DataCopyPad(dst, src, ExtParams(args.number + 1), DataCopyPadExtParams<T>(isPad, left, right, padding));
    } else {
        uint64_t bits = 0;
        __builtin_memcpy(&bits, &padding, sizeof(T));
        DataCopyPad(dst, src, Params(args.number + 1), DataCopyPadParams(isPad, left, right, bits));
    }
    room.Store(dst);
}

// Every core adds in[0] to the same place; number 0: sum, max, min.
template <typename T>
void Atomic(const ProbeArgs &args)
{
    Room room(args);
    LocalTensor<T> src = room.In<T>(0);
    GlobalTensor<T> dst = Global<T>(args.out[0], args.outBytes[0]);
    switch (args.number[0]) {
        case 0: SetAtomicAdd<T>(); break;
        case 1: SetAtomicMax<T>(); break;
        default: SetAtomicMin<T>(); break;
    }
    DataCopyPad(dst, src, DataCopyExtParams(1, static_cast<uint32_t>(args.outBytes[0]), 0, 0, 0));
    SetAtomicNone();
}

void AtomicWrongDtype(const ProbeArgs &args)
{
    Room room(args);
    LocalTensor<int32_t> src = room.In<int32_t>(0);
    SetAtomicAdd<float>();
    DataCopy(Global<int32_t>(args.out[0], args.outBytes[0]), src, 8);
}

} // namespace
} // namespace probe

using namespace probe;

const Probe kCopyProbes[] = {
    {"copy_in_float32", CopyIn<float>},
    {"copy_in_float16", CopyIn<half>},
    {"copy_out_float32", CopyOut<float>},
    {"copy_out_float16", CopyOut<half>},
    {"copy_within_float32", CopyWithin<float>},
    {"pad_in_float32", probe::PadIn<float>},
    {"pad_in_float16", probe::PadIn<half>},
    {"pad_in_int8", probe::PadIn<int8_t>},
    {"atomic_float32", Atomic<float>},
    {"atomic_float16", Atomic<half>},
    {"atomic_int32", Atomic<int32_t>},
    {"atomic_wrong_dtype", AtomicWrongDtype},
    {nullptr, nullptr},
};
