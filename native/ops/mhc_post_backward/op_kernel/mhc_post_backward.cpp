// MhcPostBackward: the gradients of MhcPost.
#include "kernel_operator.h"

#include "mhc_post_backward_kernel.h"

// Tiling key 1: the identity in the place of hRes.
extern "C" __global__ __aicore__ void mhc_post_backward(GM_ADDR gradOutput, GM_ADDR x, GM_ADDR hRes, GM_ADDR hOut,
                                                        GM_ADDR hPost, GM_ADDR gradX, GM_ADDR gradHres, GM_ADDR gradHout,
                                                        GM_ADDR gradHpost, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    REGISTER_TILING_DEFAULT(MhcPostBackwardTilingData);
    GET_TILING_DATA_WITH_STRUCT(MhcPostBackwardTilingData, tilingData, tiling);
    const MhcPostBackward::Addresses addresses{gradOutput, x,        hRes,     hOut,     hPost,
                                               gradX,      gradHres, gradHout, gradHpost};
    if (TILING_KEY_IS(0)) {
        MhcPostBackward::Run<DTYPE_X, true>(addresses, tilingData);
    } else if (TILING_KEY_IS(1)) {
        MhcPostBackward::Run<DTYPE_X, false>(addresses, tilingData);
    }
}
