// MhcPre: RMS norm and projection of x, gates, weighted sum of the streams.
#include "kernel_operator.h"

#include "../../mhc_common/op_kernel/mhc_projection_cube.h"
#include "../../mhc_common/op_kernel/mhc_projection_vector.h"
#include "mhc_pre_finish.h"

namespace MhcPre {

template <uint32_t N, bool RES, bool SPLIT_K>
__aicore__ inline void Run(const Addresses &addresses, const MhcPreTilingData &tiling)
{
    using Streams = Mhc::Shape<N, RES>;
    TPipe pipe;
    const MhcProjectionTilingData &projection = tiling.projection;
    if ASCEND_IS_AIC {
        Mhc::ProjectionCube<Streams> cube;
        cube.Init(addresses.phi, addresses.workspace, projection, &pipe);
        cube.template Process<SPLIT_K>();
    } else {
        Mhc::StreamReader<DTYPE_X> x;
        x.Init(addresses.x, N, projection, &pipe);
        Finisher<DTYPE_X, Streams> finisher;
        finisher.Init(x, addresses, tiling, &pipe);
        Mhc::ProjectionVector<DTYPE_X, Streams> vector;
        vector.Init(x, addresses.gamma, addresses.workspace, projection, &pipe);
        vector.template Process<SPLIT_K>(finisher);
    }
}

} // namespace MhcPre

// Tiling key, three decimal digits: n; 1 without hRes; 1 when the columns of x are split over the blocks, not only the tokens.
extern "C" __global__ __aicore__ void mhc_pre(GM_ADDR x, GM_ADDR phi, GM_ADDR alpha, GM_ADDR bias, GM_ADDR gamma, GM_ADDR hIn,
                                              GM_ADDR hPost, GM_ADDR hRes, GM_ADDR invRms, GM_ADDR hMix, GM_ADDR hPre,
                                              GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    REGISTER_TILING_DEFAULT(MhcPreTilingData);
    GET_TILING_DATA_WITH_STRUCT(MhcPreTilingData, tilingData, tiling);
    const MhcPre::Addresses addresses{x,    phi,    alpha, bias, gamma, hIn, hPost, hRes, invRms, hMix, hPre,
                                      AscendC::GetUserWorkspace(workspace)};
    if (TILING_KEY_IS(400)) {
        MhcPre::Run<4, true, false>(addresses, tilingData);
    } else if (TILING_KEY_IS(401)) {
        MhcPre::Run<4, true, true>(addresses, tilingData);
    } else if (TILING_KEY_IS(410)) {
        MhcPre::Run<4, false, false>(addresses, tilingData);
    } else if (TILING_KEY_IS(411)) {
        MhcPre::Run<4, false, true>(addresses, tilingData);
    }
#if defined(__NPU_ARCH__) && (__NPU_ARCH__ == 3510)
    if (TILING_KEY_IS(600)) {
        MhcPre::Run<6, true, false>(addresses, tilingData);
    } else if (TILING_KEY_IS(601)) {
        MhcPre::Run<6, true, true>(addresses, tilingData);
    } else if (TILING_KEY_IS(610)) {
        MhcPre::Run<6, false, false>(addresses, tilingData);
    } else if (TILING_KEY_IS(611)) {
        MhcPre::Run<6, false, true>(addresses, tilingData);
    } else if (TILING_KEY_IS(800)) {
        MhcPre::Run<8, true, false>(addresses, tilingData);
    } else if (TILING_KEY_IS(801)) {
        MhcPre::Run<8, true, true>(addresses, tilingData);
    } else if (TILING_KEY_IS(810)) {
        MhcPre::Run<8, false, false>(addresses, tilingData);
    } else if (TILING_KEY_IS(811)) {
        MhcPre::Run<8, false, true>(addresses, tilingData);
    }
#endif
}
