#ifndef ACLNNOP_ACLNN_MATMUL_H
#define ACLNNOP_ACLNN_MATMUL_H

#include "aclnn/aclnn_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * First phase of aclnnMatmul: out = self . mat2. The emulator multiplies two matrices of one dtype; CANN also takes up to six
 * dimensions, vectors and mixed dtypes.
 *
 * @param [in]  self          FLOAT, FLOAT16 or BFLOAT16 [m, k]
 * @param [in]  mat2          dtype of self [k, n]; a transposed view of [n, k] costs no copy
 * @param [out] out           dtype of self [m, n]
 * @param [in]  cubeMathType  0 KEEP_DTYPE; 1 ALLOW_FP32_DOWN_PRECISION and 3 USE_HF32: FLOAT operands in the HF32 format;
 *                            2 USE_FP16: not for FLOAT here, not for BFLOAT16 anywhere
 * @return 0; 161001 for a null pointer; 161002 for a dtype, shape, value or format that is not supported
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnMatmulGetWorkspaceSize(
    const aclTensor *self, const aclTensor *mat2, aclTensor *out, int8_t cubeMathType, uint64_t *workspaceSize,
    aclOpExecutor **executor);

/**
 * Second phase: puts the planned work on the stream and returns. Arguments and status as for every aclnn operator.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnMatmul(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif // ACLNNOP_ACLNN_MATMUL_H
