#ifndef ACLNNOP_ACLNN_MHC_POST_BACKWARD_H
#define ACLNNOP_ACLNN_MHC_POST_BACKWARD_H

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * First phase of aclnnMhcPostBackward: checks the arguments and plans the work.
 * The gradients of aclnnMhcPost. With g = gradOutput, for each token: gradX_i = sum_j hRes_ij * g_j,
 * gradHres_ij = <x_i, g_j> over D, gradHout = sum_j hPost_j * g_j, gradHpost_j = <hOut, g_j> over D.
 * [.., ..] stands for [b, s] (BSND) or [t] (TND). n is 4, on Ascend 950 also 6 or 8; D is a multiple of 128 up to 100000.
 *
 * @param [in]  gradOutput    dtype of x [.., .., n, D]
 * @param [in]  x             FLOAT16 or BFLOAT16 [.., .., n, D]
 * @param [in]  hRes          FLOAT [.., .., n, n]; NULL (Ascend 950 only) is the identity: gradX = gradOutput
 * @param [in]  hOut          dtype of x [.., .., D]
 * @param [in]  hPost         FLOAT [.., .., n]
 * @param [out] gradX         dtype of x [.., .., n, D]
 * @param [out] gradHres      FLOAT [.., .., n, n], also when hRes is NULL
 * @param [out] gradHout      dtype of x [.., .., D]
 * @param [out] gradHpost     FLOAT [.., .., n]
 * @param [out] workspaceSize bytes of device memory that the second phase needs
 * @param [out] executor      the plan, for one call of the second phase
 * @return 0; 161001 for a null pointer; 161002 for an empty tensor, a dtype, shape or format that is not supported
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnMhcPostBackwardGetWorkspaceSize(
    const aclTensor *gradOutput, const aclTensor *x, const aclTensor *hRes, const aclTensor *hOut, const aclTensor *hPost,
    aclTensor *gradX, aclTensor *gradHres, aclTensor *gradHout, aclTensor *gradHpost, uint64_t *workspaceSize,
    aclOpExecutor **executor);

/**
 * Second phase: puts the planned work on the stream and returns; results are there once the stream is synchronised.
 *
 * @param [in] workspace      device memory of workspaceSize bytes, NULL when that is 0
 * @param [in] workspaceSize  as the first phase returned it
 * @param [in] executor       as the first phase returned it; used up by this call
 * @param [in] stream         where to run; NULL is the default stream of the current context
 * @return 0; 161001 for a null executor or workspace; 561103 for a used-up executor; 361001 when the launch fails
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnMhcPostBackward(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif // ACLNNOP_ACLNN_MHC_POST_BACKWARD_H
