#ifndef ACLNN_HC_PRE_H_
#define ACLNN_HC_PRE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * First phase of aclnnHcPre: checks the arguments and plans the work. [.., ..] stands for [b, s] or [T].
 *
 * @param [in]  x               BFLOAT16 [.., .., 4, d], d 4096, 5120 or 7168
 * @param [in]  hcFn            FLOAT [24, 4*d], rows: 4 pre, 4 post, 16 comb (row-major)
 * @param [in]  hcScale         FLOAT [3]: pre, post, comb
 * @param [in]  hcBase          FLOAT [24]
 * @param [in]  hcMult          number of residual streams, 4
 * @param [in]  hcSinkhornIters Sinkhorn iterations, 20
 * @param [in]  hcEps           added after the sigmoid of pre and to every Sinkhorn sum
 * @param [in]  normEps         added to the mean of squares before the square root
 * @param [out] yOut            BFLOAT16 [.., .., d]
 * @param [out] postOut         FLOAT [.., .., 4]
 * @param [out] combFragOut     FLOAT [.., .., 4, 4]
 * @param [out] workspaceSize   bytes of device memory that the second phase needs
 * @param [out] executor        the plan, for one call of the second phase
 * @return 0; 161001 for a null pointer; 561002 for a shape or value, 561003 for a dtype or format that is not supported
 */
__attribute__((visibility("default")))
aclnnStatus aclnnHcPreGetWorkspaceSize(
    const aclTensor *x,
    const aclTensor *hcFn,
    const aclTensor *hcScale,
    const aclTensor *hcBase,
    int64_t hcMult,
    int64_t hcSinkhornIters,
    double hcEps,
    double normEps,
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
aclnnStatus aclnnHcPre(
    void *workspace,
    uint64_t workspaceSize,
    aclOpExecutor *executor,
    aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif // ACLNN_HC_PRE_H_
