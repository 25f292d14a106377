#ifndef ACLNNOP_ACLNN_MHC_SINKHORN_H
#define ACLNNOP_ACLNN_MHC_SINKHORN_H

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * First phase of aclnnMhcSinkhorn (Ascend 950 only): checks the arguments and plans the work.
 * Each n x n matrix becomes a nearly doubly stochastic one: a softmax over the rows, then columns and rows in turn are
 * divided by their sums, numIters rounds in all. T is the number of tokens, b*s (BSND) or t (TND).
 *
 * @param [in]  x             FLOAT [b, s, n, n] or [t, n, n], n = 4, 6 or 8
 * @param [in]  eps           added to every sum that divides, except the softmax's own, and to the softmax; a C float
 * @param [in]  numIters      rounds, 1 to 100
 * @param [out] output        FLOAT, shape of x
 * @param [out] normOut       FLOAT [2*numIters * T * n * 8]: the matrix after each step, in slots of [T][n][8] with lanes
 *                            n..7 zero; NULL together with sumOut when not wanted
 * @param [out] sumOut        FLOAT [2*numIters * T * 8]: the sums that each step divided by, in slots of [T][8]. Even slots
 *                            are row steps, odd ones column steps
 * @param [out] workspaceSize bytes of device memory that the second phase needs
 * @param [out] executor      the plan, for one call of the second phase
 * @return 0; 161001 for a null pointer; 161002 for a dtype, shape, value or format that is not supported, or another chip
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnMhcSinkhornGetWorkspaceSize(
    const aclTensor *x, float eps, int64_t numIters, aclTensor *output, aclTensor *normOut, aclTensor *sumOut,
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
ACL_FUNC_VISIBILITY aclnnStatus aclnnMhcSinkhorn(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif // ACLNNOP_ACLNN_MHC_SINKHORN_H
