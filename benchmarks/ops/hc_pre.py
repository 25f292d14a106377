"""aclnnHcPre against a NumPy and, where installed, a PyTorch composition of the same formulas."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import machine
import numpy as np
from timing import best, interleaved

import aclnn_py as aclnn
from aclnn_py.reference import hc_pre as reference
from aclnn_py.testing.cases import hc_pre_case

N, MIX, ITERS, EPS = 4, 24, 20, 1e-6


def ours(arrays, **options) -> Callable[[], object]:
    """One call with the inputs on the device, outputs allocated, up to the end of the stream."""
    tensors = [aclnn.tensor(array) for array in arrays]

    def call() -> None:
        aclnn.ops.hc_pre(*tensors, **options)
        aclnn.synchronize()

    return call


def torch_composition(arrays) -> Callable[[], object]:
    import torch

    x = torch.from_numpy(arrays[0].view(np.int16)).view(torch.bfloat16)
    hc_fn, scale, base = (torch.from_numpy(np.asarray(array)) for array in arrays[1:])

    def call():
        with torch.no_grad():
            wide = x.float()
            flat = wide.flatten(-2)
            rsqrt = torch.rsqrt(flat.square().mean(-1, keepdim=True) + EPS)
            mixes = torch.nn.functional.linear(flat, hc_fn) * rsqrt
            pre, post, comb = mixes.split([N, N, N * N], -1)
            pre = torch.sigmoid(pre * scale[0] + base[:N]) + EPS
            post = 2 * torch.sigmoid(post * scale[1] + base[N : 2 * N])
            m = torch.softmax((comb * scale[2] + base[2 * N :]).unflatten(-1, (N, N)), -1) + EPS
            m = m / (m.sum(-2, keepdim=True) + EPS)
            for _ in range(ITERS - 1):
                m = m / (m.sum(-1, keepdim=True) + EPS)
                m = m / (m.sum(-2, keepdim=True) + EPS)
            return (pre.unsqueeze(-1) * wide).sum(-2).bfloat16(), post, m

    return call


def compare(tokens: int = 1024, d: int = 4096) -> None:
    arrays = hc_pre_case((tokens,), d, seed=1)
    contestants: dict[str, Callable[[], object]] = {
        "aclnn_py": ours(arrays),
        "aclnn_py, composite route": ours(arrays, route="composite"),
        "NumPy composition": lambda: reference(*arrays),
    }
    if importlib.util.find_spec("torch") is not None:
        contestants["PyTorch eager"] = torch_composition(arrays)
    seconds = interleaved(contestants)
    base = seconds["aclnn_py"]
    limits = {
        "read x once at the machine's bandwidth": tokens * N * d * 2 / machine.read_bandwidth(),
        "the products at the machine's multiply-add rate": tokens * N * d * MIX / machine.multiply_adds(),
    }
    print(f"aclnnHcPre, x BF16 [{tokens}, {N}, {d}], {machine.CPUS} CPUs, {aclnn.info().soc}")
    for name, value in (seconds | limits).items():
        print(f"  {name:48} {value * 1e3:9.2f} ms   {value / base:7.2f} x aclnn_py")


def repeated(tokens: int = 16, d: int = 4096, calls: int = 50) -> None:
    call = ours(hc_pre_case((tokens,), d, seed=1))
    call()
    samples = sorted(best(call, rounds=1) for _ in range(calls))
    print(
        f"  T {tokens}, {calls} calls one after the other: median {samples[calls // 2] * 1e3:.2f} ms, "
        f"fastest {samples[0] * 1e3:.2f} ms, slowest {samples[-1] * 1e3:.2f} ms"
    )


_LARGE = """
import json, time
import aclnn_py as aclnn
from aclnn_py.testing.cases import hc_pre_case

def status(key):
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith(key))

case = hc_pre_case(({chunk},), {d}, seed=1)
x = aclnn.empty(({tokens}, 4, {d}), "bfloat16")
for first in range(0, {tokens}, {chunk}):  # a whole copy on the host would count too
    x[first : first + {chunk}].copy_from(case.x)
weights = [aclnn.tensor(array) for array in case[1:]]
start = time.perf_counter()
result = aclnn.ops.hc_pre(x, *weights)
aclnn.synchronize()
seconds = time.perf_counter() - start
tensors = [x, *weights, *result]
print(json.dumps(dict(peak=status("VmHWM"), tensors=sum(t.nbytes for t in tensors), seconds=seconds)))
"""


def large(tokens: int = 32768, d: int = 4096) -> dict[str, float]:
    """Time and peak memory of a whole process that makes one large call."""
    script = _LARGE.replace("{tokens}", str(tokens)).replace("{d}", str(d)).replace("{chunk}", "1024")
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=Path(__file__).parent,  # not a folder with a source tree that would shadow the installed package
        capture_output=True,
        text=True,
        check=True,
    )
    got: dict[str, float] = json.loads(done.stdout)
    print(
        f"  T {tokens}, d {d}: {got['seconds']:.2f} s; inputs and outputs {got['tensors'] / 2**20:.0f} MiB, "
        f"peak of the process {(got['peak'] - got['tensors']) / 2**20:.0f} MiB above them"
    )
    return got
