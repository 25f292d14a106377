"""Inputs and tolerances of MhcPreSinkhornBackward."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..reference import mhc_pre_sinkhorn
from .cases import MhcPreSinkhornCase
from .compare import HIN_TOLERANCE, Comparison, compare

Array = NDArray[Any]

_RELATIVE = 1e-4
_OF_LARGEST = 2e-5


class MhcPreSinkhornBackwardCase(NamedTuple):
    """The input tensors of MhcPreSinkhornBackward, in C order."""

    grad_hin: Array
    grad_h_post: Array
    grad_h_res: Array
    x: Array
    phi: Array
    alpha: Array
    bias: Array
    h_pre: Array
    hc_before_norm: Array
    inv_rms: Array
    sum_out: Array
    norm_out: Array


def backward_case(
    case: MhcPreSinkhornCase, *, seed: int = 0, **attributes: Any
) -> MhcPreSinkhornBackwardCase:
    """Standard normal gradients for the outputs of a forward ``case``, and what the reference saves for it.

    ``attributes`` go to the reference: hc_eps, norm_eps, num_iters.
    """
    *lead, n, c = case.x.shape
    rng = np.random.default_rng((seed, 2))
    saved: Any = mhc_pre_sinkhorn(*case, hc_mult=n, need_backward=True, **attributes)
    return MhcPreSinkhornBackwardCase(
        rng.standard_normal((*lead, c), np.float32).astype(case.x.dtype),
        rng.standard_normal((*lead, n), np.float32),
        rng.standard_normal((*lead, n * n), np.float32),
        *case,
        *saved[3:],
    )


def check_mhc_pre_sinkhorn_backward(
    actual: Sequence[Array], expected: Sequence[Array], ulps: int = 1
) -> list[Comparison]:
    """Compares grad_x, grad_phi, grad_alpha and grad_bias under the operator's tolerances.

    grad_x is compared as hin is in `check_mhc_pre_sinkhorn`, with ``ulps`` units of its dtype granted. The
    others are sums over all tokens, whose rounding is that of their largest terms: they may be off by 1e-4 of
    their value plus 2e-5 of the tensor's largest, or of 1. Raises ValueError when the number of outputs or a
    shape differs and TypeError when a dtype does.
    """
    report = []
    for name, a, e in zip(("grad_x", "grad_phi", "grad_alpha", "grad_bias"), actual, expected, strict=True):
        a, e = np.asarray(a), np.asarray(e)
        if a.dtype != e.dtype:
            raise TypeError(f"{name}: dtype {a.dtype} where {e.dtype} is expected")
        wide = np.abs(e.astype(np.float64))
        largest = float(wide[np.isfinite(wide)].max(initial=0.0))
        if name == "grad_x":
            rtol, atol = HIN_TOLERANCE[e.dtype]
            report.append(compare(a, e, rtol, atol * max(1.0, largest / 16), ulps, name))
        else:
            report.append(compare(a, e, _RELATIVE, _OF_LARGEST * max(1.0, largest), 0, name))
    return report
