"""The small HcPre operators against NumPy and, where installed, PyTorch compositions of the same formulas."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import machine
import ml_dtypes
import numpy as np
from timing import interleaved

import aclnn_py as aclnn
from aclnn_py import reference

N, MIX, ITERS, EPS = 4, 24, 20, 1e-6
BF16 = np.dtype(ml_dtypes.bfloat16)
Arrays = dict[str, Any]


def make_arrays(tokens: int, d: int) -> Arrays:
    rng = np.random.default_rng(1)
    shapes = {"residual": (tokens, N, d), "x": (tokens, d)}
    arrays = {name: rng.standard_normal(shape, np.float32).astype(BF16) for name, shape in shapes.items()}
    shapes = {"mixes": (tokens, MIX), "rsqrt": (tokens, 1), "scale": (3,), "base": (MIX,)}
    shapes |= {"post": (tokens, N), "comb": (tokens, N, N)}
    return arrays | {name: rng.uniform(0, 2, shape).astype(np.float32) for name, shape in shapes.items()}


def calls(ops: Any, a: Arrays) -> dict[str, Callable[[], Any]]:
    """The three operators of `aclnn.ops` or of the reference, which take the same arguments."""
    return {
        "aclnnHcPreInvRms": lambda: ops.hc_pre_inv_rms(a["residual"]),
        "aclnnHcPreSinkhorn": lambda: ops.hc_pre_sinkhorn(
            a["mixes"], a["rsqrt"], a["scale"], a["base"], a["residual"]
        ),
        "aclnnHcPost": lambda: ops.hc_post(a["x"], a["residual"], a["post"], a["comb"]),
    }


def torch_calls(arrays: Arrays) -> dict[str, Callable[[], Any]]:
    import torch

    a = {
        name: torch.from_numpy(v.view(np.int16)).view(torch.bfloat16)
        if v.dtype == BF16
        else torch.from_numpy(v)
        for name, v in arrays.items()
    }

    def inv_rms() -> Any:
        return torch.rsqrt(a["residual"].float().flatten(-2).square().mean(-1, keepdim=True) + EPS)

    def sinkhorn() -> Any:
        scale, base = a["scale"], a["base"]
        pre, post, comb = (a["mixes"] * a["rsqrt"]).split([N, N, N * N], -1)
        pre = torch.sigmoid(pre * scale[0] + base[:N]) + EPS
        post = 2 * torch.sigmoid(post * scale[1] + base[N : 2 * N])
        m = torch.softmax((comb * scale[2] + base[2 * N :]).unflatten(-1, (N, N)), -1) + EPS
        m = m / (m.sum(-2, keepdim=True) + EPS)
        for _ in range(ITERS - 1):
            m = m / (m.sum(-1, keepdim=True) + EPS)
            m = m / (m.sum(-2, keepdim=True) + EPS)
        return (pre.unsqueeze(-1) * a["residual"].float()).sum(-2).bfloat16(), post, m

    def post() -> Any:
        spread = a["post"].unsqueeze(-1) * a["x"].float().unsqueeze(-2)
        mixed = (a["comb"].unsqueeze(-1) * a["residual"].float().unsqueeze(-2)).sum(-3)
        return (spread + mixed).bfloat16()

    return {"aclnnHcPreInvRms": inv_rms, "aclnnHcPreSinkhorn": sinkhorn, "aclnnHcPost": post}


def to_the_end(call: Callable[[], Any]) -> Callable[[], None]:
    def run() -> None:
        call()
        aclnn.synchronize()

    return run


def compare(tokens: int = 1024, d: int = 4096) -> None:
    arrays = make_arrays(tokens, d)
    ours = calls(aclnn.ops, {name: aclnn.tensor(array) for name, array in arrays.items()})
    numpy = calls(reference, arrays)
    torch = torch_calls(arrays) if importlib.util.find_spec("torch") is not None else {}
    stream, row = tokens * N * d * 2, tokens * d * 2
    moved = {"aclnnHcPreInvRms": stream, "aclnnHcPreSinkhorn": stream + row, "aclnnHcPost": 2 * stream + row}
    for op, call in ours.items():
        contestants = {"aclnn_py": to_the_end(call), "NumPy composition": numpy[op]}
        if op in torch:
            contestants["PyTorch eager"] = torch[op]
        seconds = interleaved(contestants)
        bound = {"its tensors at the machine's read bandwidth": moved[op] / machine.read_bandwidth()}
        print(f"{op}, streams BF16 [{tokens}, {N}, {d}], {machine.CPUS} CPUs, {aclnn.info().soc}")
        for name, value in (seconds | bound).items():
            print(f"  {name:48} {value * 1e3:9.2f} ms   {value / seconds['aclnn_py']:7.2f} x aclnn_py")
