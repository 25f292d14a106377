"""One small computation, in a process of its own: whatever happens there, the doctor lives. Prints JSON."""

from __future__ import annotations

import json
import sys
from typing import Any

# In every CANN since 6.3, and in the emulator; declared here so that headers are not needed
_ADD = (
    "aclnnStatus aclnnAddGetWorkspaceSize(const aclTensor *self, const aclTensor *other, "
    "const aclScalar *alpha, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);"
)


def run() -> dict[str, Any]:
    """What the libraries say about themselves, and whether aclnnAdd adds. Keys as far as it came."""
    import numpy as np

    import aclnn_py as aclnn
    from aclnn_py import libraries

    found: dict[str, Any] = {"step": "loading the libraries"}
    try:
        libraries.root()
        found["step"] = "starting ACL and counting the devices"
        info = aclnn.info()
        found |= {"backend": info.backend, "soc": info.soc, "devices": info.device_count}
        found["acl"] = info.versions.get("ACL", "unknown")
        found["step"] = "opening device 0"
        aclnn.Device(0).use()
        found["step"] = "copying to the device and back"
        x = aclnn.tensor(np.arange(4, dtype=np.float32))
        if x.numpy().tolist() != [0, 1, 2, 3]:
            raise RuntimeError(f"a copy of [0, 1, 2, 3] came back as {x.numpy().tolist()}")
        try:
            add = aclnn.op("aclnnAdd", prototype=_ADD)
        except aclnn.LibraryNotFound:
            found |= {"step": "", "operator": "not tried: the libraries have no aclnnAdd"}
            return found
        found["step"] = "running aclnnAdd on 4 elements"
        out = aclnn.empty(4)
        add(x, x, aclnn.Scalar(2.0, np.float32), out)
        aclnn.synchronize(timeout=30)
        result = out.numpy().tolist()
        if result != [0, 3, 6, 9]:
            raise RuntimeError(f"aclnnAdd gave {result} instead of [0, 3, 6, 9]")
        found |= {"step": "", "operator": "aclnnAdd on 4 elements is right"}
    except (aclnn.AclError, aclnn.LibraryNotFound, RuntimeError) as problem:
        found["error"] = str(problem)
        found["code"] = getattr(problem, "code", 0)
    return found


def main() -> None:
    json.dump(run(), sys.stdout)
    sys.stdout.write("\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
