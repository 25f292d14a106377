"""Interleaved timing: contestants take turns, so that a slow minute of the machine hits all of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping


def interleaved(
    contestants: Mapping[str, Callable[[], object]], *, rounds: int = 9, warmup: int = 2
) -> dict[str, float]:
    """Median seconds of each contestant over `rounds` rounds, after `warmup` calls of each."""
    for call in contestants.values():
        for _ in range(warmup):
            call()
    samples: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, call in contestants.items():
            start = time.perf_counter()
            call()
            samples[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in samples.items()}


def best(call: Callable[[], object], *, rounds: int = 5) -> float:
    """Fastest of `rounds` calls, in seconds: for the machine's limits, which noise can only hide."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)
