// HcPost: the output of a layer goes back into the four residual streams, which are mixed on the way.
#include "kernel_operator.h"

#include "../../mhc_common/op_kernel/mhc_post_kernel.h"
#include "hc_post_tiling_data.h"

// Tiling key: 2 * the dtype of post and comb (0 float, 1 half, 2 bfloat16_t), + 1 for short rows. That dtype is in the key, not
// a macro like the dtype of x, so that the nine combinations are three files to compile and not nine.
extern "C" __global__ __aicore__ void hc_post(GM_ADDR x, GM_ADDR residual, GM_ADDR post, GM_ADDR comb, GM_ADDR y,
                                              GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    REGISTER_TILING_DEFAULT(HcPostTilingData);
    GET_TILING_DATA_WITH_STRUCT(HcPostTilingData, tilingData, tiling);
    const MhcPost::Addresses addresses{residual, comb, x, post, y};
    if (TILING_KEY_IS(0)) {
        MhcPost::Run<DTYPE_X, float, true, false>(addresses, tilingData);
    } else if (TILING_KEY_IS(1)) {
        MhcPost::Run<DTYPE_X, float, true, true>(addresses, tilingData);
    } else if (TILING_KEY_IS(2)) {
        MhcPost::Run<DTYPE_X, half, true, false>(addresses, tilingData);
    } else if (TILING_KEY_IS(3)) {
        MhcPost::Run<DTYPE_X, half, true, true>(addresses, tilingData);
    } else if (TILING_KEY_IS(4)) {
        MhcPost::Run<DTYPE_X, bfloat16_t, true, false>(addresses, tilingData);
    } else if (TILING_KEY_IS(5)) {
        MhcPost::Run<DTYPE_X, bfloat16_t, true, true>(addresses, tilingData);
    }
}
