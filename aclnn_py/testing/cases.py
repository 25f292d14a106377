"""Inputs for operators: random, steep and constant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
from numpy.typing import DTypeLike, NDArray

Array = NDArray[Any]


class MhcPreSinkhornCase(NamedTuple):
    """The four input tensors of MhcPreSinkhorn."""

    x: Array
    phi: Array
    alpha: Array
    bias: Array


def random_case(
    lead: Sequence[int], c: int, dtype: DTypeLike = ml_dtypes.bfloat16, *, n: int = 4, seed: int = 0
) -> MhcPreSinkhornCase:
    """Random inputs in the range where the operator is numerically stable.

    x [*lead, n, c] is standard normal in ``dtype``; phi is uniform within +-1/sqrt(n*c), alpha normal, bias
    normal.
    """
    rng = np.random.default_rng(seed)
    mix = n * n + 2 * n
    bound = 1 / np.sqrt(max(1, n * c))
    return MhcPreSinkhornCase(
        x=rng.standard_normal((*lead, n, c), np.float32).astype(dtype),
        phi=rng.uniform(-bound, bound, (mix, n * c)).astype(np.float32),
        alpha=rng.standard_normal(3, np.float32),
        bias=rng.standard_normal(mix, np.float32),
    )


def steep_case(
    lead: Sequence[int],
    c: int,
    dtype: DTypeLike = ml_dtypes.bfloat16,
    *,
    n: int = 4,
    seed: int = 0,
    steepness: float = 1e4,
) -> MhcPreSinkhornCase:
    """Like :func:`random_case`, with a bias that drives exponentials and sigmoids to their ends.

    Logits of the same row of the Sinkhorn block lie ``steepness / n`` or more apart. Were two of them equally
    large, their float32 rounding (1e-3 at 1e4) would be a difference between two right answers.
    """
    case = random_case(lead, c, dtype, n=n, seed=seed)
    rng = np.random.default_rng((seed, 1))
    levels = np.linspace(-steepness, steepness, n, dtype=np.float32)
    sides = np.array([steepness, -steepness, 90.0, -90.0], np.float32)
    gates = np.resize(sides, 2 * n)
    rows = np.concatenate([rng.permutation(levels) for _ in range(n)])
    return case._replace(bias=np.concatenate([gates, rows]).astype(np.float32))


def constant_case(
    lead: Sequence[int], c: int, dtype: DTypeLike = ml_dtypes.bfloat16, *, n: int = 4
) -> MhcPreSinkhornCase:
    """x 0.125, phi 1/sqrt(n*c), alpha 0.25, bias 0: every token alike, hRes uniform."""
    mix = n * n + 2 * n
    return MhcPreSinkhornCase(
        x=np.full((*lead, n, c), 0.125, dtype),
        phi=np.full((mix, n * c), 1 / np.sqrt(max(1, n * c)), np.float32),
        alpha=np.full(3, 0.25, np.float32),
        bias=np.zeros(mix, np.float32),
    )


class HcPreCase(NamedTuple):
    """The four input tensors of HcPre."""

    x: Array
    hc_fn: Array
    hc_scale: Array
    hc_base: Array


def hc_pre_case(lead: Sequence[int], d: int, *, seed: int = 0) -> HcPreCase:
    """Inputs as the public tests of HcPre draw them, all uniform: x [*lead, 4, d] in (0, 2) made in bfloat16,
    hc_fn in (0, 1/(4d)), hc_scale and hc_base in (0, 2)."""
    rng = np.random.default_rng(seed)
    x = np.empty((*lead, 4, d), ml_dtypes.bfloat16)
    rows = x.reshape(-1, 4 * d)
    for first in range(0, len(rows), 256):
        part = rows[first : first + 256]
        part[:] = rng.uniform(0, 2, part.shape).astype(ml_dtypes.bfloat16)
    return HcPreCase(
        x=x,
        hc_fn=rng.uniform(0, 1 / (4 * d), (24, 4 * d)).astype(np.float32),
        hc_scale=rng.uniform(0, 2, 3).astype(np.float32),
        hc_base=rng.uniform(0, 2, 24).astype(np.float32),
    )
