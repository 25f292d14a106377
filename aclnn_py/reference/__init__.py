"""What the operators compute, stated in NumPy.

These functions are the yardstick for every other implementation, so they follow the formulas line by line and
leave speed aside. They need numpy and ml_dtypes only, accept shapes that the operators' first phases refuse
(any tail axis, any stream count), and never touch a library: ``from aclnn_py.reference import
mhc_pre_sinkhorn``.
"""

from .mhc import MhcPreSinkhornOutputs, SinkhornSteps, mhc_pre_sinkhorn, sinkhorn

__all__ = ["MhcPreSinkhornOutputs", "SinkhornSteps", "mhc_pre_sinkhorn", "sinkhorn"]
