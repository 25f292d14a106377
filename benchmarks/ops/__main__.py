"""Times our operators against their peers: `python benchmarks/ops [NAME ...]`, all of them without names."""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import bsa_select_block_mask
import hc_parts
import hc_pre
import mhc_post
import mhc_pre
import mhc_pre_sinkhorn
import mhc_pre_sinkhorn_backward
import mhc_sinkhorn

RUNS = (
    mhc_pre_sinkhorn.compare,
    mhc_pre_sinkhorn.growth,
    mhc_pre_sinkhorn.memory,
    mhc_pre.compare,
    mhc_pre_sinkhorn_backward.compare,
    mhc_pre_sinkhorn_backward.memory,
    hc_pre.compare,
    hc_pre.repeated,
    hc_pre.large,
    hc_parts.compare,
    mhc_post.compare,
    mhc_post.growth,
    mhc_sinkhorn.compare,
    bsa_select_block_mask.growth,
    bsa_select_block_mask.memory,
)

if __name__ == "__main__":
    names = list(dict.fromkeys(run.__module__ for run in RUNS))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(names))
    chosen = parser.parse_args().names
    for name in chosen:
        if name not in names:
            parser.error(f"there is no {name}, only {', '.join(names)}")
    for run in RUNS:
        if not chosen or run.__module__ in chosen:
            run()
