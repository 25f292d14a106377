#ifndef ACLNNOP_ACLNN_MHC_PRE_SINKHORN_H
#define ACLNNOP_ACLNN_MHC_PRE_SINKHORN_H

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * First phase of aclnnMhcPreSinkhorn: checks the arguments and plans the work.
 * mix = n*n + 2n; [.., ..] stands for [b, s] (BSND) or [t] (TND, Ascend 950 only).
 *
 * @param [in]  x             FLOAT16 or BFLOAT16 [b, s, n, c] or [t, n, c], n == hcMult
 * @param [in]  phi           FLOAT [mix, n*c], rows: n pre, n post, n*n res (row-major)
 * @param [in]  alpha         FLOAT [3]: pre, post, res
 * @param [in]  bias          FLOAT [mix]
 * @param [in]  hcMult        number of residual streams, 4
 * @param [in]  numIters      Sinkhorn iterations, 20
 * @param [in]  hcEps         added after the sigmoid of hPre and to every Sinkhorn sum
 * @param [in]  normEps       added to the mean of squares before the square root
 * @param [in]  needBackward  also write the five tensors below
 * @param [out] hin           dtype of x [.., .., c]
 * @param [out] hPost         FLOAT [.., .., n]
 * @param [out] hRes          FLOAT [.., .., n*n]
 * @param [out] hPre          FLOAT [.., .., n]                 (NULL allowed when needBackward is false, as the next four)
 * @param [out] hcBeforeNorm  FLOAT [.., .., mix]
 * @param [out] invRms        FLOAT [.., .., 1]
 * @param [out] sumOut        FLOAT [2*numIters, .., .., n]
 * @param [out] normOut       FLOAT [2*numIters, .., .., n, n]
 * @param [out] workspaceSize bytes of device memory that the second phase needs
 * @param [out] executor      the plan, for one call of the second phase
 * @return 0; 161001 for a null pointer; 161002 for a dtype, shape, value or format that is not supported
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnMhcPreSinkhornGetWorkspaceSize(
    const aclTensor *x, const aclTensor *phi, const aclTensor *alpha, const aclTensor *bias, int64_t hcMult,
    int64_t numIters, double hcEps, double normEps, bool needBackward, aclTensor *hin, aclTensor *hPost, aclTensor *hRes,
    aclTensor *hPre, aclTensor *hcBeforeNorm, aclTensor *invRms, aclTensor *sumOut, aclTensor *normOut,
    uint64_t *workspaceSize, aclOpExecutor **executor);

/**
 * Second phase: puts the planned work on the stream and returns; results are there once the stream is synchronised.
 *
 * @param [in] workspace      device memory of workspaceSize bytes, NULL when that is 0
 * @param [in] workspaceSize  as the first phase returned it
 * @param [in] executor       as the first phase returned it; used up by this call
 * @param [in] stream         where to run; NULL is the default stream of the current context
 * @return 0; 161001 for a null executor or workspace; 561103 for a used-up executor; 361001 when the launch fails
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnMhcPreSinkhorn(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif // ACLNNOP_ACLNN_MHC_PRE_SINKHORN_H
