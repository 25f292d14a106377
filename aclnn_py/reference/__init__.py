"""What the operators compute, stated in NumPy.

These functions are the yardstick for every other implementation, so they follow the formulas line by line and
leave speed aside. They need numpy and ml_dtypes only, accept shapes that the operators' first phases refuse
(any tail axis, any stream count), and never touch a library: ``from aclnn_py.reference import
mhc_pre_sinkhorn``.
"""

from .bsa import BSASelectBlockMaskOutputs, bsa_select_block_mask
from .hc import HcPreOutputs, HcPreV2Outputs, hc_pre, hc_pre_v2
from .hc_parts import HcPreSinkhornOutputs, hc_post, hc_pre_inv_rms, hc_pre_sinkhorn
from .mhc import MhcPreSinkhornOutputs, SinkhornSteps, mhc_pre_sinkhorn, sinkhorn
from .mhc_post import MhcPostGradients, mhc_post, mhc_post_backward
from .mhc_pre import MhcPreOutputs, mhc_pre
from .mhc_pre_sinkhorn_backward import MhcPreSinkhornGradients, mhc_pre_sinkhorn_backward
from .mhc_sinkhorn import MhcSinkhornOutputs, mhc_sinkhorn

__all__ = [
    "BSASelectBlockMaskOutputs",
    "HcPreOutputs",
    "HcPreSinkhornOutputs",
    "HcPreV2Outputs",
    "MhcPostGradients",
    "MhcPreOutputs",
    "MhcPreSinkhornGradients",
    "MhcPreSinkhornOutputs",
    "MhcSinkhornOutputs",
    "SinkhornSteps",
    "bsa_select_block_mask",
    "hc_post",
    "hc_pre",
    "hc_pre_inv_rms",
    "hc_pre_sinkhorn",
    "hc_pre_v2",
    "mhc_post",
    "mhc_post_backward",
    "mhc_pre",
    "mhc_pre_sinkhorn",
    "mhc_pre_sinkhorn_backward",
    "mhc_sinkhorn",
    "sinkhorn",
]
