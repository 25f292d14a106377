#ifndef ACLNN_HC_POST_H_
#define ACLNN_HC_POST_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * First phase of aclnnHcPost: checks the arguments and plans the work. For each token and stream j
 * out_j = post_j * x + sum over i of comb_ij * residual_i. [.., ..] stands for [b, s] or [T].
 *
 * @param [in]  x             FLOAT, FLOAT16 or BFLOAT16 [.., .., d]
 * @param [in]  residual      dtype of x [.., .., 4, d]
 * @param [in]  post          FLOAT, FLOAT16 or BFLOAT16 [.., .., 4]
 * @param [in]  comb          dtype of post [.., .., 4, 4]
 * @param [out] out           dtype and shape of residual
 * @param [out] workspaceSize bytes of device memory that the second phase needs
 * @param [out] executor      the plan, for one call of the second phase
 * @return 0; 161001 for a null pointer; 561002 for a shape, 561003 for a dtype or format that is not supported
 */
__attribute__((visibility("default")))
aclnnStatus aclnnHcPostGetWorkspaceSize(
    const aclTensor *x,
    const aclTensor *residual,
    const aclTensor *post,
    const aclTensor *comb,
    const aclTensor *out,
    uint64_t *workspaceSize,
    aclOpExecutor **executor);

/**
 * Second phase: puts the planned work on the stream and returns; results are there once the stream is synchronised.
 *
 * @param [in] workspace      device memory of workspaceSize bytes, NULL when that is 0
 * @param [in] workspaceSize  as the first phase returned it
 * @param [in] executor       as the first phase returned it; used up by this call
 * @param [in] stream         where to run; NULL is the default stream of the current context
 */
__attribute__((visibility("default")))
aclnnStatus aclnnHcPost(
    void *workspace,
    uint64_t workspaceSize,
    aclOpExecutor *executor,
    aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif // ACLNN_HC_POST_H_
