// HcPreSinkhorn: gates, Sinkhorn on the matrix between the streams, weighted sum of the streams; the projections are given.
#include "kernel_operator.h"

#include "../../mhc_common/op_kernel/mhc_gate_planes.h"
#include "../../mhc_common/op_kernel/mhc_plane_writer.h"
#include "../../mhc_common/op_kernel/mhc_sinkhorn_planes.h"
#include "../../mhc_common/op_kernel/mhc_weighted_sum.h"
#include "hc_pre_sinkhorn_tiling_data.h"

namespace HcPreSinkhorn {

using namespace AscendC;
using Streams = Mhc::Shape<4>;

struct Addresses {
    GM_ADDR mixes;
    GM_ADDR rsqrt;
    GM_ADDR hcScale;
    GM_ADDR hcBase;
    GM_ADDR x;
    GM_ADDR y;
    GM_ADDR post;
    GM_ADDR combFrag;
};

template <typename T>
class Kernel {
public:
    __aicore__ inline void Init(const Addresses &addresses, const HcPreSinkhornTilingData &tiling, TPipe *pipe)
    {
        tiling_ = &tiling;
        const uint32_t lanes = tiling.rowsPerLoop;
        Set(mixes_, addresses.mixes, tiling.tokens * Streams::MIX);
        Set(rsqrt_, addresses.rsqrt, tiling.tokens);
        Set(post_, addresses.post, tiling.tokens * Streams::STREAMS);
        Set(combFrag_, addresses.combFrag, tiling.tokens * Streams::CELLS);
        pipe->InitBuffer(mixesIn_, 2, lanes * Streams::MIX * sizeof(float));
        pipe->InitBuffer(rsqrtIn_, 2, lanes * sizeof(float));
        pipe->InitBuffer(sumsBuf_, 2 * Streams::STREAMS * lanes * sizeof(float));
        gates_.Init(addresses.hcScale, addresses.hcBase, lanes, pipe);
        writer_.Init(lanes, pipe);
        x_.Init(addresses.x, tiling.tokens * Streams::STREAMS * tiling.tail, Streams::STREAMS * tiling.tailTile, pipe);
        weightedSum_.Init(x_, addresses.y, tiling.tokens, tiling.tail, tiling.tailTile, pipe);
    }

    __aicore__ inline void Process()
    {
        const uint64_t first = Mhc::Smaller(GetBlockIdx() * tiling_->rowsPerCore, tiling_->tokens);
        const uint64_t last = Mhc::Smaller(first + tiling_->rowsPerCore, tiling_->tokens);
        for (uint64_t token = first; token < last; token += tiling_->rowsPerLoop) {
            const uint32_t count = static_cast<uint32_t>(Mhc::Smaller(tiling_->rowsPerLoop, last - token));
            MakeGates(token, count);
            Sinkhorn(token, count);
            weightedSum_.Make(token, count, gates_.Pre(), 1, tiling_->rowsPerLoop);
        }
    }

private:
    static __aicore__ inline void Set(GlobalTensor<float> &tensor, GM_ADDR address, uint64_t size)
    {
        tensor.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(address), size);
    }

    __aicore__ inline void MakeGates(uint64_t token, uint32_t count)
    {
        LocalTensor<float> mixes = mixesIn_.AllocTensor<float>();
        DataCopy(mixes, mixes_[token * Streams::MIX], count * Streams::MIX);
        mixesIn_.EnQue(mixes);
        LocalTensor<float> rsqrt = rsqrtIn_.AllocTensor<float>();
        DataCopyExtParams params(1, count * sizeof(float), 0, 0, 0);
        DataCopyPadExtParams<float> noPadding(false, 0, 0, 0.0f);
        DataCopyPad(rsqrt, rsqrt_[token], params, noPadding);
        rsqrtIn_.EnQue(rsqrt);

        mixes = mixesIn_.DeQue<float>();
        rsqrt = rsqrtIn_.DeQue<float>();
        gates_.Make(mixes, rsqrt, tiling_->hcEps, 0.0f);
        mixesIn_.FreeTensor(mixes);
        rsqrtIn_.FreeTensor(rsqrt);
        writer_.WriteStreams(post_[token * Streams::STREAMS], gates_.Post(), count);
    }

    __aicore__ inline void Sinkhorn(uint64_t token, uint32_t count)
    {
        LocalTensor<float> sums = sumsBuf_.Get<float>();
        const uint32_t lanes = tiling_->rowsPerLoop;
        Mhc::SinkhornPlanes<Streams::STREAMS> planes(gates_.Cells(), sums, sums[Streams::STREAMS * lanes], lanes,
                                                     tiling_->hcEps);
        planes.SoftmaxStep();
        planes.ColumnStep();
        for (uint32_t iter = 1; iter < tiling_->numIters; ++iter) {
            planes.RowStep();
            planes.ColumnStep();
        }
        writer_.WriteCells(combFrag_[token * Streams::CELLS], gates_.Cells(), count);
    }

    const HcPreSinkhornTilingData *tiling_ = nullptr;
    GlobalTensor<float> mixes_;
    GlobalTensor<float> rsqrt_;
    GlobalTensor<float> post_;
    GlobalTensor<float> combFrag_;
    TQue<TPosition::VECIN, 2> mixesIn_;
    TQue<TPosition::VECIN, 2> rsqrtIn_;
    TBuf<TPosition::VECCALC> sumsBuf_;
    Mhc::GatePlanes<Streams> gates_;
    Mhc::PlaneWriter<Streams> writer_;
    Mhc::StreamReader<T> x_;
    Mhc::WeightedSum<T, Streams::STREAMS> weightedSum_;
};

__aicore__ inline void Run(const Addresses &addresses, const HcPreSinkhornTilingData &tiling)
{
    TPipe pipe;
    Kernel<DTYPE_X> kernel;
    kernel.Init(addresses, tiling, &pipe);
    kernel.Process();
}

} // namespace HcPreSinkhorn

// Tiling key 0: the tokens are split over the vector cores.
extern "C" __global__ __aicore__ void hc_pre_sinkhorn(GM_ADDR mixes, GM_ADDR rsqrt, GM_ADDR hcScale, GM_ADDR hcBase,
                                                      GM_ADDR x, GM_ADDR y, GM_ADDR post, GM_ADDR combFrag,
                                                      GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    REGISTER_TILING_DEFAULT(HcPreSinkhornTilingData);
    GET_TILING_DATA_WITH_STRUCT(HcPreSinkhornTilingData, tilingData, tiling);
    if (TILING_KEY_IS(0)) {
        HcPreSinkhorn::Run({mixes, rsqrt, hcScale, hcBase, x, y, post, combFrag}, tilingData);
    }
}
