// What MhcPreSinkhorn does behind the products: gates, Sinkhorn iterations, hin, and all outputs.
#ifndef MHC_PRE_SINKHORN_FINISH_H
#define MHC_PRE_SINKHORN_FINISH_H

#include "../../mhc_common/op_kernel/mhc_gate_planes.h"
#include "../../mhc_common/op_kernel/mhc_plane_writer.h"
#include "../../mhc_common/op_kernel/mhc_sinkhorn_planes.h"
#include "../../mhc_common/op_kernel/mhc_weighted_sum.h"
#include "mhc_pre_sinkhorn_tiling_data.h"

namespace MhcPreSinkhorn {

using namespace AscendC;

using Streams = Mhc::Shape<4>;

struct Addresses {
    GM_ADDR x;
    GM_ADDR phi;
    GM_ADDR alpha;
    GM_ADDR bias;
    GM_ADDR hin;
    GM_ADDR hPost;
    GM_ADDR hRes;
    GM_ADDR hPre; // this one and those below only with needBackward
    GM_ADDR hcBeforeNorm;
    GM_ADDR invRms;
    GM_ADDR sumOut;
    GM_ADDR normOut;
    GM_ADDR workspace;
};

template <typename T>
class Finisher {
public:
    __aicore__ inline void Init(Mhc::StreamReader<T> &x, const Addresses &addresses, const MhcPreSinkhornTilingData &tiling,
                                TPipe *pipe)
    {
        const MhcProjectionTilingData &projection = tiling.projection;
        tokens_ = projection.tokens;
        lanes_ = projection.rowsPerLoop;
        numIters_ = tiling.numIters;
        backward_ = tiling.needBackward != 0;
        hcEps_ = tiling.hcEps;
        Set(hPost_, addresses.hPost, STREAMS * tokens_);
        Set(hRes_, addresses.hRes, CELLS * tokens_);
        if (backward_) {
            const uint64_t slots = 2 * numIters_;
            Set(hPre_, addresses.hPre, STREAMS * tokens_);
            Set(hcBeforeNorm_, addresses.hcBeforeNorm, Streams::MIX * tokens_);
            Set(invRms_, addresses.invRms, tokens_);
            Set(sumOut_, addresses.sumOut, slots * STREAMS * tokens_);
            Set(normOut_, addresses.normOut, slots * CELLS * tokens_);
        }
        gates_.Init(addresses.alpha, addresses.bias, lanes_, pipe);
        writer_.Init(lanes_, pipe);
        sum_.Init(x, addresses.hin, tokens_, projection.tail, projection.tailTile, pipe);
        pipe->InitBuffer(sumsBuf_, 2 * STREAMS * lanes_ * sizeof(float));
        rowSums_ = sumsBuf_.Get<float>();
        columnSums_ = rowSums_[STREAMS * lanes_];
    }

    __aicore__ inline void Finish(uint64_t token, uint32_t count, const LocalTensor<float> &products,
                                  const LocalTensor<float> &invRms)
    {
        if (backward_) {
            writer_.WritePlane(invRms_[token], invRms, count);
            writer_.WriteProducts(hcBeforeNorm_[token * Streams::MIX], products, count);
        }
        gates_.Make(products, invRms, hcEps_, 0.0f);
        const GlobalTensor<float> hPost = hPost_[token * STREAMS];
        if (backward_) {
            writer_.WritePair(hPre_[token * STREAMS], gates_.Pre(), hPost, gates_.Post(), count);
        } else {
            writer_.WriteStreams(hPost, gates_.Post(), count);
        }
        Sinkhorn(token, count);
        sum_.Make(token, count, gates_.Pre(), 1, lanes_);
    }

private:
    static constexpr uint32_t STREAMS = Streams::STREAMS;
    static constexpr uint32_t CELLS = Streams::CELLS;

    static __aicore__ inline void Set(GlobalTensor<float> &tensor, GM_ADDR address, uint64_t size)
    {
        tensor.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(address), size);
    }

    __aicore__ inline void Sinkhorn(uint64_t token, uint32_t count)
    {
        const LocalTensor<float> cells = gates_.Cells();
        Mhc::SinkhornPlanes<STREAMS> planes(cells, rowSums_, columnSums_, lanes_, hcEps_);
        for (uint32_t iter = 0; iter < numIters_; ++iter) {
            if (iter == 0) {
                planes.SoftmaxStep();
            } else {
                planes.RowStep();
            }
            if (backward_) {
                WriteNorm(2 * iter, token, cells, count);
            }
            planes.ColumnStep();
            if (backward_) {
                WriteNorm(2 * iter + 1, token, cells, count);
                const uint64_t row = 2 * iter * tokens_ + token;
                writer_.WritePair(sumOut_[row * STREAMS], rowSums_, sumOut_[(row + tokens_) * STREAMS], columnSums_, count);
            }
        }
        writer_.WriteCells(hRes_[token * CELLS], cells, count);
    }

    __aicore__ inline void WriteNorm(uint32_t slot, uint64_t token, const LocalTensor<float> &cells, uint32_t count)
    {
        writer_.WriteCells(normOut_[(slot * tokens_ + token) * CELLS], cells, count);
    }

    uint64_t tokens_ = 0;
    uint32_t lanes_ = 0;
    uint32_t numIters_ = 0;
    bool backward_ = false;
    float hcEps_ = 0.0f;
    GlobalTensor<float> hPost_;
    GlobalTensor<float> hRes_;
    GlobalTensor<float> hPre_;
    GlobalTensor<float> hcBeforeNorm_;
    GlobalTensor<float> invRms_;
    GlobalTensor<float> sumOut_;
    GlobalTensor<float> normOut_;
    Mhc::GatePlanes<Streams> gates_;
    Mhc::PlaneWriter<Streams> writer_;
    Mhc::WeightedSum<T, STREAMS> sum_;
    TBuf<TPosition::VECCALC> sumsBuf_;
    LocalTensor<float> rowSums_;
    LocalTensor<float> columnSums_;
};

} // namespace MhcPreSinkhorn

#endif // MHC_PRE_SINKHORN_FINISH_H
