"""Runs hc_pre_v2 both ways it is split, compares with the reference, saves results: hc_pre_case.py OUT.npz

The emulator reads its environment once per process, so a test of that environment needs a process for each
setting.
"""

import os
import sys

import numpy as np

import aclnn_py as aclnn
from aclnn_py.reference import hc_pre_v2
from aclnn_py.testing import cases, check_hc_pre


def main(path):
    results = {}
    for tokens, d, key in ((1, 4096, "0"), (1, 7168, "1"), (35, 5120, "0"), (35, 5120, "1")):
        os.environ["ACLEMU_TILING_KEY"] = key
        case = cases.hc_pre_case((tokens,), d, seed=tokens)
        mix = np.random.default_rng(tokens).uniform(0, 1, (tokens, 4)).astype(np.float32)
        for name, given in (("own", None), ("given", mix)):
            got = [tensor.numpy() for tensor in aclnn.ops.hc_pre_v2(*case, given)]
            for found in check_hc_pre(got, hc_pre_v2(*case, given)):
                assert found.passed, f"T {tokens} d {d} key {key} {name}: {found}"
                assert found.bad <= 1e-4 * found.size, found
            got[0] = got[0].view(np.uint16)  # np.savez does not know bfloat16
            for part, array in enumerate(got):
                results[f"{tokens} {d} {key} {name} {part}"] = array
    np.savez(path, soc=np.array(aclnn.info().soc), **results)


if __name__ == "__main__":
    main(sys.argv[1])
