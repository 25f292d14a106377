"""For tests of operators: how close is close enough, and inputs to try.

``compare`` and ``check_mhc_pre_sinkhorn`` say whether results agree and where they do not;
``cases`` makes inputs. Nothing here opens a library.
"""

from .compare import Comparison, check_mhc_pre_sinkhorn, compare

__all__ = ["Comparison", "check_mhc_pre_sinkhorn", "compare"]
