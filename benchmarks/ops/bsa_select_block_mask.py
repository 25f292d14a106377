"""aclnnBSASelectBlockMask against a PyTorch (or, without it, a NumPy) composition of the same formulas."""

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

HEADS, HEAD_DIM, BLOCK, SPARSITY = 4, 128, 128, 0.5


def inputs(tokens: int) -> tuple[np.ndarray, np.ndarray]:
    """Query and key, FP16 [1, 4, tokens, 128]: one random head, the others scaled copies of it."""
    rng = np.random.default_rng(1)
    arrays = []
    for _ in range(2):
        head = rng.standard_normal((tokens, HEAD_DIM), np.float32).astype(np.float16)
        arrays.append(np.stack([head * np.float16(1 + i / 8) for i in range(HEADS)])[None])
    return arrays[0], arrays[1]


def ours(arrays) -> Callable[[], object]:
    """One call with the inputs on the device, up to the end of the stream."""
    tensors = [aclnn.tensor(array) for array in arrays]

    def call() -> None:
        aclnn.ops.bsa_select_block_mask(*tensors, sparsity=SPARSITY, block_shape=(BLOCK, BLOCK))
        aclnn.synchronize()

    return call


def torch_composition(arrays) -> Callable[[], object]:
    import torch

    query, key = (torch.from_numpy(array) for array in arrays)

    def means(x):
        sums = torch.sum(x.unflatten(2, (-1, BLOCK)), 3, dtype=torch.float32)
        return (sums / BLOCK).half().float()

    def call():
        with torch.no_grad():
            scores = means(query) @ means(key).transpose(-1, -2) * HEAD_DIM**-0.5
            cells = torch.softmax(scores, -1).half().flatten(2)
            keep = int(SPARSITY * cells.shape[-1] + 0.5)
            mask = torch.zeros(cells.shape, dtype=torch.int8)
            mask.scatter_(-1, torch.topk(cells, keep, sorted=False).indices, 1)
            return mask.view(scores.shape)

    return call


def numpy_composition(arrays) -> Callable[[], object]:
    def means(x):
        parts = x.reshape(1, HEADS, -1, BLOCK, HEAD_DIM)
        return parts.mean(3, dtype=np.float32).astype(np.float16).astype(np.float32)

    def call():
        scores = means(arrays[0]) @ means(arrays[1]).swapaxes(-1, -2) * np.float32(HEAD_DIM**-0.5)
        e = np.exp(scores - scores.max(-1, keepdims=True))
        cells = (e / e.sum(-1, keepdims=True)).astype(np.float16).reshape(1, HEADS, -1)
        keep = int(SPARSITY * cells.shape[-1] + 0.5)
        mask = np.zeros(cells.shape, np.int8)
        np.put_along_axis(mask, np.argpartition(-cells, keep - 1, -1)[..., :keep], 1, -1)
        return mask.reshape(scores.shape)

    return call


def growth(sizes: tuple[int, ...] = (8, 32, 128, 256)) -> None:
    """Cost over the number of tokens (in K), beside a peer and the time that reading the inputs takes."""
    with_torch = importlib.util.find_spec("torch") is not None
    peer, name = (torch_composition, "PyTorch") if with_torch else (numpy_composition, "NumPy")
    bandwidth = machine.read_bandwidth()
    print(
        f"aclnnBSASelectBlockMask, FP16 [1, {HEADS}, S, {HEAD_DIM}], block {BLOCK}, sparsity {SPARSITY}, "
        f"{machine.CPUS} CPUs, {aclnn.info().soc}"
    )
    print(
        f"  {'S':>6} {'cells':>10} {'ms':>9} {name + ' ms':>12} {'ratio':>6} {'read inputs ms':>15} "
        f"{'ns/(tokens+cells)':>18}"
    )
    for size in sizes:
        tokens = size * 1024
        arrays = inputs(tokens)
        rounds = 9 if size < 100 else 5
        seconds = interleaved({"ours": ours(arrays), "peer": peer(arrays)}, rounds=rounds, warmup=1)
        cells = HEADS * (tokens // BLOCK) ** 2
        reading = sum(array.nbytes for array in arrays) / bandwidth
        work = 2 * HEADS * tokens + cells
        print(
            f"  {size:>5}K {cells:>10} {seconds['ours'] * 1e3:>9.1f} {seconds['peer'] * 1e3:>12.1f} "
            f"{seconds['ours'] / seconds['peer']:>6.2f} {reading * 1e3:>15.1f} "
            f"{seconds['ours'] / work * 1e9:>18.1f}"
        )


_MEMORY = """
import json
import aclnn_py as aclnn
from bsa_select_block_mask import inputs, ours

def status(key):
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith(key))

call = ours(inputs({tokens}))
aclnn.synchronize()
open("/proc/self/clear_refs", "w").write("5")
before = status("VmRSS")
call()
print(json.dumps(status("VmHWM") - before))
"""


def memory(tokens: int = 256 * 1024) -> None:
    """Peak memory of the first call, above its inputs: mask, workspace, and what a process needs once."""
    folder = Path(__file__).parent
    script = f"import sys; sys.path[:0] = [{str(folder)!r}, {str(folder.parent)!r}]\n" + _MEMORY
    done = subprocess.run(
        [sys.executable, "-c", script.replace("{tokens}", str(tokens))],
        cwd=folder,  # not a folder with a source tree that would shadow the installed package
        capture_output=True,
        text=True,
        check=True,
    )
    print(f"  S {tokens // 1024}K, memory above the inputs: {json.loads(done.stdout) / 2**20:.1f} MiB")
