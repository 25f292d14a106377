"""Prints, as JSON, the peak memory of a process that makes one hc_pre call: hc_pre_memory.py TOKENS D"""

import json
import sys

import aclnn_py as aclnn
from aclnn_py.testing.cases import hc_pre_case


def peak():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))


def main(tokens, d):
    chunk = min(tokens, 1024)
    case = hc_pre_case((chunk,), d, seed=1)
    x = aclnn.empty((tokens, 4, d), "bfloat16")
    for first in range(0, tokens, chunk):  # a whole copy on the host would count too
        x[first : first + chunk].copy_from(case.x)
    weights = [aclnn.tensor(array) for array in case[1:]]
    result = aclnn.ops.hc_pre(x, *weights)
    aclnn.synchronize()
    print(json.dumps({"peak": peak(), "tensors": sum(t.nbytes for t in (x, *weights, *result))}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
