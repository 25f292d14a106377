// HcPre. Tiling key 0: the tokens are split over the blocks. Key 1: the tokens and the columns of x.
#include "kernel_operator.h"

#include "hc_pre_kernel.h"

extern "C" __global__ __aicore__ void hc_pre(GM_ADDR x, GM_ADDR hcFn, GM_ADDR hcScale, GM_ADDR hcBase, GM_ADDR y, GM_ADDR post,
                                             GM_ADDR combFrag, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    REGISTER_TILING_DEFAULT(HcPreTilingData);
    GET_TILING_DATA_WITH_STRUCT(HcPreTilingData, tilingData, tiling);
    const HcPre::Addresses addresses{x,        hcFn,    hcScale, hcBase, nullptr, y, post,
                                     combFrag, nullptr, AscendC::GetUserWorkspace(workspace)};
    if (TILING_KEY_IS(0)) {
        HcPre::Run<DTYPE_X, false, false>(addresses, tilingData);
    } else if (TILING_KEY_IS(1)) {
        HcPre::Run<DTYPE_X, false, true>(addresses, tilingData);
    }
}
