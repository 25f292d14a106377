// Add: out = self + alpha * other, element by element. The tiling key is the aclDataType of all three.
#include "kernel_operator.h"

#include "../../common/elementwise_tiling_data.h"

namespace Add {

using namespace AscendC;

template <typename T>
class Kernel {
public:
    // What the arithmetic is done in: float for the 16-bit types, rounded once at the end.
    static constexpr bool WIDENED = sizeof(T) == 2;

    __aicore__ inline void Init(GM_ADDR self, GM_ADDR other, GM_ADDR out, const ElementwiseTilingData &tiling, TPipe *pipe)
    {
        tiling_ = &tiling;
        first_ = GetBlockIdx() * tiling.perCore;
        const uint64_t left = first_ < tiling.count ? tiling.count - first_ : 0;
        count_ = left < tiling.perCore ? left : tiling.perCore;
        self_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(self), tiling.count);
        other_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(other), tiling.count);
        out_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(out), tiling.count);
        pipe->InitBuffer(in_, 2, 2 * tiling.tile * sizeof(T));
        pipe->InitBuffer(result_, 2, tiling.tile * sizeof(T));
        if constexpr (WIDENED) {
            pipe->InitBuffer(wide_, 2 * tiling.tile * sizeof(float));
        }
    }

    __aicore__ inline void Process()
    {
        for (uint64_t done = 0; done < count_; done += tiling_->tile) {
            const uint64_t left = count_ - done;
            const uint32_t count = left < tiling_->tile ? static_cast<uint32_t>(left) : tiling_->tile;
            Load(first_ + done, count);
            Compute(count);
            Store(first_ + done, count);
        }
    }

private:
    __aicore__ inline void Load(uint64_t offset, uint32_t count)
    {
        LocalTensor<T> in = in_.template AllocTensor<T>();
        DataCopyExtParams params(1, count * sizeof(T), 0, 0, 0);
        DataCopyPadExtParams<T> noPadding(false, 0, 0, 0);
        DataCopyPad(in, self_[offset], params, noPadding);
        DataCopyPad(in[tiling_->tile], other_[offset], params, noPadding);
        in_.EnQue(in);
    }

    __aicore__ inline void Compute(uint32_t count)
    {
        LocalTensor<T> self = in_.template DeQue<T>();
        LocalTensor<T> other = self[tiling_->tile];
        LocalTensor<T> result = result_.template AllocTensor<T>();
        if constexpr (WIDENED) {
            LocalTensor<float> a = wide_.template Get<float>();
            LocalTensor<float> b = a[tiling_->tile];
            Cast(a, self, RoundMode::CAST_NONE, count);
            Cast(b, other, RoundMode::CAST_NONE, count);
            PipeBarrier<PIPE_V>();
            AddScaled(a, a, b, tiling_->scale, count);
            Cast(result, a, RoundMode::CAST_RINT, count);
        } else if constexpr (IsSameType<T, float>::value) {
            AddScaled(result, self, other, tiling_->scale, count);
        } else {
            AddScaled(result, self, other, tiling_->factor, count);
        }
        result_.EnQue(result);
        in_.FreeTensor(self);
    }

    template <typename U>
    __aicore__ inline void AddScaled(const LocalTensor<U> &to, const LocalTensor<U> &a, const LocalTensor<U> &b, U scale,
                                     uint32_t count)
    {
        if (scale != static_cast<U>(1)) {
            Muls(b, b, scale, count);
            PipeBarrier<PIPE_V>();
        }
        AscendC::Add(to, a, b, count);
        PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void Store(uint64_t offset, uint32_t count)
    {
        LocalTensor<T> result = result_.template DeQue<T>();
        DataCopyExtParams params(1, count * sizeof(T), 0, 0, 0);
        DataCopyPad(out_[offset], result, params);
        result_.FreeTensor(result);
    }

    const ElementwiseTilingData *tiling_ = nullptr;
    uint64_t first_ = 0;
    uint64_t count_ = 0;
    GlobalTensor<T> self_;
    GlobalTensor<T> other_;
    GlobalTensor<T> out_;
    TQue<TPosition::VECIN, 2> in_; // self, then other
    TQue<TPosition::VECOUT, 2> result_;
    TBuf<TPosition::VECCALC> wide_;
};

template <typename T>
__aicore__ inline void Run(GM_ADDR self, GM_ADDR other, GM_ADDR out, const ElementwiseTilingData &tiling)
{
    TPipe pipe;
    Kernel<T> kernel;
    kernel.Init(self, other, out, tiling, &pipe);
    kernel.Process();
}

} // namespace Add

extern "C" __global__ __aicore__ void add(GM_ADDR self, GM_ADDR other, GM_ADDR out, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    REGISTER_TILING_DEFAULT(ElementwiseTilingData);
    GET_TILING_DATA_WITH_STRUCT(ElementwiseTilingData, tilingData, tiling);
    if (TILING_KEY_IS(0)) {
        Add::Run<float>(self, other, out, tilingData);
    } else if (TILING_KEY_IS(1)) {
        Add::Run<half>(self, other, out, tilingData);
    } else if (TILING_KEY_IS(3)) {
        Add::Run<int32_t>(self, other, out, tilingData);
    } else if (TILING_KEY_IS(27)) {
        Add::Run<bfloat16_t>(self, other, out, tilingData);
    }
}
