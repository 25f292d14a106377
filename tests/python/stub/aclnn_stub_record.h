/* Declarations in the many ways of real headers: comments, macros, odd spacing, const on either side. */
#ifndef ACLNN_STUB_RECORD_H
#define ACLNN_STUB_RECORD_H
#define ACLNN_API __attribute__((visibility("default"))) \
    /* a macro over two lines: int aclnnNotThisGetWorkspaceSize(int x); */
#include "aclnn/acl_meta.h"
#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief aclnnStubRecordGetWorkspaceSize(...) records what it is given; not a declaration.
 */
ACLNN_API aclnnStatus aclnnStubRecordGetWorkspaceSize(
    const aclTensor *self, aclTensor const * weightOptional, // aclTensor* notAParameter,
    const aclScalar* alpha, int64_t big,int8_t cubeMathType, const int32_t small,
    uint32_t count, uint64_t huge /* , int hidden */, double eps, float scale,
    bool flag, char *layout, const char* mode, aclDataType dtype, const aclIntArray *dims,
    const aclFloatArray *factors, const aclBoolArray *mask,
    const aclTensorList
        *parts,
    const aclScalarList *weights, aclTensor*out, uint64_t* workspaceSize,
    aclOpExecutor   **executor);

ACLNN_API aclnnStatus aclnnStubRecord(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor,
                                      aclrtStream stream);
#ifdef __cplusplus
}
#endif
#endif
