"""Times our operators against their peers: `python benchmarks/ops`."""

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

if __name__ == "__main__":
    mhc_pre_sinkhorn.compare()
    mhc_pre_sinkhorn.growth()
    mhc_pre_sinkhorn.memory()
    mhc_pre.compare()
    mhc_pre_sinkhorn_backward.compare()
    mhc_pre_sinkhorn_backward.memory()
    hc_pre.compare()
    hc_pre.repeated()
    hc_pre.large()
    hc_parts.compare()
    mhc_post.compare()
    mhc_post.growth()
    mhc_sinkhorn.compare()
    bsa_select_block_mask.growth()
    bsa_select_block_mask.memory()
