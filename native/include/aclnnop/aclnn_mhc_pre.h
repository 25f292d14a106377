#ifndef ACLNNOP_ACLNN_MHC_PRE_H
#define ACLNNOP_ACLNN_MHC_PRE_H

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * First phase of aclnnMhcPre: checks the arguments and plans the work.
 * [.., ..] stands for [B, S] or [T]; rows is n*n + 2n with an alpha of 3 and 2n with an alpha of 2.
 *
 * @param [in]  x              FLOAT16 or BFLOAT16 [B, S, n, D] or [T, n, D]; n 4, on Ascend 950 also 6 and 8
 * @param [in]  phi            FLOAT [rows, n*D], rows: n pre, n post, n*n res (row-major)
 * @param [in]  alpha          FLOAT [3]: pre, post, res; or [2]: pre, post
 * @param [in]  bias           FLOAT [rows]
 * @param [in]  gammaOptional  FLOAT [n, D], x is multiplied with it in front of the product; NULL: no gamma
 * @param [in]  normEps        added to the mean of squares before the square root
 * @param [in]  hcEps          added after the sigmoid of hPre, with an alpha of 2 also to hPost
 * @param [out] hIn            dtype of x [.., .., D]
 * @param [out] hPost          FLOAT [.., .., n]
 * @param [out] hRes           FLOAT [.., .., n, n]; with an alpha of 2 it may be NULL and is not written
 * @param [out] invRmsOptional FLOAT [.., ..]                 (this one and the next two: all or none may be NULL)
 * @param [out] hMixOptional   FLOAT [.., .., rows]
 * @param [out] hPreOptional   FLOAT [.., .., n]
 * @param [out] workspaceSize  bytes of device memory that the second phase needs
 * @param [out] executor       the plan, for one call of the second phase
 * @return 0; 161001 for a null pointer; 161002 for a dtype, shape, value or format that is not supported, or an empty tensor
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnMhcPreGetWorkspaceSize(
    const aclTensor *x, const aclTensor *phi, const aclTensor *alpha, const aclTensor *bias, const aclTensor *gammaOptional,
    double normEps, double hcEps, aclTensor *hIn, aclTensor *hPost, aclTensor *hRes, aclTensor *invRmsOptional,
    aclTensor *hMixOptional, aclTensor *hPreOptional, uint64_t *workspaceSize, aclOpExecutor **executor);

/**
 * Second phase: puts the planned work on the stream and returns; results are there once the stream is synchronised.
 *
 * @param [in] workspace      device memory of workspaceSize bytes, NULL when that is 0
 * @param [in] workspaceSize  as the first phase returned it
 * @param [in] executor       as the first phase returned it; used up by this call
 * @param [in] stream         where to run; NULL is the default stream of the current context
 * @return 0; 161001 for a null executor or workspace; 561103 for a used-up executor; 361001 when the launch fails
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnMhcPre(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif // ACLNNOP_ACLNN_MHC_PRE_H
