"""aclnnMhcSinkhorn (Ascend 950 only) against the same formulas in NumPy and, where installed, PyTorch."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import machine
import numpy as np
from timing import interleaved

import aclnn_py as aclnn
from aclnn_py.reference import mhc_sinkhorn as reference

ITERS, EPS = 20, 1e-6


def ours(x: np.ndarray, need_backward: bool) -> Callable[[], object]:
    """One call with the input on the device, outputs allocated, up to the end of the stream."""
    tensor = aclnn.tensor(x)

    def call() -> None:
        aclnn.ops.mhc_sinkhorn(tensor, num_iters=ITERS, eps=EPS, need_backward=need_backward)
        aclnn.synchronize()

    return call


def torch_composition(x: np.ndarray) -> Callable[[], object]:
    import torch

    z = torch.from_numpy(x)

    def call():
        with torch.no_grad():
            m = torch.softmax(z, -1) + EPS
            m = m / (m.sum(-2, keepdim=True) + EPS)
            for _ in range(ITERS - 1):
                m = m / (m.sum(-1, keepdim=True) + EPS)
                m = m / (m.sum(-2, keepdim=True) + EPS)
            return m

    return call


def compare(tokens: int = 8192) -> None:
    if not aclnn.info().soc.startswith("Ascend950"):  # a process has one SoC
        environment = os.environ | {"ACLEMU_SOC": "Ascend950PR_9579"}
        subprocess.run([sys.executable, __file__], env=environment, check=True)
        return
    for n in (4, 8):
        x = np.random.default_rng(1).standard_normal((tokens, n, n)).astype(np.float32)
        contestants: dict[str, Callable[[], object]] = {
            "aclnn_py": ours(x, need_backward=False),
            "aclnn_py, norm and sum outputs": ours(x, need_backward=True),
            "NumPy composition": lambda x=x: reference(x, num_iters=ITERS, eps=EPS),
        }
        if importlib.util.find_spec("torch") is not None:
            contestants["PyTorch eager"] = torch_composition(x)
        seconds = interleaved(contestants)
        print(f"aclnnMhcSinkhorn, x [{tokens}, {n}, {n}], {machine.CPUS} CPUs, {aclnn.info().soc}")
        for who, value in seconds.items():
            print(f"  {who:48} {value * 1e3:9.2f} ms   {value / seconds['aclnn_py']:7.2f} x aclnn_py")


if __name__ == "__main__":
    compare()
