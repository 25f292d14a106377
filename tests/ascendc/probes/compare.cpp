// Compare, Compares, CompareScalar, GatherMask, CreateVecIndex.
#include "probe.h"

namespace probe {
namespace {

// number: 0 mode, 1 count, 2 which (0 Compare, 1 Compares, 2 CompareScalar), 3 the scalar's bits
template <typename T>
void Comparison(const ProbeArgs &args)
{
    Room room(args);
    LocalTensor<uint8_t> dst = room.Out<uint8_t>();
    LocalTensor<T> a = room.In<T>(0);
    const auto mode = static_cast<CMPMODE>(args.number[0]);
    const auto count = static_cast<uint32_t>(args.number[1]);
    T scalar;
    std::memcpy(&scalar, &args.number[3], sizeof(scalar));
    switch (args.number[2]) {
        case 0: Compare(dst, a, room.In<T>(1), mode, count); break;
        case 1: Compares(dst, a, scalar, mode, count); break;
        default: CompareScalar(dst, a, scalar, mode, count); break;
    }
    room.Store(dst);
}

// number: 0 reduceMode, 1 mask, 2 src0BlockStride, 3 repeats, 4 src0RepeatStride, 5 src1RepeatStride
template <typename T, typename U>
void Gathered(const ProbeArgs &args)
{
    Room room(args);
    LocalTensor<T> dst = room.Out<T>();
    LocalTensor<T> src = room.In<T>(0);
    LocalTensor<U> pattern = room.In<U>(1);
    LocalTensor<uint32_t> kept = room.Out<uint32_t>(1);
    uint64_t count = 0;
    GatherMask(dst, src, pattern, args.number[0] != 0, static_cast<uint32_t>(args.number[1]),
               {static_cast<uint8_t>(args.number[2]), static_cast<uint16_t>(args.number[3]),
                static_cast<uint16_t>(args.number[4]), static_cast<uint8_t>(args.number[5])},
               count);
    kept.SetValue(0, static_cast<uint32_t>(count));
    room.Store(dst);
    room.Store(kept, 1);
}

// number: 0 first value, 1 count
template <typename T>
void Index(const ProbeArgs &args)
{
    Room room(args);
    LocalTensor<T> dst = room.Out<T>();
    CreateVecIndex(dst, static_cast<T>(static_cast<float>(args.number[0])), static_cast<uint32_t>(args.number[1]));
    room.Store(dst);
}

} // namespace
} // namespace probe

const Probe kCompareProbes[] = {
    {"compare_float32", probe::Comparison<float>},
    {"compare_float16", probe::Comparison<half>},
    {"compare_int32", probe::Comparison<int32_t>},
    {"gather_mask_int16", probe::Gathered<int16_t, uint16_t>},
    {"gather_mask_float32", probe::Gathered<float, uint32_t>},
    {"index_int16", probe::Index<int16_t>},
    {"index_float16", probe::Index<half>},
    {"index_int32", probe::Index<int32_t>},
    {"index_float32", probe::Index<float>},
    {nullptr, nullptr},
};
