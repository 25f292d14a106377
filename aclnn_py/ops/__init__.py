"""Operators as Python functions: they allocate the outputs and return them.

Tensors are positional, every attribute is keyword-only. Results are on the device; `.numpy()` waits for them.
"""

from .bsa import bsa_select_block_mask
from .hc import HcPre, HcPreV2, hc_pre, hc_pre_v2
from .hc_parts import HcPreSinkhorn, hc_post, hc_pre_inv_rms, hc_pre_sinkhorn
from .mhc import MhcPreSinkhorn, MhcPreSinkhornGradients, mhc_pre_sinkhorn, mhc_pre_sinkhorn_backward
from .mhc_post import MhcPostGradients, mhc_post, mhc_post_backward
from .mhc_pre import MhcPre, mhc_pre, mhc_pre_v2
from .mhc_sinkhorn import MhcSinkhorn, mhc_sinkhorn

__all__ = [
    "HcPre",
    "HcPreSinkhorn",
    "HcPreV2",
    "MhcPostGradients",
    "MhcPre",
    "MhcPreSinkhorn",
    "MhcPreSinkhornGradients",
    "MhcSinkhorn",
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
    "mhc_pre_v2",
    "mhc_sinkhorn",
]
