// Reductions.
#include "probe.h"

namespace probe {
namespace {

// number: 0 instruction, 1 form (0 count, 1 lanes, 2 bits), 2 lanes or count, 3 low word, 4 high word, 5 repeats,
// 6 dst repeat stride, 7 src block stride, 8 src repeat stride, 9 order or calIndex
template <typename T>
void Reduce(const ProbeArgs &args)
{
    Room room(args);
    LocalTensor<T> dst = room.Out<T>();
    LocalTensor<T> src = room.In<T>(0);
    const auto form = args.number[1];
    const auto lanes = static_cast<int32_t>(args.number[2]);
    const uint64_t bits[2] = {static_cast<uint64_t>(args.number[3]), static_cast<uint64_t>(args.number[4])};
    const auto repeats = static_cast<int32_t>(args.number[5]);
    const auto dstRep = static_cast<int32_t>(args.number[6]);
    const auto srcBlk = static_cast<int32_t>(args.number[7]);
    const auto srcRep = static_cast<int32_t>(args.number[8]);
    const auto order = static_cast<ReduceOrder>(args.number[9]);
    const bool calIndex = args.number[9] != 0;
    const bool whole = form == 1;
    switch (args.number[0]) {
        case 0:
            whole ? WholeReduceSum(dst, src, lanes, repeats, dstRep, srcBlk, srcRep)
                  : WholeReduceSum(dst, src, bits, repeats, dstRep, srcBlk, srcRep);
            break;
        case 1:
            whole ? WholeReduceMax(dst, src, lanes, repeats, dstRep, srcBlk, srcRep, order)
                  : WholeReduceMax(dst, src, bits, repeats, dstRep, srcBlk, srcRep, order);
            break;
        case 2:
            whole ? WholeReduceMin(dst, src, lanes, repeats, dstRep, srcBlk, srcRep, order)
                  : WholeReduceMin(dst, src, bits, repeats, dstRep, srcBlk, srcRep, order);
            break;
        case 3:
            whole ? BlockReduceSum(dst, src, repeats, lanes, dstRep, srcBlk, srcRep)
                  : BlockReduceSum(dst, src, repeats, bits, dstRep, srcBlk, srcRep);
            break;
        case 4:
            whole ? BlockReduceMax(dst, src, repeats, lanes, dstRep, srcBlk, srcRep)
                  : BlockReduceMax(dst, src, repeats, bits, dstRep, srcBlk, srcRep);
            break;
        case 5:
            whole ? BlockReduceMin(dst, src, repeats, lanes, dstRep, srcBlk, srcRep)
                  : BlockReduceMin(dst, src, repeats, bits, dstRep, srcBlk, srcRep);
            break;
        case 6:
            whole ? PairReduceSum(dst, src, repeats, lanes, dstRep, srcBlk, srcRep)
                  : PairReduceSum(dst, src, repeats, bits, dstRep, srcBlk, srcRep);
            break;
        case 7: RepeatReduceSum(dst, src, repeats, lanes, 0, srcBlk, dstRep, srcRep); break;
        default: break;
    }
    LocalTensor<T> work = room.Scratch<T>(1024);
    switch (args.number[0]) {
        case 8:
            if (form == 0) {
                ReduceSum(dst, src, work, lanes);
                dst.SetValue(1, GetAccVal<T>());
            } else if (form == 1) {
                ReduceSum(dst, src, work, lanes, repeats, srcRep);
            } else {
                ReduceSum(dst, src, work, bits, repeats, srcRep);
            }
            break;
        case 9:
            form == 0   ? ReduceMax(dst, src, work, lanes, calIndex)
            : form == 1 ? ReduceMax(dst, src, work, lanes, repeats, srcRep, calIndex)
                        : ReduceMax(dst, src, work, bits, repeats, srcRep, calIndex);
            break;
        case 10:
            form == 0   ? ReduceMin(dst, src, work, lanes, calIndex)
            : form == 1 ? ReduceMin(dst, src, work, lanes, repeats, srcRep, calIndex)
                        : ReduceMin(dst, src, work, bits, repeats, srcRep, calIndex);
            break;
        default: break;
    }
    room.Store(dst);
}

} // namespace
} // namespace probe

const Probe kReduceProbes[] = {
    {"reduce_float32", probe::Reduce<float>},
    {"reduce_float16", probe::Reduce<half>},
    {nullptr, nullptr},
};
