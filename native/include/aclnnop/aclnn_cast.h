#ifndef ACLNNOP_ACLNN_CAST_H
#define ACLNNOP_ACLNN_CAST_H

#include "aclnn/aclnn_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * First phase of aclnnCast: out = self in another type. To the 16-bit floats rounds to nearest even, to INT32 towards zero.
 *
 * @param [in]  self   FLOAT, FLOAT16, BFLOAT16 or INT32, up to 8 dimensions
 * @param [in]  dtype  the type of out
 * @param [out] out    FLOAT, FLOAT16, BFLOAT16 or INT32, the shape of self
 * @return 0; 161001 for a null pointer; 161002 for a dtype, shape or format that is not supported
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnCastGetWorkspaceSize(
    const aclTensor *self, const aclDataType dtype, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);

/**
 * Second phase: puts the planned work on the stream and returns. Arguments and status as for every aclnn operator.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnCast(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif // ACLNNOP_ACLNN_CAST_H
