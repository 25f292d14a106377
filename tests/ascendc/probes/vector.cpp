// Element-wise instructions, Duplicate, Cast, Copy, Brcb, TransDataTo5HD.
#include "probe.h"

namespace probe {
namespace {

enum Form { COUNT = 0, LANES = 1, BITS = 2, REGISTER = 3 };

// number: 0 instruction, 1 form, 2 count or lanes, 3 low word, 4 high word, 5 repeats, 6.. strides
struct Plan {
    explicit Plan(const ProbeArgs &args)
        : form(static_cast<Form>(args.number[1])), lanes(static_cast<uint64_t>(args.number[2])),
          bits{static_cast<uint64_t>(args.number[3]), static_cast<uint64_t>(args.number[4])}, repeats(args.number[5])
    {
    }
    Form form;
    uint64_t lanes;
    uint64_t bits[2];
    int64_t repeats;
};

// The mask's other spellings are tried on Add and Adds: all instructions walk their operands in the same way.
#define CALL_BINARY(Name)                                                          \
    if (plan.form == COUNT) {                                                      \
        Name(dst, a, b, static_cast<int32_t>(plan.lanes));                         \
    } else {                                                                       \
        Name(dst, a, b, plan.lanes, plan.repeats, p);                              \
    }                                                                              \
    break

template <typename T>
void Binary(const ProbeArgs &args)
{
    Room room(args);
    LocalTensor<T> dst = room.Out<T>();
    LocalTensor<T> a = room.In<T>(0);
    LocalTensor<T> b = room.In<T>(1);
    Plan plan(args);
    const int64_t *s = args.number + 6;
    const BinaryRepeatParams p(static_cast<uint8_t>(s[0]), static_cast<uint8_t>(s[1]), static_cast<uint8_t>(s[2]),
                               static_cast<uint8_t>(s[3]), static_cast<uint8_t>(s[4]), static_cast<uint8_t>(s[5]));
    if (plan.form == BITS) {
        Add(dst, a, b, plan.bits, plan.repeats, p);
    } else if (plan.form == REGISTER) {
        SetVectorMask<T>(plan.bits[1], plan.bits[0]);
        Add<T, false>(dst, a, b, MASK_PLACEHOLDER, plan.repeats, p);
    } else switch (args.number[0]) {
        case 0: CALL_BINARY(Add);
        case 1: CALL_BINARY(Sub);
        case 2: CALL_BINARY(Mul);
        case 4: CALL_BINARY(Max);
        case 5: CALL_BINARY(Min);
        default: break;
    }
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, half>) {
        switch (args.number[0]) {
            case 3: CALL_BINARY(Div);
            case 8: CALL_BINARY(MulAddDst);
            default: break;
        }
    }
    if constexpr (std::is_same_v<T, int16_t>) {
        switch (args.number[0]) {
            case 6: CALL_BINARY(And);
            case 7: CALL_BINARY(Or);
            default: break;
        }
    }
    room.Store(dst);
}

#define CALL_UNARY(Name)                                        \
    if (plan.form == COUNT) {                                   \
        Name(dst, a, static_cast<int32_t>(plan.lanes));         \
    } else {                                                    \
        Name(dst, a, plan.lanes, plan.repeats, p);              \
    }                                                           \
    break
#define CALL_SCALAR(Name)                                       \
    if (plan.form == COUNT) {                                   \
        Name(dst, a, scalar, static_cast<int32_t>(plan.lanes)); \
    } else {                                                    \
        Name(dst, a, scalar, plan.lanes, plan.repeats, p);      \
    }                                                           \
    break

template <typename T>
void Unary(const ProbeArgs &args)
{
    Room room(args);
    LocalTensor<T> dst = room.Out<T>();
    LocalTensor<T> a = room.In<T>(0);
    Plan plan(args);
    const int64_t *s = args.number + 6;
    const UnaryRepeatParams p(static_cast<uint16_t>(s[0]), static_cast<uint16_t>(s[1]), static_cast<uint8_t>(s[2]),
                              static_cast<uint8_t>(s[3]));
    const T scalar = static_cast<T>(args.real[0]);
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, half>) {
        switch (args.number[0]) {
            case 0: CALL_UNARY(Exp);
            case 1: CALL_UNARY(Ln);
            case 2: CALL_UNARY(Sqrt);
            case 3: CALL_UNARY(Rsqrt);
            case 4: CALL_UNARY(Reciprocal);
            case 5: CALL_UNARY(Abs);
            case 14: CALL_SCALAR(Axpy);
            default: break;
        }
    }
    if constexpr (!std::is_same_v<T, int16_t>) {
        switch (args.number[0]) {
            case 6: CALL_UNARY(Relu);
            default: break;
        }
    } else {
        switch (args.number[0]) {
            case 7: CALL_UNARY(Not);
            default: break;
        }
    }
    if constexpr (std::is_integral_v<T>) {
        switch (args.number[0]) {
            case 12: CALL_SCALAR(ShiftLeft);
            case 13: CALL_SCALAR(ShiftRight);
            default: break;
        }
    }
    if (plan.form == BITS) {
        Adds(dst, a, scalar, plan.bits, plan.repeats, p);
    } else switch (args.number[0]) {
        case 8: CALL_SCALAR(Adds);
        case 9: CALL_SCALAR(Muls);
        case 10: CALL_SCALAR(Maxs);
        case 11: CALL_SCALAR(Mins);
        default: break;
    }
    room.Store(dst);
}

