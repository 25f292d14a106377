"""Three rounds of a model's mHC layers with aclnnHcPreV2 and aclnnHcPost, T 16, 4 streams, d 4096.

    python hc_pre_v2.py            prints a summary; exit code 1 if a result is wrong
    python hc_pre_v2.py --digest   prints lines for the first round, as c/hc_pre.cpp does

Each round weighs the streams with the weights of the round before (pre_mix); only the first one uses its own.
The operators are in a custom package, which the emulator has in its opp folder.
"""

import argparse
import sys

from sample import BF16, digest, uniform

import aclnn_py as aclnn
from aclnn_py.reference import hc_pre_v2
from aclnn_py.testing import check_hc_pre

T, N, D = 16, 4, 4096
MIX = N * N + 2 * N


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--digest", action="store_true", help="print the first round, not the summary")
    options = parser.parse_args()

    weights = (
        uniform(1, (MIX, N * D), scale=1 / 64),  # hc_fn
        uniform(2, (3,)),  # hc_scale
        uniform(3, (MIX,)),  # hc_base
    )
    device_weights = [aclnn.tensor(array) for array in weights]
    x = aclnn.tensor(uniform(0, (T, N, D), BF16, 2))

    bad, pre_mix = 0, None
    for number in range(3):
        r = aclnn.ops.hc_pre_v2(x, *device_weights, pre_mix)
        if options.digest:
            for name in ("y", "post", "comb_frag"):
                print(digest(name, getattr(r, name).numpy()))
            return
        if number == 0:
            print(aclnn.info())
        mix = None if pre_mix is None else pre_mix.numpy()
        for found in check_hc_pre([t.numpy() for t in r], hc_pre_v2(x.numpy(), *weights, mix)):
            print(f"round {number}, pre_mix {'given' if pre_mix is not None else 'left out'}: {found}")
            bad += not found.passed
        # The layer itself would go here, from y to something of its shape.
        x = aclnn.ops.hc_post(r.y, x, r.post, r.comb_frag)
        pre_mix = r.hc_pre
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
