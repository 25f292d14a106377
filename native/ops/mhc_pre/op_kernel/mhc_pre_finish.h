// What MhcPre does behind the products: gates, hin, and all outputs.
#ifndef MHC_PRE_FINISH_H
#define MHC_PRE_FINISH_H

#include "../../mhc_common/op_kernel/mhc_gate_planes.h"
#include "../../mhc_common/op_kernel/mhc_plane_writer.h"
#include "../../mhc_common/op_kernel/mhc_weighted_sum.h"
#include "mhc_pre_tiling_data.h"

namespace MhcPre {

using namespace AscendC;

struct Addresses {
    GM_ADDR x;
    GM_ADDR phi;
    GM_ADDR alpha;
    GM_ADDR bias;
    GM_ADDR gamma; // null: none
    GM_ADDR hIn;
    GM_ADDR hPost;
    GM_ADDR hRes;   // only with rows of phi for it
    GM_ADDR invRms; // this one and those below only with outFlag
    GM_ADDR hMix;
    GM_ADDR hPre;
    GM_ADDR workspace;
};

template <typename T, typename SHAPE>
class Finisher {
public:
    __aicore__ inline void Init(Mhc::StreamReader<T> &x, const Addresses &addresses, const MhcPreTilingData &tiling,
                                TPipe *pipe)
    {
        const MhcProjectionTilingData &projection = tiling.projection;
        const uint64_t tokens = projection.tokens;
        lanes_ = projection.rowsPerLoop;
        outFlag_ = tiling.outFlag != 0;
        hcEps_ = tiling.hcEps;
        Set(hPost_, addresses.hPost, SHAPE::STREAMS * tokens);
        Set(hRes_, addresses.hRes, SHAPE::CELLS * tokens);
        if (outFlag_) {
            Set(invRms_, addresses.invRms, tokens);
            Set(hMix_, addresses.hMix, SHAPE::MIX * tokens);
            Set(hPre_, addresses.hPre, SHAPE::STREAMS * tokens);
        }
        gates_.Init(addresses.alpha, addresses.bias, lanes_, pipe);
        writer_.Init(lanes_, pipe);
        sum_.Init(x, addresses.hIn, tokens, projection.tail, projection.tailTile, pipe);
    }

    __aicore__ inline void Finish(uint64_t token, uint32_t count, const LocalTensor<float> &products,
                                  const LocalTensor<float> &invRms)
    {
        constexpr bool hasRes = SHAPE::CELLS > 0;
        gates_.Make(products, invRms, hcEps_, hasRes ? 0.0f : hcEps_);
        const GlobalTensor<float> hPost = hPost_[token * SHAPE::STREAMS];
        if (outFlag_) {
            writer_.WritePlane(invRms_[token], invRms, count);
            writer_.WriteProducts(hMix_[token * SHAPE::MIX], products, count);
            writer_.WritePair(hPre_[token * SHAPE::STREAMS], gates_.Pre(), hPost, gates_.Post(), count);
        } else {
            writer_.WriteStreams(hPost, gates_.Post(), count);
        }
        if constexpr (hasRes) {
            writer_.WriteCells(hRes_[token * SHAPE::CELLS], gates_.Cells(), count);
        }
        sum_.Make(token, count, gates_.Pre(), 1, lanes_);
    }

private:
    static __aicore__ inline void Set(GlobalTensor<float> &tensor, GM_ADDR address, uint64_t size)
    {
        tensor.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(address), size);
    }

    uint32_t lanes_ = 0;
    bool outFlag_ = false;
    float hcEps_ = 0.0f;
    GlobalTensor<float> hPost_;
    GlobalTensor<float> hRes_;
    GlobalTensor<float> invRms_;
    GlobalTensor<float> hMix_;
    GlobalTensor<float> hPre_;
    Mhc::GatePlanes<SHAPE> gates_;
    Mhc::PlaneWriter<SHAPE> writer_;
    Mhc::WeightedSum<T, SHAPE::STREAMS> sum_;
};

} // namespace MhcPre

#endif // MHC_PRE_FINISH_H
