"""aclnnMhcPreSinkhorn against a NumPy and, where installed, a PyTorch composition of the same formulas."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import machine
import numpy as np
from timing import interleaved

import aclnn_py as aclnn
from aclnn_py.reference.mhc import mhc_pre_sinkhorn as reference
from aclnn_py.testing.cases import random_case

N, MIX, ITERS, EPS = 4, 24, 20, 1e-6


def ours(arrays, need_backward: bool) -> Callable[[], object]:
    """One call with the inputs on the device, outputs allocated, up to the end of the stream."""
    tensors = [aclnn.tensor(array) for array in arrays]

    def call() -> None:
        aclnn.ops.mhc_pre_sinkhorn(*tensors, need_backward=need_backward)
        aclnn.synchronize()

    return call


def torch_composition(arrays) -> Callable[[], object]:
    import torch

    x = torch.from_numpy(arrays[0].view(np.int16)).view(torch.bfloat16)
    phi, alpha, bias = (torch.from_numpy(np.asarray(array)) for array in arrays[1:])

    def call():
        with torch.no_grad():
            wide = x.float()
            flat = wide.flatten(-2)
            inverse = torch.rsqrt(flat.square().mean(-1, keepdim=True) + EPS)
            w = (flat @ phi.T) * inverse
            pre, post, res = w.split([N, N, N * N], -1)
            pre = torch.sigmoid(pre * alpha[0] + bias[:N]) + EPS
            post = 2 * torch.sigmoid(post * alpha[1] + bias[N : 2 * N])
            m = torch.softmax((res * alpha[2] + bias[2 * N :]).unflatten(-1, (N, N)), -1) + EPS
            m = m / (m.sum(-2, keepdim=True) + EPS)
            for _ in range(ITERS - 1):
                m = m / (m.sum(-1, keepdim=True) + EPS)
                m = m / (m.sum(-2, keepdim=True) + EPS)
            return (pre.unsqueeze(-1) * wide).sum(-2).bfloat16(), post, m

    return call


def compare(tokens: int = 1024, tail: int = 4096) -> None:
    arrays = random_case((1, tokens), tail, seed=1)
    contestants: dict[str, Callable[[], object]] = {
        "aclnn_py": ours(arrays, need_backward=False),
        "aclnn_py, backward group": ours(arrays, need_backward=True),
        "NumPy composition": lambda: reference(*arrays),
    }
    if importlib.util.find_spec("torch") is not None:
        contestants["PyTorch eager"] = torch_composition(arrays)
    seconds = interleaved(contestants)
    base = seconds["aclnn_py"]

    x_bytes = tokens * N * tail * 2
    products = tokens * N * tail * MIX
    limits = {
        "read x once at the machine's bandwidth": x_bytes / machine.read_bandwidth(),
        "the products at the machine's multiply-add rate": products / machine.multiply_adds(),
    }
    print(f"aclnnMhcPreSinkhorn, x BF16 [1, {tokens}, {N}, {tail}], {machine.CPUS} CPUs, {aclnn.info().soc}")
    for name, value in (seconds | limits).items():
        print(f"  {name:48} {value * 1e3:9.2f} ms   {value / base:7.2f} x aclnn_py")


def growth(tail: int = 4096) -> None:
    print(f"  {'T':>6} {'ms':>9} {'us per token':>13}")
    for tokens in (16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192):
        arrays = random_case((1, tokens), tail, seed=1)
        seconds = interleaved({"ours": ours(arrays, need_backward=False)}, rounds=3, warmup=1)["ours"]
        print(f"  {tokens:>6} {seconds * 1e3:>9.2f} {seconds / tokens * 1e6:>13.2f}")


_MEMORY = """
import json, sys
import aclnn_py as aclnn
from aclnn_py.testing.cases import random_case

def status(key):
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith(key))

arrays = random_case((1, 64), 4096, seed=1)
idle = status("VmRSS")
aclnn.ops.mhc_pre_sinkhorn(*arrays, need_backward=True).hin.numpy()
fixed = status("VmRSS") - idle  # libraries, threads, core memory, and this small call's tensors
arrays = random_case((1, {tokens}), 4096, seed=1)
tensors = [aclnn.tensor(a) for a in arrays]
del arrays
open("/proc/self/clear_refs", "w").write("5")
before = status("VmRSS")
r = aclnn.ops.mhc_pre_sinkhorn(*tensors, need_backward=True)
aclnn.synchronize()
out = sum(t.nbytes for t in r)
print(json.dumps(dict(peak=status("VmHWM") - before, outputs=out, fixed=fixed)))
"""


def memory(tokens: int = 4096) -> None:
    """Peak memory of a call, above its inputs."""
    done = subprocess.run(
        [sys.executable, "-c", _MEMORY.replace("{tokens}", str(tokens))],
        cwd=Path(__file__).parent,  # not a folder with a source tree that would shadow the installed package
        capture_output=True,
        text=True,
        check=True,
    )
    got = json.loads(done.stdout)
    extra = got["peak"] - got["outputs"]
    print(
        f"  T {tokens}, backward group, memory above the inputs: outputs {got['outputs'] / 2**20:.1f} MiB, "
        f"workspace and what the call needs {extra / 2**20:.1f} MiB, "
        f"once per process {got['fixed'] / 2**20:.1f} MiB"
    )
