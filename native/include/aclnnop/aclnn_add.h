#ifndef ACLNNOP_ACLNN_ADD_H
#define ACLNNOP_ACLNN_ADD_H

#include "aclnn/aclnn_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * First phase of aclnnAdd: out = self + alpha * other, element by element.
 *
 * @param [in]  self   FLOAT, FLOAT16, BFLOAT16 or INT32, up to 8 dimensions
 * @param [in]  other  dtype and shape of self (CANN also promotes and broadcasts, the emulator does not)
 * @param [in]  alpha  a number; an integer when self is INT32
 * @param [out] out    dtype and shape of self
 * @return 0; 161001 for a null pointer; 161002 for a dtype, shape or format that is not supported
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnAddGetWorkspaceSize(
    const aclTensor *self, const aclTensor *other, const aclScalar *alpha, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

/**
 * Second phase: puts the planned work on the stream and returns. Arguments and status as for every aclnn operator.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnAdd(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif // ACLNNOP_ACLNN_ADD_H
