"""What the machine could do at most: memory read bandwidth and multiply-add rate, over all its CPUs."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from timing import best

CPUS = len(os.sched_getaffinity(0))


def read_bandwidth() -> float:
    """Bytes per second of a sum over an array far larger than the caches, one part per CPU."""
    data = np.ones(64 << 20, np.float32)
    parts = np.array_split(data, CPUS)
    with ThreadPoolExecutor(CPUS) as pool:
        return data.nbytes / best(lambda: list(pool.map(np.add.reduce, parts)))


def multiply_adds() -> float:
    """Float32 multiply-adds per second of a large matrix product, as NumPy's BLAS does it."""
    n = 2048
    a = np.ones((n, n), np.float32)
    return n**3 / best(lambda: a @ a)
