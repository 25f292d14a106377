"""Calls aclnnMhcPost for b 2, s 64, n 4, D 2560 in BF16 and checks its output.

python mhc_post.py            prints a summary; exit code 1 if the output is wrong
python mhc_post.py --digest   prints a line about it, as c/mhc_post.cpp does
"""

import argparse
import sys

from sample import BF16, digest, uniform

import aclnn_py as aclnn
from aclnn_py.reference import mhc_post
from aclnn_py.testing import compare

B, S, N, D = 2, 64, 4, 2560


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--digest", action="store_true", help="print one line, not the summary")
    options = parser.parse_args()

    x = uniform(0, (B, S, N, D), BF16, 2)
    h_res = uniform(1, (B, S, N, N))
    h_out = uniform(2, (B, S, D), BF16, 2)
    h_post = uniform(3, (B, S, N), scale=2)

    out = aclnn.ops.mhc_post(x, h_res, h_out, h_post).numpy()
    if options.digest:
        print(digest("out", out))
        return

    print(aclnn.info())
    found = compare(out, mhc_post(x, h_res, h_out, h_post), 4e-3, 4e-3, 1, "out")
    print(f"{found}, shape {list(out.shape)}")
    sys.exit(1 if found.bad else 0)


if __name__ == "__main__":
    main()
