// Cast: out = self in another type, by way of float. The tiling key is 100 * aclDataType of self + aclDataType of out.
#include "kernel_operator.h"

#include "../../common/elementwise_tiling_data.h"

namespace Cast {

using namespace AscendC;

template <typename From, typename To>
class Kernel {
public:
    __aicore__ inline void Init(GM_ADDR self, GM_ADDR out, const ElementwiseTilingData &tiling, TPipe *pipe)
    {
        tiling_ = &tiling;
        first_ = GetBlockIdx() * tiling.perCore;
        const uint64_t left = first_ < tiling.count ? tiling.count - first_ : 0;
        count_ = left < tiling.perCore ? left : tiling.perCore;
        self_.SetGlobalBuffer(reinterpret_cast<__gm__ From *>(self), tiling.count);
        out_.SetGlobalBuffer(reinterpret_cast<__gm__ To *>(out), tiling.count);
        pipe->InitBuffer(in_, 2, tiling.tile * sizeof(From));
        pipe->InitBuffer(result_, 2, tiling.tile * sizeof(To));
        pipe->InitBuffer(wide_, tiling.tile * sizeof(float));
    }

    __aicore__ inline void Process()
    {
        for (uint64_t done = 0; done < count_; done += tiling_->tile) {
            const uint64_t left = count_ - done;
            const uint32_t count = left < tiling_->tile ? static_cast<uint32_t>(left) : tiling_->tile;
            LocalTensor<From> in = in_.template AllocTensor<From>();
            DataCopyExtParams read(1, count * sizeof(From), 0, 0, 0);
            DataCopyPadExtParams<From> noPadding(false, 0, 0, 0);
            DataCopyPad(in, self_[first_ + done], read, noPadding);
            in_.EnQue(in);

            in = in_.template DeQue<From>();
            LocalTensor<To> result = result_.template AllocTensor<To>();
            Convert(result, in, count);
            in_.FreeTensor(in);
            result_.EnQue(result);

            result = result_.template DeQue<To>();
            DataCopyExtParams write(1, count * sizeof(To), 0, 0, 0);
            DataCopyPad(out_[first_ + done], result, write);
            result_.FreeTensor(result);
        }
    }

private:
    __aicore__ inline void Convert(const LocalTensor<To> &to, const LocalTensor<From> &from, uint32_t count)
    {
        if constexpr (IsSameType<From, To>::value) {
            constexpr uint32_t perBlock = 32 / sizeof(To);
            DataCopy(to, from, (count + perBlock - 1) / perBlock * perBlock);
            PipeBarrier<PIPE_V>();
        } else if constexpr (IsSameType<From, float>::value) {
            Narrow(to, from, count);
        } else if constexpr (IsSameType<To, float>::value) {
            Widen(to, from, count);
        } else {
            LocalTensor<float> wide = wide_.template Get<float>();
            Widen(wide, from, count);
            Narrow(to, wide, count);
        }
    }

    __aicore__ inline void Widen(const LocalTensor<float> &to, const LocalTensor<From> &from, uint32_t count)
    {
        // INT32 beyond 24 bits is rounded; the 16-bit types widen exactly.
        AscendC::Cast(to, from, IsSameType<From, int32_t>::value ? RoundMode::CAST_RINT : RoundMode::CAST_NONE, count);
        PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void Narrow(const LocalTensor<To> &to, const LocalTensor<float> &from, uint32_t count)
    {
        AscendC::Cast(to, from, IsSameType<To, int32_t>::value ? RoundMode::CAST_TRUNC : RoundMode::CAST_RINT, count);
        PipeBarrier<PIPE_V>();
    }

    const ElementwiseTilingData *tiling_ = nullptr;
    uint64_t first_ = 0;
    uint64_t count_ = 0;
    GlobalTensor<From> self_;
    GlobalTensor<To> out_;
    TQue<TPosition::VECIN, 2> in_;
    TQue<TPosition::VECOUT, 2> result_;
    TBuf<TPosition::VECCALC> wide_;
};

template <typename From, typename To>
__aicore__ inline void Run(GM_ADDR self, GM_ADDR out, const ElementwiseTilingData &tiling)
{
    TPipe pipe;
    Kernel<From, To> kernel;
    kernel.Init(self, out, tiling, &pipe);
    kernel.Process();
}

} // namespace Cast

extern "C" __global__ __aicore__ void cast(GM_ADDR self, GM_ADDR out, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    REGISTER_TILING_DEFAULT(ElementwiseTilingData);
    GET_TILING_DATA_WITH_STRUCT(ElementwiseTilingData, tilingData, tiling);
    if (TILING_KEY_IS(0)) {
        Cast::Run<float, float>(self, out, tilingData);
    } else if (TILING_KEY_IS(1)) {
        Cast::Run<float, half>(self, out, tilingData);
    } else if (TILING_KEY_IS(3)) {
        Cast::Run<float, int32_t>(self, out, tilingData);
    } else if (TILING_KEY_IS(27)) {
        Cast::Run<float, bfloat16_t>(self, out, tilingData);
    } else if (TILING_KEY_IS(100)) {
        Cast::Run<half, float>(self, out, tilingData);
    } else if (TILING_KEY_IS(101)) {
        Cast::Run<half, half>(self, out, tilingData);
    } else if (TILING_KEY_IS(103)) {
        Cast::Run<half, int32_t>(self, out, tilingData);
    } else if (TILING_KEY_IS(127)) {
        Cast::Run<half, bfloat16_t>(self, out, tilingData);
    } else if (TILING_KEY_IS(300)) {
        Cast::Run<int32_t, float>(self, out, tilingData);
    } else if (TILING_KEY_IS(301)) {
        Cast::Run<int32_t, half>(self, out, tilingData);
    } else if (TILING_KEY_IS(303)) {
        Cast::Run<int32_t, int32_t>(self, out, tilingData);
    } else if (TILING_KEY_IS(327)) {
        Cast::Run<int32_t, bfloat16_t>(self, out, tilingData);
    } else if (TILING_KEY_IS(2700)) {
        Cast::Run<bfloat16_t, float>(self, out, tilingData);
    } else if (TILING_KEY_IS(2701)) {
        Cast::Run<bfloat16_t, half>(self, out, tilingData);
    } else if (TILING_KEY_IS(2703)) {
        Cast::Run<bfloat16_t, int32_t>(self, out, tilingData);
    } else if (TILING_KEY_IS(2727)) {
        Cast::Run<bfloat16_t, bfloat16_t>(self, out, tilingData);
    }
}
