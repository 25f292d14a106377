#ifndef ACLNN_HC_PRE_SINKHORN_H_
#define ACLNN_HC_PRE_SINKHORN_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * First phase of aclnnHcPreSinkhorn: checks the arguments and plans the work. [.., ..] stands for [b, s] or [T].
 *
 * @param [in]  mixes           FLOAT [.., .., 24]: projections of x, 4 pre, 4 post, 16 comb (row-major)
 * @param [in]  rsqrt           FLOAT [.., .., 1] or [.., ..]: inverse RMS of each token
 * @param [in]  hcScale         FLOAT [3]: pre, post, comb
 * @param [in]  hcBase          FLOAT [24]
 * @param [in]  x               BFLOAT16 [.., .., 4, d]
 * @param [in]  hcMult          number of residual streams, 4
 * @param [in]  hcSinkhornIters Sinkhorn iterations, 1 to 100
 * @param [in]  hcEps           added after the sigmoid of pre and to every Sinkhorn sum
 * @param [out] yOut            BFLOAT16 [.., .., d]
 * @param [out] postOut         FLOAT [.., .., 4]
 * @param [out] combFragOut     FLOAT [.., .., 4, 4]
 * @param [out] workspaceSize   bytes of device memory that the second phase needs
 * @param [out] executor        the plan, for one call of the second phase
 * @return 0; 161001 for a null pointer; 561002 for a shape or value, 561003 for a dtype or format that is not supported
 */
__attribute__((visibility("default")))
aclnnStatus aclnnHcPreSinkhornGetWorkspaceSize(
    const aclTensor *mixes,
    const aclTensor *rsqrt,
    const aclTensor *hcScale,
    const aclTensor *hcBase,
    const aclTensor *x,
    int64_t hcMult,
    int64_t hcSinkhornIters,
    double hcEps,
    const aclTensor *yOut,
    const aclTensor *postOut,
    const aclTensor *combFragOut,
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
aclnnStatus aclnnHcPreSinkhorn(
    void *workspace,
    uint64_t workspaceSize,
    aclOpExecutor *executor,
    aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif // ACLNN_HC_PRE_SINKHORN_H_
