"""Calls aclnnMhcPostBackward for t 128, n 4, D 2560 in BF16 and checks the gradients.

python mhc_post_backward.py            prints a summary; exit code 1 if a gradient is wrong
python mhc_post_backward.py --digest   prints a line per gradient, as c/mhc_post_backward.cpp does
"""

import argparse
import sys

from sample import BF16, digest, uniform

import aclnn_py as aclnn
from aclnn_py.reference import mhc_post_backward
from aclnn_py.testing import compare

T, N, D = 128, 4, 2560
C_NAMES = ("gradX", "gradHres", "gradHout", "gradHpost")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--digest", action="store_true", help="print a line per gradient, not the summary")
    options = parser.parse_args()

    grad_output = uniform(0, (T, N, D), BF16)
    x = uniform(1, (T, N, D), BF16, 2)
    h_res = uniform(2, (T, N, N))
    h_out = uniform(3, (T, D), BF16, 2)
    h_post = uniform(4, (T, N), scale=2)

    gradients = aclnn.ops.mhc_post_backward(grad_output, x, h_res, h_out, h_post)
    results = dict(zip(C_NAMES, [tensor.numpy() for tensor in gradients], strict=True))
    if options.digest:
        for name, array in results.items():
            print(digest(name, array))
        return

    print(aclnn.info())
    bad = 0
    wanted = mhc_post_backward(grad_output, x, h_res, h_out, h_post)
    for (name, array), expected in zip(results.items(), wanted, strict=True):
        tolerance = 4e-3 if array.dtype == BF16 else 1e-4
        found = compare(array, expected, tolerance, tolerance, 1 if array.dtype == BF16 else 0, name)
        print(f"{found}, shape {list(array.shape)}")
        bad += found.bad
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
