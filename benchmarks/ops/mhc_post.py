"""aclnnMhcPost and aclnnMhcPostBackward against the same formulas in NumPy and, where installed, PyTorch."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

import machine
import ml_dtypes
import numpy as np
from timing import interleaved

import aclnn_py as aclnn
from aclnn_py.reference import mhc_post as numpy_forward
from aclnn_py.reference import mhc_post_backward as numpy_backward

N = 4


def inputs(tokens: int, tail: int) -> list[np.ndarray]:
    """gradOutput, x, hRes, hOut, hPost"""
    rng = np.random.default_rng(1)

    def normal(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape, np.float32)

    wide = [normal(1, tokens, N, tail), normal(1, tokens, N, tail), normal(1, tokens, tail)]
    g, x, h_out = (array.astype(ml_dtypes.bfloat16) for array in wide)
    return [g, x, normal(1, tokens, N, N), h_out, normal(1, tokens, N)]


def ours(function: Callable[..., object], arrays: list[np.ndarray]) -> Callable[[], object]:
    """One call with the inputs on the device, outputs allocated, up to the end of the stream."""
    tensors = [aclnn.tensor(array) for array in arrays]

    def call() -> None:
        function(*tensors)
        aclnn.synchronize()

    return call


def torch_compositions(arrays: list[np.ndarray]) -> dict[str, Callable[[], object]]:
    import torch

    def wrap(array: np.ndarray):
        if array.dtype == np.float32:
            return torch.from_numpy(array)
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)

    g, x, res, h, post = map(wrap, arrays)

    def forward():
        with torch.no_grad():
            mixed = torch.einsum("btij,btid->btjd", res, x.float())
            return (mixed + post.unsqueeze(-1) * h.float().unsqueeze(-2)).bfloat16()

    def backward():
        with torch.no_grad():
            wide_g, wide_x, wide_h = g.float(), x.float(), h.float()
            return (
                (res @ wide_g).bfloat16(),
                wide_x @ wide_g.transpose(-1, -2),
                (post.unsqueeze(-2) @ wide_g).squeeze(-2).bfloat16(),
                (wide_g @ wide_h.unsqueeze(-1)).squeeze(-1),
            )

    return {"forward": forward, "backward": backward}


def compare(tokens: int = 1024, tail: int = 4096) -> None:
    arrays = inputs(tokens, tail)
    others = torch_compositions(arrays) if importlib.util.find_spec("torch") is not None else {}
    streams = tokens * N * tail * 2  # bytes of the n streams
    for name, function, reference, used, moved in (
        ("forward", aclnn.ops.mhc_post, numpy_forward, arrays[1:], streams * (2 + 1 / N)),
        ("backward", aclnn.ops.mhc_post_backward, numpy_backward, arrays, streams * (3 + 2 / N)),
    ):
        contestants: dict[str, Callable[[], object]] = {
            "aclnn_py": ours(function, used),
            "NumPy composition": lambda reference=reference, used=used: reference(*used),
        }
        if name in others:
            contestants["PyTorch eager"] = others[name]
        seconds = interleaved(contestants)
        seconds["all tensors once at the machine's bandwidth"] = moved / machine.read_bandwidth()
        base = seconds["aclnn_py"]
        print(
            f"aclnnMhcPost {name}, x BF16 [1, {tokens}, {N}, {tail}], {machine.CPUS} CPUs, {aclnn.info().soc}"
        )
        for who, value in seconds.items():
            print(f"  {who:48} {value * 1e3:9.2f} ms   {value / base:7.2f} x aclnn_py")


def growth() -> None:
    """Short rows take the way with several tokens per instruction."""
    print(f"  {'T':>7} {'D':>6} {'forward ms':>11} {'backward ms':>12}")
    for tokens, tail in ((64, 4096), (1024, 4096), (4096, 1024), (32768, 128)):
        arrays = inputs(tokens, tail)
        forward, backward = ours(aclnn.ops.mhc_post, arrays[1:]), ours(aclnn.ops.mhc_post_backward, arrays)
        seconds = interleaved({"f": forward, "b": backward}, rounds=3, warmup=1)
        print(f"  {tokens:>7} {tail:>6} {seconds['f'] * 1e3:>11.2f} {seconds['b'] * 1e3:>12.2f}")
