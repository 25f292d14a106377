#ifndef ACLNN_HC_PRE_INV_RMS_H_
#define ACLNN_HC_PRE_INV_RMS_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * First phase of aclnnHcPreInvRms: checks the arguments and plans the work. out = (mean(x^2) + epsilon)^(-1/2), the mean
 * over all streams of a token. [.., ..] stands for [b, s] or [T].
 *
 * @param [in]  x             FLOAT, FLOAT16 or BFLOAT16 [.., .., n, d]; or [.., .., n*d], then out has as many axes as x
 * @param [in]  epsilon       added to the mean, greater than 0
 * @param [out] out           FLOAT [.., .., 1]
 * @param [out] workspaceSize bytes of device memory that the second phase needs
 * @param [out] executor      the plan, for one call of the second phase
 * @return 0; 161001 for a null pointer; 561002 for a shape or value, 561003 for a dtype or format that is not supported
 */
__attribute__((visibility("default")))
aclnnStatus aclnnHcPreInvRmsGetWorkspaceSize(
    const aclTensor *x,
    double epsilon,
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
aclnnStatus aclnnHcPreInvRms(
    void *workspace,
    uint64_t workspaceSize,
    aclOpExecutor *executor,
    aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif // ACLNN_HC_PRE_INV_RMS_H_
