"""Times our operators against their peers: `python benchmarks/ops`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import mhc_pre_sinkhorn

if __name__ == "__main__":
    mhc_pre_sinkhorn.compare()
    mhc_pre_sinkhorn.growth()
    mhc_pre_sinkhorn.memory()
