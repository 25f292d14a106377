// HcPreV2: HcPre, with the weights of y given or made here. Tiling keys as for HcPre.
#include "kernel_operator.h"

#include "../../hc_pre/op_kernel/hc_pre_kernel.h"

extern "C" __global__ __aicore__ void hc_pre_v2(GM_ADDR x, GM_ADDR hcFn, GM_ADDR hcScale, GM_ADDR hcBase, GM_ADDR preMix,
                                                GM_ADDR y, GM_ADDR post, GM_ADDR combFrag, GM_ADDR hcPre, GM_ADDR workspace,
                                                GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    REGISTER_TILING_DEFAULT(HcPreTilingData);
    GET_TILING_DATA_WITH_STRUCT(HcPreTilingData, tilingData, tiling);
    const HcPre::Addresses addresses{x,        hcFn,  hcScale, hcBase, preMix, y, post,
                                     combFrag, hcPre, AscendC::GetUserWorkspace(workspace)};
    if (TILING_KEY_IS(0)) {
        HcPre::Run<DTYPE_X, true, false>(addresses, tilingData);
    } else if (TILING_KEY_IS(1)) {
        HcPre::Run<DTYPE_X, true, true>(addresses, tilingData);
    }
}
