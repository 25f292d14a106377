"""Arrays where the header does not say whether an operator writes."""

from __future__ import annotations

import numpy as np
import pytest

import aclnn_py as aclnn

TAIL = "uint64_t *workspaceSize, aclOpExecutor **executor"
COPY = "aclnnStatus aclnnStubCopyGetWorkspaceSize(const aclTensor *x, int64_t workspace, const aclTensor *"


def test_an_unknown_output() -> None:
    copy = aclnn.op("aclnnStubCopy", prototype=f"{COPY} y, {TAIL});")
    assert copy.prototype.parameters[2].role == "unknown"
    array = np.zeros(4, np.float32)
    with pytest.raises(TypeError, match=r"y .* the header does not say which tensor is the output"):
        copy(np.ones(4, np.float32), 0, array)
    copy(np.ones(4, np.float32), 0, array, copy_back=True)
    assert array.tolist() == [1] * 4


def test_a_const_output_by_name() -> None:
    copy = aclnn.op("aclnnStubCopy", prototype=f"{COPY} softmaxLse, {TAIL});")
    array = np.zeros(4, np.float32)
    with pytest.raises(TypeError, match="its result is lost unless the call has copy_back=True"):
        copy(np.ones(4, np.float32), 0, array)
    copy(np.ones(4, np.float32), 0, array, copy_back=True)
    assert array.tolist() == [1] * 4


def test_the_third_entry_point_must_be_declared() -> None:
    copy = aclnn.op("aclnnStubCopy", prototype=f"{COPY} out, {TAIL});")
    with pytest.raises(
        aclnn.LibraryNotFound, match="no header declares aclnnStubCopyGetMaxWorkspaceSize with"
    ):
        copy.max_workspace_size(None, 21, None)