template <typename D, typename S>
void CastProbe(const ProbeArgs &args)
{
    Room room(args);
    LocalTensor<D> dst = room.Out<D>();
    LocalTensor<S> src = room.In<S>(0);
    Plan plan(args);
    const auto mode = static_cast<RoundMode>(args.number[0]);
    const int64_t *s = args.number + 6;
    const UnaryRepeatParams p(static_cast<uint16_t>(s[0]), static_cast<uint16_t>(s[1]), static_cast<uint8_t>(s[2]),
                              static_cast<uint8_t>(s[3]));
    if constexpr (std::is_same_v<D, half> && std::is_same_v<S, int32_t>) {
        SetDeqScale(half(args.real[0]));
    }
    switch (plan.form) {
        case COUNT: Cast(dst, src, mode, static_cast<uint32_t>(plan.lanes)); break;
        case LANES: Cast(dst, src, mode, plan.lanes, plan.repeats, p); break;
        default: Cast(dst, src, mode, plan.bits, plan.repeats, p); break;
    }
    room.Store(dst);
}

// In place: the float source becomes the start of a bfloat16 tensor.
void CastInPlace(const ProbeArgs &args)
{
    Room room(args);
    LocalTensor<float> both = room.Out<float>();
    Cast(both.ReinterpretCast<bfloat16_t>(), both, RoundMode::CAST_RINT, static_cast<uint32_t>(args.number[0]));
    room.Store(both);
}

template <typename T>
void DuplicateProbe(const ProbeArgs &args)
{
    Room room(args);
    LocalTensor<T> dst = room.Out<T>();
    Plan plan(args);
    const T value = static_cast<T>(args.real[0]);
    switch (plan.form) {
        case COUNT: Duplicate(dst, value, static_cast<int32_t>(plan.lanes)); break;
        case LANES: Duplicate(dst, value, plan.lanes, plan.repeats, static_cast<uint16_t>(args.number[6]),
                              static_cast<uint8_t>(args.number[7])); break;
        default: Duplicate(dst, value, plan.bits, plan.repeats, static_cast<uint16_t>(args.number[6]),
                           static_cast<uint8_t>(args.number[7])); break;
    }
    room.Store(dst);
}

template <typename T>
void CopyProbe(const ProbeArgs &args)
{
    Room room(args);
    LocalTensor<T> dst = room.Out<T>();
    LocalTensor<T> src = room.In<T>(0);
    Plan plan(args);
    const int64_t *s = args.number + 6;
    const CopyRepeatParams p(static_cast<uint16_t>(s[0]), static_cast<uint16_t>(s[1]), static_cast<uint16_t>(s[2]),
                             static_cast<uint16_t>(s[3]));
    if (plan.form == LANES) {
        Copy(dst, src, plan.lanes, plan.repeats, p);
    } else {
        Copy(dst, src, plan.bits, plan.repeats, p);
    }
    room.Store(dst);
}

// Counter mode: the mask register holds the number of elements of the whole instruction.
void CounterMode(const ProbeArgs &args)
{
    Room room(args);
    LocalTensor<float> dst = room.Out<float>();
    LocalTensor<float> a = room.In<float>(0);
    SetMaskCount();
    SetVectorMask<float, MaskMode::COUNTER>(static_cast<int32_t>(args.number[0]));
    Add<float, false>(dst, a, a, MASK_PLACEHOLDER, 1, BinaryRepeatParams(1, 1, 1, 8, 8, 8));
    SetMaskNorm();
    ResetMask();
    Muls<float, false>(dst, dst, 2.0f, MASK_PLACEHOLDER, 1, UnaryRepeatParams(1, 1, 8, 8));
    room.Store(dst);
}

template <typename T>
void BrcbProbe(const ProbeArgs &args)
{
    Room room(args);
    LocalTensor<T> dst = room.Out<T>();
    LocalTensor<T> src = room.In<T>(0);
    Brcb(dst, src, args.number[0],
         BrcbRepeatParams(static_cast<uint16_t>(args.number[1]), static_cast<uint16_t>(args.number[2])));
    room.Store(dst);
}

