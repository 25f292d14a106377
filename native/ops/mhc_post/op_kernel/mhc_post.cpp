// MhcPost: the output of a layer goes back into the residual streams, which are mixed on the way.
#include "kernel_operator.h"

#include "../../mhc_common/op_kernel/mhc_post_kernel.h"

// Tiling key: bit 0 identity in the place of hRes, bit 1 short rows.
extern "C" __global__ __aicore__ void mhc_post(GM_ADDR x, GM_ADDR hRes, GM_ADDR hOut, GM_ADDR hPost, GM_ADDR out,
                                               GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    REGISTER_TILING_DEFAULT(MhcPostTilingData);
    GET_TILING_DATA_WITH_STRUCT(MhcPostTilingData, tilingData, tiling);
    const MhcPost::Addresses addresses{x, hRes, hOut, hPost, out};
    if (TILING_KEY_IS(0)) {
        MhcPost::Run<DTYPE_X, float, true, false>(addresses, tilingData);
    } else if (TILING_KEY_IS(1)) {
        MhcPost::Run<DTYPE_X, float, false, false>(addresses, tilingData);
    } else if (TILING_KEY_IS(2)) {
        MhcPost::Run<DTYPE_X, float, true, true>(addresses, tilingData);
    } else if (TILING_KEY_IS(3)) {
        MhcPost::Run<DTYPE_X, float, false, true>(addresses, tilingData);
    }
}
