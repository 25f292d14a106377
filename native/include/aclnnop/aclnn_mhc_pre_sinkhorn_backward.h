#ifndef ACLNNOP_ACLNN_MHC_PRE_SINKHORN_BACKWARD_H
#define ACLNNOP_ACLNN_MHC_PRE_SINKHORN_BACKWARD_H

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * First phase of aclnnMhcPreSinkhornBackward: checks the arguments and plans the work.
 * mix = n*n + 2n; [.., ..] stands for [b, s] (BSND) or [t] (TND, Ascend 950 only).
 *
 * @param [in]  gradHin       dtype of x [.., .., c]
 * @param [in]  gradHPost     FLOAT [.., .., n]
 * @param [in]  gradHRes      FLOAT [.., .., n*n] or [.., .., n, n]
 * @param [in]  x             FLOAT16 or BFLOAT16 [b, s, n, c] or [t, n, c]
 * @param [in]  phi           FLOAT [mix, n*c], rows: n pre, n post, n*n res (row-major)
 * @param [in]  alpha         FLOAT [3]: pre, post, res
 * @param [in]  bias          FLOAT [mix]
 * @param [in]  hPre          FLOAT [.., .., n], this one and the next four as aclnnMhcPreSinkhorn wrote them
 * @param [in]  hcBeforeNorm  FLOAT [.., .., mix]
 * @param [in]  invRms        FLOAT [.., .., 1]
 * @param [in]  sumOut        FLOAT [2*numIters, .., .., n]
 * @param [in]  normOut       FLOAT [2*numIters, .., .., n, n]
 * @param [in]  hcEps         the forward operator's
 * @param [out] gradX         dtype and shape of x
 * @param [out] gradPhi       FLOAT [mix, n*c]
 * @param [out] gradAlpha     FLOAT [3]
 * @param [out] gradBias      FLOAT [mix]
 * @param [out] workspaceSize bytes of device memory that the second phase needs
 * @param [out] executor      the plan, for one call of the second phase
 * @return 0; 161001 for a null pointer; 161002 for a dtype, shape, value or format that is not supported
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnMhcPreSinkhornBackwardGetWorkspaceSize(
    const aclTensor *gradHin, const aclTensor *gradHPost, const aclTensor *gradHRes, const aclTensor *x,
    const aclTensor *phi, const aclTensor *alpha, const aclTensor *bias, const aclTensor *hPre,
    const aclTensor *hcBeforeNorm, const aclTensor *invRms, const aclTensor *sumOut, const aclTensor *normOut,
    double hcEps, aclTensor *gradX, aclTensor *gradPhi, aclTensor *gradAlpha, aclTensor *gradBias,
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
ACL_FUNC_VISIBILITY aclnnStatus aclnnMhcPreSinkhornBackward(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif // ACLNNOP_ACLNN_MHC_PRE_SINKHORN_BACKWARD_H
