"""For tests of operators: how close is close enough, and inputs to try.

``compare`` and ``check_mhc_pre_sinkhorn`` say whether results agree and where they do not;
``cases`` makes inputs. Nothing here opens a library.
"""

from .block_mask import MaskComparison, check_block_mask
from .compare import Comparison, check_mhc_pre_sinkhorn, compare
from .mhc_pre import check_mhc_pre
from .mhc_pre_sinkhorn_backward import backward_case, check_mhc_pre_sinkhorn_backward
from .shares import ShareComparison, check_hc_pre, compare_share

__all__ = [
    "Comparison",
    "MaskComparison",
    "ShareComparison",
    "backward_case",
    "check_block_mask",
    "check_hc_pre",
    "check_mhc_pre",
    "check_mhc_pre_sinkhorn",
    "check_mhc_pre_sinkhorn_backward",
    "compare",
    "compare_share",
]
