"""Runs MhcPreSinkhorn over a sweep on the SoC of this process; argv: layouts (BSND, TND), tails.

A process has one SoC, so the test starts one per SoC. Bad cases and a closing line go to stdout.
"""

import itertools
import os
import sys

import ml_dtypes
import numpy as np

import aclnn_py as aclnn
from aclnn_py.reference.mhc import mhc_pre_sinkhorn as reference
from aclnn_py.testing.cases import random_case
from aclnn_py.testing.compare import check_mhc_pre_sinkhorn

TOKENS = (1, 2, 3, 31, 32, 33, 511, 512, 513)


def main() -> None:
    layouts, tails = sys.argv[1].split(","), [int(tail) for tail in sys.argv[2].split(",")]
    count = bad = 0
    for tail, dtype, tokens in itertools.product(tails, (np.float16, ml_dtypes.bfloat16), TOKENS):
        case = random_case((1, tokens), tail, dtype, seed=tokens)
        expected = reference(*case, need_backward=True)
        for layout, key, backward in itertools.product(layouts, (0, 1), (False, True)):
            os.environ["ACLEMU_TILING_KEY"] = str(key)
            x = case.x if layout == "BSND" else case.x[0]
            outputs = aclnn.ops.mhc_pre_sinkhorn(x, *case[1:], need_backward=backward)
            got = [None if tensor is None else tensor.numpy() for tensor in outputs]
            shaped = [a if a is None else a.reshape(e.shape) for a, e in zip(got, expected, strict=True)]
            wanted = expected if backward else expected._replace(**dict.fromkeys(expected._fields[3:]))
            wrong = [c for c in check_mhc_pre_sinkhorn(shaped, wanted) if not c.passed]
            count += 1
            if wrong:
                bad += 1
                print(f"bad: {layout} {np.dtype(dtype)} T {tokens} c {tail} key {key} backward {backward}")
                print("\n".join(f"  {comparison}" for comparison in wrong))
    print(f"{aclnn.info().soc}: {count} cases, {bad} bad")


if __name__ == "__main__":
    main()
