"""Operators as Python functions: they allocate the outputs and return them.

Tensors are positional, every attribute is keyword-only. Results are on the device; `.numpy()` waits for them.
"""

from .mhc import MhcPreSinkhorn, mhc_pre_sinkhorn

__all__ = ["MhcPreSinkhorn", "mhc_pre_sinkhorn"]
