"""Calls aclnnHcPost, a custom operator, for b 2, s 64, 4 streams, d 4096 in BF16 and checks its output.

    python hc_post.py            prints a summary; exit code 1 if the output is wrong
    python hc_post.py --digest   prints a line for the output, as c/hc_post.cpp does

The operator is in a custom package, which the emulator has in its opp folder.
"""

import argparse
import sys

from sample import BF16, digest, uniform

import aclnn_py as aclnn
from aclnn_py.reference import hc_post
from aclnn_py.testing import compare

B, S, N, D = 2, 64, 4, 4096


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--digest", action="store_true", help="print a line for the output, not the summary")
    options = parser.parse_args()

    x = uniform(0, (B, S, D), BF16, 2)  # what the layer made
    residual = uniform(1, (B, S, N, D), BF16, 2)  # the streams in front of it
    post = uniform(2, (B, S, N), scale=2)  # post and comb_frag of hc_pre, float32
    comb = uniform(3, (B, S, N, N))

    y = aclnn.ops.hc_post(x, residual, post, comb).numpy()
    if options.digest:
        print(digest("y", y))
        return

    print(aclnn.info())
    found = compare(y, hc_post(x, residual, post, comb), 4e-3, 4e-3, 1, "y")
    print(f"{found}, shape {list(y.shape)}")
    sys.exit(1 if found.bad else 0)


if __name__ == "__main__":
    main()
