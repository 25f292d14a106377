#pragma once
#include "aclnn/acl_meta.h"

// Several operators in one header whose name none of them has.
aclnnStatus aclnnStubCopyGetWorkspaceSize(const aclTensor *x, int64_t workspace, aclTensor *out,
                                          uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnStubCopy(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnStubCopyGetMaxWorkspaceSize(const aclTensor *x, int64_t workspace, aclTensor *out,
                                             uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnStubCopyListGetWorkspaceSize(const aclTensorList *x, const aclTensorList *out, uint64_t *workspaceSize,
                                              aclOpExecutor **executor);
aclnnStatus aclnnStubCopyList(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* @param [in] x: not written */
aclnnStatus aclnnStubFailGetWorkspaceSize(const aclTensor *x, int64_t code, int64_t phase, uint64_t *workspaceSize,
                                          aclOpExecutor **executor);
aclnnStatus aclnnStubFail(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnStubWorkGetWorkspaceSize(int64_t milliseconds, int64_t code, uint64_t *workspaceSize,
                                          aclOpExecutor **executor);
aclnnStatus aclnnStubWork(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnStubHalfGetWorkspaceSize(uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnStubHalf(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
