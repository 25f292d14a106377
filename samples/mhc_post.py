"""Calls aclnnMhcPost and aclnnMhcPostBackward for b 2, s 64, n 4, D 2560 in BF16 and checks their outputs.

python mhc_post.py            prints a summary; exit code 1 if an output is wrong
python mhc_post.py --digest   prints a line per output, as c/mhc_post.cpp does
"""

import argparse
import sys

from sample import BF16, digest, uniform

import aclnn_py as aclnn
from aclnn_py.reference import mhc_post, mhc_post_backward
from aclnn_py.testing import compare

B, S, N, D = 2, 64, 4, 2560
C_NAMES = ("out", "gradX", "gradHres", "gradHout", "gradHpost")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--digest", action="store_true", help="print a line per output, not the summary")
    options = parser.parse_args()

    x = uniform(0, (B, S, N, D), BF16, 2)
    h_res = uniform(1, (B, S, N, N))
    h_out = uniform(2, (B, S, D), BF16, 2)
    h_post = uniform(3, (B, S, N), scale=2)
    grad_output = uniform(4, (B, S, N, D), BF16)

    out = aclnn.ops.mhc_post(x, h_res, h_out, h_post)
    gradients = aclnn.ops.mhc_post_backward(grad_output, x, h_res, h_out, h_post)
    results = dict(zip(C_NAMES, [tensor.numpy() for tensor in (out, *gradients)], strict=True))
    if options.digest:
        for name, array in results.items():
            print(digest(name, array))
        return

    print(aclnn.info())
    wanted = (mhc_post(x, h_res, h_out, h_post), *mhc_post_backward(grad_output, x, h_res, h_out, h_post))
    bad = 0
    for (name, array), expected in zip(results.items(), wanted, strict=True):
        tolerance = 4e-3 if array.dtype == BF16 else 1e-4
        found = compare(array, expected, tolerance, tolerance, 1 if array.dtype == BF16 else 0, name)
        print(f"{found}, shape {list(array.shape)}")
        bad += found.bad
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
