// MhcPreSinkhornBackward: the gradients of x, phi, alpha and bias from those of hin, hPost and hRes.
#include "kernel_operator.h"

#include "mhc_pre_sinkhorn_backward_column_pass.h"
#include "mhc_pre_sinkhorn_backward_cube.h"
#include "mhc_pre_sinkhorn_backward_token_pass.h"
#include "mhc_pre_sinkhorn_backward_totals.h"

namespace MhcPreSinkhornBackward {

// The work of a core between two meetings of all, with the whole unified buffer to itself.
template <typename Work>
__aicore__ inline void Prepare(Work &work, const Addresses &addresses, const TilingData &tiling, TPipe *pipe)
{
    PipeBarrier<PIPE_ALL>();
    pipe->Reset();
    work.Init(addresses, tiling, pipe);
}

template <bool SPLIT>
__aicore__ inline void Run(const Addresses &addresses, const TilingData &tiling)
{
    TPipe pipe;
    if ASCEND_IS_AIC {
        Cube cube;
        cube.Init(addresses, tiling, &pipe);
        SyncAll<false>(); // the gradients of all tokens are there
        cube.Process<SPLIT>();
        if constexpr (SPLIT) {
            SyncAll<false>();
        }
    } else {
        TokenPass<DTYPE_X> tokens;
        tokens.Init(addresses, tiling, &pipe);
        tokens.Process();
        SyncAll<false>();
        ColumnPass<DTYPE_X> columns;
        Prepare(columns, addresses, tiling, &pipe);
        columns.Process();
        if constexpr (SPLIT) {
            SyncAll<false>();
        }
        Totals totals;
        Prepare(totals, addresses, tiling, &pipe);
        if (GetBlockIdx() == 0) {
            totals.Small();
        }
        if constexpr (SPLIT) {
            totals.GradPhi();
        }
    }
}

} // namespace MhcPreSinkhornBackward

// Tiling key 0: each block sums gradPhi of its columns over all tokens. Key 1: the tokens are split as well.
extern "C" __global__ __aicore__ void mhc_pre_sinkhorn_backward(
    GM_ADDR gradHin, GM_ADDR gradHPost, GM_ADDR gradHRes, GM_ADDR x, GM_ADDR phi, GM_ADDR alpha, GM_ADDR bias, GM_ADDR hPre,
    GM_ADDR hcBeforeNorm, GM_ADDR invRms, GM_ADDR sumOut, GM_ADDR normOut, GM_ADDR gradX, GM_ADDR gradPhi, GM_ADDR gradAlpha,
    GM_ADDR gradBias, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    REGISTER_TILING_DEFAULT(MhcPreSinkhornBackwardTilingData);
    GET_TILING_DATA_WITH_STRUCT(MhcPreSinkhornBackwardTilingData, tilingData, tiling);
    const MhcPreSinkhornBackward::Addresses addresses{
        gradHin,      gradHPost, gradHRes, x,       phi,   alpha,   bias,      hPre,
        hcBeforeNorm, invRms,    sumOut,   normOut, gradX, gradPhi, gradAlpha, gradBias,
        AscendC::GetUserWorkspace(workspace)};
    if (TILING_KEY_IS(0)) {
        MhcPreSinkhornBackward::Run<false>(addresses, tilingData);
    } else if (TILING_KEY_IS(1)) {
        MhcPreSinkhornBackward::Run<true>(addresses, tilingData);
    }
}
