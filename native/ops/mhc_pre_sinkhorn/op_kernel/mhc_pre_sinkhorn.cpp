// MhcPreSinkhorn: RMS norm and projection of x, gates, Sinkhorn on the residual matrix, weighted sum of the streams.
#include "kernel_operator.h"

#include "mhc_pre_sinkhorn_cube.h"
#include "mhc_pre_sinkhorn_vector.h"

extern "C" __global__ __aicore__ void mhc_pre_sinkhorn(GM_ADDR x, GM_ADDR phi, GM_ADDR alpha, GM_ADDR bias, GM_ADDR hin,
                                                       GM_ADDR hPost, GM_ADDR hRes, GM_ADDR hPre, GM_ADDR hcBeforeNorm,
                                                       GM_ADDR invRms, GM_ADDR sumOut, GM_ADDR normOut, GM_ADDR workspace,
                                                       GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    REGISTER_TILING_DEFAULT(MhcPreSinkhornTilingData);
    GET_TILING_DATA_WITH_STRUCT(MhcPreSinkhornTilingData, tilingData, tiling);
    GM_ADDR user = AscendC::GetUserWorkspace(workspace);
    AscendC::TPipe pipe;
    if (TILING_KEY_IS(0)) {
        if ASCEND_IS_AIC {
            MhcPreSinkhorn::Cube cube;
            cube.Init(phi, user, tilingData, &pipe);
            cube.Process();
        } else {
            MhcPreSinkhorn::Vector<DTYPE_X> vector;
            const MhcPreSinkhorn::OutputAddresses outputs{hPost, hRes, hPre, hcBeforeNorm, invRms, sumOut, normOut};
            vector.Init(x, alpha, bias, hin, outputs, user, tilingData, &pipe);
            vector.Process();
        }
    }
}
