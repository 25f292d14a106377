// A probe is a tiny kernel that a test calls by name: arrays in, arrays out, a few numbers.
#pragma once

#include "kernel_operator.h"

struct ProbeArgs {
    uint8_t *in[4];
    uint64_t inBytes[4];
    uint8_t *out[4];      // also input: what an instruction must leave alone is seen
    uint64_t outBytes[4];
    int64_t number[24];
    double real[4];
};

using ProbeBody = void (*)(const ProbeArgs &);
struct Probe {
    const char *name;
    ProbeBody body;
};

// Each file of probes ends its table with a row of nulls.
extern const Probe kVectorProbes[];
extern const Probe kReduceProbes[];
extern const Probe kCopyProbes[];
extern const Probe kCubeProbes[];
extern const Probe kCoreProbes[];
extern const Probe kCompareProbes[];

namespace probe {

using namespace AscendC;

// UB filled from the arguments: each array starts a buffer of its own, rounded up to 32 bytes.
class Room {
public:
    explicit Room(const ProbeArgs &args) : args_(args) {}

    template <typename T>
    LocalTensor<T> In(uint32_t index)
    {
        return Fill<T>(args_.in[index], args_.inBytes[index]);
    }
    template <typename T>
    LocalTensor<T> Out(uint32_t index = 0)
    {
        return Fill<T>(args_.out[index], args_.outBytes[index]);
    }
    template <typename T>
    void Store(const LocalTensor<T> &tensor, uint32_t index = 0)
    {
        GlobalTensor<uint8_t> gm;
        gm.SetGlobalBuffer(args_.out[index], args_.outBytes[index]);
        const auto bytes = static_cast<uint32_t>(args_.outBytes[index]);
        DataCopyPad(gm, tensor.template ReinterpretCast<uint8_t>(), DataCopyExtParams(1, bytes, 0, 0, 0));
    }
    template <typename T>
    LocalTensor<T> Scratch(uint32_t elements)
    {
        return Take(elements * sizeof(T)).template ReinterpretCast<T>();
    }

private:
    LocalTensor<uint8_t> Take(uint64_t bytes)
    {
        TBuf<TPosition::VECCALC> &buffer = buffers_[used_++];
        pipe_.InitBuffer(buffer, static_cast<uint32_t>(bytes));
        return buffer.Get<uint8_t>();
    }
    template <typename T>
    LocalTensor<T> Fill(uint8_t *from, uint64_t bytes)
    {
        LocalTensor<uint8_t> tensor = Take(bytes);
        GlobalTensor<uint8_t> gm;
        gm.SetGlobalBuffer(from, bytes);
        DataCopyPad(tensor, gm, DataCopyExtParams(1, static_cast<uint32_t>(bytes), 0, 0, 0), DataCopyPadExtParams<uint8_t>());
        return tensor.ReinterpretCast<T>();
    }

    const ProbeArgs &args_;
    TPipe pipe_;
    TBuf<TPosition::VECCALC> buffers_[8];
    uint32_t used_ = 0;
};

} // namespace probe
