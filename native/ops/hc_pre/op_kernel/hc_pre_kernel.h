// HcPre and HcPreV2: RMS norm and projection of x in the reduced float of the cube, gates, Sinkhorn on comb_frag, weighted sum
// of the streams.
#ifndef HC_PRE_KERNEL_H
#define HC_PRE_KERNEL_H

#include "../../mhc_common/op_kernel/mhc_gate_planes.h"
#include "../../mhc_common/op_kernel/mhc_plane_writer.h"
#include "../../mhc_common/op_kernel/mhc_projection_cube.h"
#include "../../mhc_common/op_kernel/mhc_projection_vector.h"
#include "../../mhc_common/op_kernel/mhc_sinkhorn_planes.h"
#include "../../mhc_common/op_kernel/mhc_weighted_sum.h"
#include "hc_pre_tiling_data.h"

namespace HcPre {

using namespace Mhc;

using Streams = Mhc::Shape<4>;

struct Addresses {
    GM_ADDR x;
    GM_ADDR hcFn;
    GM_ADDR hcScale;
    GM_ADDR hcBase;
    GM_ADDR preMix; // V2 only, and only when the tiling says so
    GM_ADDR y;
    GM_ADDR post;
    GM_ADDR combFrag;
    GM_ADDR hcPre; // V2 only
    GM_ADDR workspace;
};

// What becomes of the products of a few tokens.
template <typename T, bool V2>
class Finisher {
public:
    __aicore__ inline void Init(const Addresses &addresses, StreamReader<T> &x, const HcPreTilingData &tiling, TPipe *pipe)
    {
        tiling_ = &tiling;
        const MhcProjectionTilingData &projection = tiling.projection;
        lanes_ = projection.rowsPerLoop;
        const uint64_t tokens = projection.tokens;
        post_.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(addresses.post), tokens * Streams::STREAMS);
        combFrag_.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(addresses.combFrag), tokens * Streams::CELLS);
        gates_.Init(addresses.hcScale, addresses.hcBase, lanes_, pipe);
        writer_.Init(lanes_, pipe);
        sum_.Init(x, addresses.y, tokens, projection.tail, projection.tailTile, pipe);
        pipe->InitBuffer(sumsBuf_, 2 * Streams::STREAMS * lanes_ * sizeof(float));
        if constexpr (V2) {
            hcPre_.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(addresses.hcPre), tokens * Streams::STREAMS);
            if (tiling.preMix != 0) {
                preMix_.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(addresses.preMix), tokens * Streams::STREAMS);
                pipe->InitBuffer(preMixIn_, 1, lanes_ * Streams::STREAMS * sizeof(float));
            }
        }
    }

    __aicore__ inline void Finish(uint64_t token, uint32_t count, const LocalTensor<float> &products,
                                  const LocalTensor<float> &invRms)
    {
        LocalTensor<float> given;
        if constexpr (V2) {
            if (tiling_->preMix != 0) {
                given = LoadGiven(token, count); // before hcPre is written, which may be the same memory
            }
        }
        gates_.Make(products, invRms, tiling_->hcEps, 0.0f);
        const GlobalTensor<float> post = post_[token * Streams::STREAMS];
        if constexpr (V2) {
            writer_.WritePair(hcPre_[token * Streams::STREAMS], gates_.Pre(), post, gates_.Post(), count);
        } else {
            writer_.WriteStreams(post, gates_.Post(), count);
        }
        Sinkhorn();
        writer_.WriteCells(combFrag_[token * Streams::CELLS], gates_.Cells(), count);
        if constexpr (V2) {
            if (tiling_->preMix != 0) {
                sum_.Make(token, count, given, Streams::STREAMS, 1);
                preMixIn_.FreeTensor(given);
                return;
            }
        }
        sum_.Make(token, count, gates_.Pre(), 1, lanes_);
    }

private:
    __aicore__ inline void Sinkhorn()
    {
        LocalTensor<float> sums = sumsBuf_.Get<float>();
        SinkhornPlanes<Streams::STREAMS> planes(gates_.Cells(), sums, sums[Streams::STREAMS * lanes_], lanes_,
                                                tiling_->hcEps);
        planes.SoftmaxStep();
        planes.ColumnStep();
        for (uint32_t iter = 1; iter < tiling_->iters; ++iter) {
            planes.RowStep();
            planes.ColumnStep();
        }
    }

    __aicore__ inline LocalTensor<float> LoadGiven(uint64_t token, uint32_t count)
    {
        LocalTensor<float> weights = preMixIn_.template AllocTensor<float>();
        DataCopyExtParams params(1, count * Streams::STREAMS * sizeof(float), 0, 0, 0);
        DataCopyPadExtParams<float> noPadding(false, 0, 0, 0.0f);
        DataCopyPad(weights, preMix_[token * Streams::STREAMS], params, noPadding);
        preMixIn_.EnQue(weights);
        return preMixIn_.template DeQue<float>();
    }

    const HcPreTilingData *tiling_ = nullptr;
    uint32_t lanes_ = 0;
    GlobalTensor<float> post_;
    GlobalTensor<float> combFrag_;
    GlobalTensor<float> hcPre_;
    GlobalTensor<float> preMix_;
    GatePlanes<Streams> gates_;
    PlaneWriter<Streams> writer_;
    WeightedSum<T, Streams::STREAMS> sum_;
    TBuf<TPosition::VECCALC> sumsBuf_; // of rows and columns, n planes each
    TQue<TPosition::VECIN, 1> preMixIn_;
};

// SPLIT_K: the columns of x are split over the blocks too.
template <typename T, bool V2, bool SPLIT_K>
__aicore__ inline void Run(const Addresses &addresses, const HcPreTilingData &tiling)
{
    TPipe pipe;
    if ASCEND_IS_AIC {
        ProjectionCube<Streams> cube;
        cube.Init(addresses.hcFn, addresses.workspace, tiling.projection, &pipe);
        cube.template Process<SPLIT_K>();
    } else {
        StreamReader<T> x;
        x.Init(addresses.x, Streams::STREAMS, tiling.projection, &pipe);
        Finisher<T, V2> finisher;
        finisher.Init(addresses, x, tiling, &pipe);
        ProjectionVector<T, Streams> vector;
        vector.Init(x, nullptr, addresses.workspace, tiling.projection, &pipe);
        vector.template Process<SPLIT_K>(finisher);
    }
}

} // namespace HcPre

#endif // HC_PRE_KERNEL_H
