"""Calls aclnnMhcSinkhorn for b 2, s 100, n 4 and 20 iterations and checks its outputs. Ascend 950 only.

python mhc_sinkhorn.py            prints a summary; exit code 1 if an output is wrong
python mhc_sinkhorn.py --digest   prints a line per output, as c/mhc_sinkhorn.cpp does
"""

import argparse
import os
import sys

from sample import digest, uniform

import aclnn_py as aclnn
from aclnn_py.reference import mhc_sinkhorn
from aclnn_py.testing import compare

B, S, N, ITERS = 2, 100, 4, 20


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--digest", action="store_true", help="print a line per output, not the summary")
    options = parser.parse_args()

    # The emulator's default chip lacks this operator; CANN does not look here.
    os.environ.setdefault("ACLEMU_SOC", "Ascend950PR_9579")
    x = uniform(0, (B, S, N, N), scale=4)
    result = aclnn.ops.mhc_sinkhorn(x, num_iters=ITERS, need_backward=True)
    arrays = dict(zip(("output", "normOut", "sumOut"), [tensor.numpy() for tensor in result], strict=True))
    if options.digest:
        for name, array in arrays.items():
            print(digest(name, array))
        return

    print(aclnn.info())
    bad = 0
    for (name, array), expected in zip(arrays.items(), mhc_sinkhorn(x, num_iters=ITERS), strict=True):
        found = compare(array, expected, 1e-5, 1e-5, name=name)
        print(f"{found}, shape {list(array.shape)}")
        bad += found.bad
    for what, axis in (("row", -1), ("column", -2)):
        sums = arrays["output"].sum(axis)
        print(f"output {what} sums {sums.min():.7f} to {sums.max():.7f}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