// number: 0 repeats, 1 dst stride, 2 src stride, 3 which form, 4 and 5 blocks between list entries of dst and src, 6 high halves
template <typename T>
void Transpose5hd(const ProbeArgs &args)
{
    Room room(args);
    LocalTensor<T> dst = room.Out<T>();
    LocalTensor<T> src = room.In<T>(0);
    constexpr uint32_t perBlock = 32 / sizeof(T);
    const TransDataTo5HDParams p((args.number[6] & 1) != 0, (args.number[6] & 2) != 0, static_cast<uint8_t>(args.number[0]),
                                 static_cast<uint16_t>(args.number[1]), static_cast<uint16_t>(args.number[2]));
    const auto dstStep = static_cast<uint32_t>(args.number[4]) * perBlock;
    const auto srcStep = static_cast<uint32_t>(args.number[5]) * perBlock;
    if (args.number[3] == 0) {
        uint64_t dstList[16], srcList[16];
        for (uint32_t i = 0; i < 16; ++i) {
            dstList[i] = dst[i * dstStep].GetPhyAddr();
            srcList[i] = src[i * srcStep].GetPhyAddr();
        }
        TransDataTo5HD<T>(dstList, srcList, p);
    } else {
        LocalTensor<T> dstList[16], srcList[16];
        for (uint32_t i = 0; i < 16; ++i) {
            dstList[i] = dst[i * dstStep];
            srcList[i] = src[i * srcStep];
        }
        TransDataTo5HD<T>(dstList, srcList, p);
    }
    room.Store(dst);
}

void TransposeProbe(const ProbeArgs &args)
{
    Room room(args);
    LocalTensor<half> dst = room.Out<half>();
    Transpose(dst, room.In<half>(0));
    room.Store(dst);
}

} // namespace
} // namespace probe

using namespace probe;

const Probe kVectorProbes[] = {
    {"binary_float32", Binary<float>},
    {"binary_float16", Binary<half>},
    {"binary_int32", Binary<int32_t>},
    {"binary_int16", Binary<int16_t>},
    {"unary_float32", Unary<float>},
    {"unary_float16", Unary<half>},
    {"unary_int32", Unary<int32_t>},
    {"unary_int16", Unary<int16_t>},
    {"cast_float32_float16", CastProbe<float, half>},
    {"cast_float32_bfloat16", CastProbe<float, bfloat16_t>},
    {"cast_float32_int32", CastProbe<float, int32_t>},
    {"cast_float32_int16", CastProbe<float, int16_t>},
    {"cast_float32_int64", CastProbe<float, int64_t>},
    {"cast_float32_float32", CastProbe<float, float>},
    {"cast_float16_float32", CastProbe<half, float>},
    {"cast_float16_int16", CastProbe<half, int16_t>},
    {"cast_float16_int8", CastProbe<half, int8_t>},
    {"cast_float16_uint8", CastProbe<half, uint8_t>},
    {"cast_float16_int32", CastProbe<half, int32_t>},
    {"cast_bfloat16_float32", CastProbe<bfloat16_t, float>},
    {"cast_int32_float32", CastProbe<int32_t, float>},
    {"cast_int32_float16", CastProbe<int32_t, half>},
    {"cast_int32_bfloat16", CastProbe<int32_t, bfloat16_t>},
    {"cast_int32_int64", CastProbe<int32_t, int64_t>},
    {"cast_int16_float32", CastProbe<int16_t, float>},
    {"cast_int16_float16", CastProbe<int16_t, half>},
    {"cast_int16_int32", CastProbe<int16_t, int32_t>},
    {"cast_int8_float16", CastProbe<int8_t, half>},
    {"cast_uint8_float16", CastProbe<uint8_t, half>},
    {"cast_int64_float32", CastProbe<int64_t, float>},
    {"cast_int64_int32", CastProbe<int64_t, int32_t>},
    {"cast_in_place", CastInPlace},
    {"duplicate_float32", DuplicateProbe<float>},
    {"duplicate_float16", DuplicateProbe<half>},
    {"duplicate_bfloat16", DuplicateProbe<bfloat16_t>},
    {"duplicate_int32", DuplicateProbe<int32_t>},
    {"copy_float32", CopyProbe<float>},
    {"copy_float16", CopyProbe<half>},
    {"counter_mode", CounterMode},
    {"brcb_float32", BrcbProbe<float>},
    {"brcb_float16", BrcbProbe<half>},
    {"transdata_float32", Transpose5hd<float>},
    {"transdata_float16", Transpose5hd<half>},
    {"transdata_int8", Transpose5hd<int8_t>},
    {"transpose", TransposeProbe},
    {nullptr, nullptr},
};
