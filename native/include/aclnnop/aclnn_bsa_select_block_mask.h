#ifndef ACLNNOP_ACLNN_BSA_SELECT_BLOCK_MASK_H
#define ACLNNOP_ACLNN_BSA_SELECT_BLOCK_MASK_H

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * First phase of aclnnBSASelectBlockMask: checks the arguments and plans the work.
 * The mask says which blocks of X query tokens x Y key tokens a block-sparse attention computes: those with the largest
 * softmax scores between the blocks' means. Xblocks = ceil(longest query / X), Yblocks = ceil(longest key / Y).
 *
 * @param [in]  query                FLOAT16 or BFLOAT16, BNSD [B, N, Sq, 128] or TND [Tq, N, 128]
 * @param [in]  key                  dtype of query, [B, N, Sk, 128] or [Tk, N, 128]
 * @param [in]  blockShape           {X, Y}, multiples of 64; NULL is {128, 128}
 * @param [in]  postBlockShape       reserved, NULL
 * @param [in]  actualSeqLengths     query tokens of each batch (not cumulative); NULL in BNSD: all
 * @param [in]  actualSeqLengthsK    key tokens of each batch; NULL in BNSD: all
 * @param [in]  actualBlockLenQuery  tokens that count in each query block, [B * Xblocks], in TND the blocks of all batches
 *                                   one after the other; 0: the block is never chosen; NULL: all tokens
 * @param [in]  actualBlockLenKey    the same for the key blocks
 * @param [in]  queryLayout          "BNSD" or "TND"
 * @param [in]  keyLayout            as queryLayout
 * @param [in]  numKeyHeads          N
 * @param [in]  scaleValue           factor of the products; 0 is 1 / sqrt(128)
 * @param [in]  sparsity             share of the blocks to keep, above 0 and below 1
 * @param [out] blockSparseMaskOut   INT8 [B, N, Xblocks, Yblocks], 0 or 1
 * @param [out] workspaceSize        bytes of device memory that the second phase needs
 * @param [out] executor             the plan, for one call of the second phase
 * @return 0; 161001 for a null pointer; 161002 for a dtype, shape or value that is not supported; 561002 for what the tiling
 *         refuses: sparsity, block shape, layout, head dimension, a single block in BNSD
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnBSASelectBlockMaskGetWorkspaceSize(
    const aclTensor *query, const aclTensor *key, const aclIntArray *blockShape, const aclIntArray *postBlockShape,
    const aclIntArray *actualSeqLengths, const aclIntArray *actualSeqLengthsK, const aclIntArray *actualBlockLenQuery,
    const aclIntArray *actualBlockLenKey, char *queryLayout, char *keyLayout, int64_t numKeyHeads, double scaleValue,
    double sparsity, aclTensor *blockSparseMaskOut, uint64_t *workspaceSize, aclOpExecutor **executor);

/**
 * Second phase: puts the planned work on the stream and returns; the mask is there once the stream is synchronised.
 *
 * @param [in] workspace      device memory of workspaceSize bytes, NULL when that is 0
 * @param [in] workspaceSize  as the first phase returned it
 * @param [in] executor       as the first phase returned it; used up by this call
 * @param [in] stream         where to run; NULL is the default stream of the current context
 * @return 0; 161001 for a null executor or workspace; 561103 for a used-up executor; 361001 when the launch fails
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnBSASelectBlockMask(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif // ACLNNOP_ACLNN_BSA_SELECT_BLOCK_MASK_H
