// MhcPreSinkhorn: RMS norm and projection of x, gates, Sinkhorn on the residual matrix, weighted sum of the streams.
#include "kernel_operator.h"

#include "../../mhc_common/op_kernel/mhc_projection_cube.h"
#include "../../mhc_common/op_kernel/mhc_projection_vector.h"
#include "mhc_pre_sinkhorn_finish.h"

namespace MhcPreSinkhorn {

template <bool SPLIT_K>
__aicore__ inline void Run(const Addresses &addresses, const MhcPreSinkhornTilingData &tiling)
{
    TPipe pipe;
    const MhcProjectionTilingData &projection = tiling.projection;
    if ASCEND_IS_AIC {
        Mhc::ProjectionCube<Streams> cube;
        cube.Init(addresses.phi, addresses.workspace, projection, &pipe);
        cube.template Process<SPLIT_K>();
    } else {
        Mhc::StreamReader<DTYPE_X> x;
        x.Init(addresses.x, Streams::STREAMS, projection, &pipe);
        Finisher<DTYPE_X> finisher;
        finisher.Init(x, addresses, tiling, &pipe);
        Mhc::ProjectionVector<DTYPE_X, Streams> vector;
        vector.Init(x, nullptr, addresses.workspace, projection, &pipe);
        vector.template Process<SPLIT_K>(finisher);
    }
}

} // namespace MhcPreSinkhorn

// Tiling key 0: the tokens are split over the blocks. Key 1: the tokens and the columns of x.
extern "C" __global__ __aicore__ void mhc_pre_sinkhorn(GM_ADDR x, GM_ADDR phi, GM_ADDR alpha, GM_ADDR bias, GM_ADDR hin,
                                                       GM_ADDR hPost, GM_ADDR hRes, GM_ADDR hPre, GM_ADDR hcBeforeNorm,
                                                       GM_ADDR invRms, GM_ADDR sumOut, GM_ADDR normOut, GM_ADDR workspace,
                                                       GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    REGISTER_TILING_DEFAULT(MhcPreSinkhornTilingData);
    GET_TILING_DATA_WITH_STRUCT(MhcPreSinkhornTilingData, tilingData, tiling);
    const MhcPreSinkhorn::Addresses addresses{
        x, phi, alpha, bias, hin, hPost, hRes, hPre, hcBeforeNorm, invRms, sumOut, normOut,
        AscendC::GetUserWorkspace(workspace)};
    if (TILING_KEY_IS(0)) {
        MhcPreSinkhorn::Run<false>(addresses, tilingData);
    } else if (TILING_KEY_IS(1)) {
        MhcPreSinkhorn::Run<true>(addresses, tilingData);
    }
}
