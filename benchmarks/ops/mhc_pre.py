"""aclnnMhcPreV2 in both modes against a NumPy and, where installed, a PyTorch composition of the formulas.

HF32 exists on Ascend 950 only, so both modes run on an emulated one, in a process of its own.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import machine
import numpy as np
from timing import interleaved

import aclnn_py as aclnn
from aclnn_py.reference import mhc_pre as reference
from aclnn_py.testing.cases import random_case

N, EPS = 4, 1e-6
SOC = "Ascend950PR_9579"


def inputs(tokens: int, tail: int) -> tuple[np.ndarray, ...]:
    """x, phi, alpha, bias and gamma."""
    case = random_case((tokens,), tail, np.float16, seed=1)
    gamma = np.random.default_rng(2).uniform(0.5, 1.5, (N, tail)).astype(np.float32)
    return (*case, gamma)


def ours(arrays: tuple[np.ndarray, ...], mode: int) -> Callable[[], object]:
    """One call with the inputs on the device, outputs allocated, up to the end of the stream."""
    tensors = [aclnn.tensor(array) for array in arrays]

    def call() -> None:
        aclnn.ops.mhc_pre_v2(*tensors, op_impl_mode=mode, need_optional=True)
        aclnn.synchronize()

    return call


def torch_composition(arrays: tuple[np.ndarray, ...]) -> Callable[[], object]:
    import torch

    x, phi, alpha, bias, gamma = (torch.from_numpy(np.asarray(array)) for array in arrays)

    def call():
        with torch.no_grad():
            wide = x.float()
            flat = wide.flatten(-2)
            inverse = torch.rsqrt(flat.square().mean(-1, keepdim=True) + EPS)
            mix = (flat * gamma.flatten()) @ phi.T
            pre, post, res = (mix * inverse).split([N, N, N * N], -1)
            pre = torch.sigmoid(pre * alpha[0] + bias[:N]) + EPS
            post = 2 * torch.sigmoid(post * alpha[1] + bias[N : 2 * N])
            res = (res * alpha[2] + bias[2 * N :]).unflatten(-1, (N, N))
            return (pre.unsqueeze(-1) * wide).sum(-2).half(), post, res, inverse, mix, pre

    return call


def compare(tokens: int = 2048, tail: int = 2560) -> None:
    if "950" not in str(aclnn.info().soc):
        environment = os.environ | {"ACLEMU_SOC": SOC}
        command = [sys.executable, "-c", "import mhc_pre; mhc_pre.compare()"]
        path = os.pathsep.join([str(Path(__file__).parent), str(Path(__file__).parents[1])])
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [path, environment.get("PYTHONPATH")]))
        subprocess.run(command, env=environment, check=True)
        return
    arrays = inputs(tokens, tail)
    contestants: dict[str, Callable[[], object]] = {
        "aclnn_py, mode 0": ours(arrays, 0),
        "aclnn_py, mode 1 (HF32)": ours(arrays, 1),
        "NumPy composition": lambda: reference(*arrays, need_optional=True),
    }
    if importlib.util.find_spec("torch") is not None:
        contestants["PyTorch eager"] = torch_composition(arrays)
    seconds = interleaved(contestants)
    base = seconds["aclnn_py, mode 0"]
    print(
        f"aclnnMhcPreV2, x FP16 [{tokens}, {N}, {tail}], gamma, all outputs, "
        f"{machine.CPUS} CPUs, {aclnn.info().soc}"
    )
    for name, value in seconds.items():
        print(f"  {name:48} {value * 1e3:9.2f} ms   {value / base:7.2f} x mode 0")
