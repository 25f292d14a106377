"""Calls aclnnMhcPreSinkhorn and its backward operator for b 1, s 64, n 4, c 4096 in BF16.

python mhc_pre_sinkhorn_backward.py            prints a summary; exit code 1 if a gradient is wrong
python mhc_pre_sinkhorn_backward.py --digest   prints a line per gradient, as the C++ program does
"""

import argparse
import sys

from sample import BF16, digest, uniform

import aclnn_py as aclnn
from aclnn_py.reference import mhc_pre_sinkhorn, mhc_pre_sinkhorn_backward
from aclnn_py.testing import check_mhc_pre_sinkhorn_backward

B, S, N, C = 1, 64, 4, 4096
MIX = N * N + 2 * N
C_NAMES = ("gradX", "gradPhi", "gradAlpha", "gradBias")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--digest", action="store_true", help="print a line per gradient, not the summary")
    options = parser.parse_args()

    x = uniform(0, (B, S, N, C), BF16, 2)
    phi = uniform(1, (MIX, N * C), scale=1 / 128)  # 1 / sqrt(n * c)
    alpha, bias = uniform(2, (3,), scale=2), uniform(3, (MIX,))
    grad_hin = uniform(4, (B, S, C), BF16)
    grad_h_post, grad_h_res = uniform(5, (B, S, N)), uniform(6, (B, S, N * N))

    result = aclnn.ops.mhc_pre_sinkhorn(x, phi, alpha, bias, need_backward=True)
    gradients = [tensor.numpy() for tensor in result.backward(grad_hin, grad_h_post, grad_h_res)]
    if options.digest:
        for name, array in zip(C_NAMES, gradients, strict=True):
            print(digest(name, array))
        return

    print(aclnn.info())
    saved = mhc_pre_sinkhorn(x, phi, alpha, bias, need_backward=True)[3:]
    wanted = mhc_pre_sinkhorn_backward(grad_hin, grad_h_post, grad_h_res, x, phi, alpha, bias, *saved)
    report = check_mhc_pre_sinkhorn_backward(gradients, wanted)
    for found, array in zip(report, gradients, strict=True):
        print(f"{found}, shape {list(array.shape)}")
    sys.exit(0 if all(found.passed for found in report) else 1)


if __name__ == "__main__":
    main()
