#ifndef ACLNNOP_ACLNN_MHC_POST_H
#define ACLNNOP_ACLNN_MHC_POST_H

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * First phase of aclnnMhcPost: checks the arguments and plans the work.
 * out_j = hPost_j * hOut + sum_i hRes_ij * x_i for each token; the first index of hRes is the source stream.
 * [.., ..] stands for [b, s] (BSND) or [t] (TND). Off Ascend 950 n is 4, and D a multiple of 128 below 100000.
 *
 * @param [in]  x             FLOAT16 or BFLOAT16 [.., .., n, D], the streams in front of the layer
 * @param [in]  hRes          FLOAT [.., .., n, n]; NULL (Ascend 950 only) is the identity: out_j = x_j + hPost_j * hOut
 * @param [in]  hOut          dtype of x [.., .., D], what the layer made
 * @param [in]  hPost         FLOAT [.., .., n]
 * @param [out] out           dtype of x [.., .., n, D]
 * @param [out] workspaceSize bytes of device memory that the second phase needs
 * @param [out] executor      the plan, for one call of the second phase
 * @return 0; 361001 for hRes NULL off Ascend 950; 161001 for another null pointer; 161002 for a dtype, shape or format that
 *         is not supported; 561103 for an n or D that cannot be tiled
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnMhcPostGetWorkspaceSize(
    const aclTensor *x, const aclTensor *hRes, const aclTensor *hOut, const aclTensor *hPost, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

/**
 * Second phase: puts the planned work on the stream and returns; results are there once the stream is synchronised.
 *
 * @param [in] workspace      device memory of workspaceSize bytes, NULL when that is 0
 * @param [in] workspaceSize  as the first phase returned it
 * @param [in] executor       as the first phase returned it; used up by this call
 * @param [in] stream         where to run; NULL is the default stream of the current context
 * @return 0; 561000 for whatever fails: a null or used-up executor, a null workspace, the launch
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnMhcPost(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif // ACLNNOP_ACLNN_MHC_POST_H
