"""aclnnMhcPreSinkhornBackward against NumPy and, where installed, two PyTorch compositions."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import ml_dtypes
import numpy as np
from timing import interleaved

import aclnn_py as aclnn
from aclnn_py.reference import mhc_pre_sinkhorn_backward as reference
from aclnn_py.testing.cases import random_case

N, MIX, ITERS, EPS = 4, 24, 20, 1e-6
NAMES = ("grad_x", "grad_phi", "grad_alpha", "grad_bias")


def arrays_of(tokens: int, tail: int):
    """Gradients of the outputs, the inputs, and what the forward operator saves."""
    case = random_case((1, tokens), tail, seed=1)
    rng = np.random.default_rng(2)
    grads = (
        rng.standard_normal((1, tokens, tail), np.float32).astype(ml_dtypes.bfloat16),
        rng.standard_normal((1, tokens, N), np.float32),
        rng.standard_normal((1, tokens, N * N), np.float32),
    )
    saved = aclnn.ops.mhc_pre_sinkhorn(*case, need_backward=True)[3:]
    return (*grads, *case, *(tensor.numpy() for tensor in saved))


def ours(arrays) -> Callable[[], object]:
    """One call with the inputs on the device, outputs allocated, up to the end of the stream."""
    tensors = [aclnn.tensor(array) for array in arrays]

    def call():
        result = aclnn.ops.mhc_pre_sinkhorn_backward(*tensors)
        aclnn.synchronize()
        return result

    return call


def to_torch(array):
    import torch

    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def torch_formulas(arrays) -> Callable[[], object]:
    """The gradients written out."""
    import torch

    grad_hin, grad_post, grad_res, x, phi, alpha, bias, pre, before, inverse, sums, norms = map(
        to_torch, arrays
    )

    def call():
        with torch.no_grad():
            wide, grad = x.float(), grad_hin.float()
            w = before * inverse
            z_pre, z_post, z_res = w.split([N, N, N * N], -1)
            s = torch.sigmoid(z_pre * alpha[0] + bias[:N]) - EPS
            d_pre = (grad.unsqueeze(-2) * wide).sum(-1) * s * (1 - s)
            s = torch.sigmoid(z_post * alpha[1] + bias[N : 2 * N])
            d_post = 2 * grad_post * s * (1 - s)
            m = grad_res.unflatten(-1, (N, N))
            for i in range(ITERS - 1, -1, -1):
                row, column, norm = sums[2 * i].unsqueeze(-1), sums[2 * i + 1].unsqueeze(-2), norms[2 * i]
                m = m / column - (m * norm / column**2).sum(-2, keepdim=True)
                m = m / row - (m * norm / row).sum(-1, keepdim=True)
            z = (z_res * alpha[2] + bias[2 * N :]).unflatten(-1, (N, N))
            top, where = z.max(-1, keepdim=True)
            m = m * torch.exp(z - top)
            m = m - torch.zeros_like(m).scatter_(-1, where, m.sum(-1, keepdim=True))
            dz = torch.cat([d_pre, d_post, m.flatten(-2)], -1)
            grad_alpha = torch.stack([part.sum() for part in (w * dz).split([N, N, N * N], -1)])
            scaled = dz * alpha.repeat_interleave(torch.tensor([N, N, N * N]))
            mixed = scaled * inverse
            factor = inverse**3 * (before * scaled).sum(-1, keepdim=True) / (N * wide.shape[-1])
            flat = wide.flatten(-2)
            grad_phi = mixed.flatten(0, -2).T @ flat.flatten(0, -2)
            grad_x = (grad.unsqueeze(-2) * pre.unsqueeze(-1)).flatten(-2) - flat * factor + mixed @ phi
            return grad_x.unflatten(-1, (N, -1)).bfloat16(), grad_phi, grad_alpha, dz.flatten(0, -2).sum(0)

    return call


def torch_autograd(arrays) -> Callable[[], object]:
    """Autograd, the backward half only: the forward composition runs once, its graph is kept."""
    import torch

    grad_hin, grad_post, grad_res, *inputs = map(to_torch, arrays[:7])
    x, phi, alpha, bias = (leaf.clone().requires_grad_() for leaf in inputs)
    wide = x.float()
    flat = wide.flatten(-2)
    inverse = torch.rsqrt(flat.square().mean(-1, keepdim=True) + EPS)
    pre, post, res = ((flat @ phi.T) * inverse).split([N, N, N * N], -1)
    pre = torch.sigmoid(pre * alpha[0] + bias[:N]) + EPS
    post = 2 * torch.sigmoid(post * alpha[1] + bias[N : 2 * N])
    m = torch.softmax((res * alpha[2] + bias[2 * N :]).unflatten(-1, (N, N)), -1) + EPS
    m = m / (m.sum(-2, keepdim=True) + EPS)
    for _ in range(ITERS - 1):
        m = m / (m.sum(-1, keepdim=True) + EPS)
        m = m / (m.sum(-2, keepdim=True) + EPS)
    outputs = ((pre.unsqueeze(-1) * wide).sum(-2).bfloat16(), post, m.flatten(-2))

    def call():
        return torch.autograd.grad(
            outputs, (x, phi, alpha, bias), (grad_hin, grad_post, grad_res), retain_graph=True
        )

    return call


def compare(tokens: int = 1024, tail: int = 4096) -> None:
    arrays = arrays_of(tokens, tail)
    contestants: dict[str, Callable[[], object]] = {
        "aclnn_py": ours(arrays),
        "NumPy composition": lambda: reference(*arrays),
    }
    if importlib.util.find_spec("torch") is not None:
        contestants["PyTorch eager, the formulas"] = torch_formulas(arrays)
        contestants["PyTorch eager, autograd"] = torch_autograd(arrays)
    seconds = interleaved(contestants, rounds=7)
    base = seconds["aclnn_py"]
    print(f"aclnnMhcPreSinkhornBackward, x BF16 [1, {tokens}, {N}, {tail}], {aclnn.info().soc}")
    for name, value in seconds.items():
        print(f"  {name:48} {value * 1e3:9.2f} ms   {value / base:7.2f} x aclnn_py")
    expected = [np.asarray(array, np.float64) for array in reference(*arrays)]
    for name, call in contestants.items():
        if name == "NumPy composition":
            continue
        got = [t.float().numpy() if hasattr(t, "float") else t.numpy() for t in call()]
        errors = (float(np.abs(g.astype(np.float64) - e).max()) for g, e in zip(got, expected, strict=True))
        print(
            f"  {name:30} off the reference by "
            + ", ".join(f"{n} {e:.1e}" for n, e in zip(NAMES, errors, strict=True))
        )


_MEMORY = """
import json, sys
sys.path.insert(0, "..")
import aclnn_py as aclnn
from mhc_pre_sinkhorn_backward import arrays_of

def status(key):
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith(key))

aclnn.ops.mhc_pre_sinkhorn_backward(*arrays_of(64, 4096)).grad_x.numpy()
tensors = [aclnn.tensor(a) for a in arrays_of({tokens}, 4096)]
open("/proc/self/clear_refs", "w").write("5")
before = status("VmRSS")
r = aclnn.ops.mhc_pre_sinkhorn_backward(*tensors)
aclnn.synchronize()
print(json.dumps(dict(peak=status("VmHWM") - before, outputs=sum(t.nbytes for t in r))))
"""


def memory(tokens: int = 4096) -> None:
    """Peak memory of a call, above its inputs."""
    here = Path(__file__).parent
    done = subprocess.run(
        [sys.executable, "-c", _MEMORY.replace("{tokens}", str(tokens))],
        cwd=here,  # not a folder with a source tree that would shadow the installed package
        capture_output=True,
        text=True,
        check=True,
    )
    got = json.loads(done.stdout)
    print(
        f"  T {tokens}, memory above the inputs: outputs {got['outputs'] / 2**20:.1f} MiB, "
        f"workspace and what the call needs {(got['peak'] - got['outputs']) / 2**20:.1f} MiB"
    )
