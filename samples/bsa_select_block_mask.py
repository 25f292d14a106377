"""Calls aclnnBSASelectBlockMask for one FP16 sequence with 4 heads, blocks of 128 x 128, and checks the mask.

    python bsa_select_block_mask.py                     prints a summary; exit code 1 if the mask is wrong
    python bsa_select_block_mask.py --digest            prints what c/bsa_select_block_mask.cpp prints
    python bsa_select_block_mask.py --picture mask.png  also draws the mask (needs matplotlib)
    python bsa_select_block_mask.py --tokens 262144 --sparsity 0.5

Query and key are made here, with the numbers that the C++ program makes.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

import aclnn_py as aclnn
from aclnn_py.reference import bsa_select_block_mask as reference
from aclnn_py.testing import check_block_mask

HEADS, HEAD_DIM, BLOCK = 4, 128, 128
TOPICS, TOPIC_TOKENS = 7, 512
STEP = 16 * 1024  # tokens that are made at a time


def mixed(which, index):
    """64 well mixed bits for each element of input number `which`, the same in C++."""
    z = (index + np.uint64((which << 40) + 1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def levels(which, first, count):
    """One of 16 numbers around 0, in steps of 2, for each element from `first` on."""
    index = np.arange(first, first + count, dtype=np.uint64)
    return (mixed(which, index) >> np.uint64(40) & np.uint64(15)).astype(np.int32) * 2 - 15


def make_input(which, tokens):
    """Every 512 tokens are about one of seven topics, which differs from head to head; a token is its topic
    and noise. All values are exact in FP16."""
    topics = 2 * levels(2, 0, TOPICS * HEAD_DIM).reshape(TOPICS, HEAD_DIM)
    values = np.empty((1, HEADS, tokens, HEAD_DIM), np.float16)
    for head in range(HEADS):
        for first in range(0, tokens, STEP):
            token = np.arange(first, min(first + STEP, tokens))
            noise = levels(which, (head * tokens + first) * HEAD_DIM, len(token) * HEAD_DIM)
            level = topics[token // TOPIC_TOKENS * (head + 1) % TOPICS] + noise.reshape(-1, HEAD_DIM)
            values[0, head, token] = level.astype(np.float32) / np.float32(32)
    return values


def digest(mask, first):
    """A line per head: how many blocks were chosen, the sum of their indices, and the first ones."""
    lines = [f"blockSparseMaskOut {list(mask.shape)}"]
    for head, cells in enumerate(mask[0].reshape(HEADS, -1)):
        chosen = np.flatnonzero(cells)
        shown = "".join(f" {index}" for index in chosen[:first])
        lines.append(f"head {head} ones {len(chosen)} sum of indices {chosen.sum()} first{shown}")
    return "\n".join(lines)


def draw(mask, path):
    """One square per head; dark blocks are computed, query blocks from top to bottom."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, HEADS, figsize=(4 * HEADS, 4.4), constrained_layout=True)
    for head, ax in enumerate(axes):
        ax.imshow(mask[0, head], cmap="Blues", vmin=0, vmax=1, aspect="auto")
        ax.set_title(f"head {head}: {mask[0, head].mean():.1%} of the blocks")
        ax.set_xlabel(f"key blocks of {BLOCK} tokens")
        ax.set_ylabel("query blocks" if head == 0 else "")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--tokens", type=int, default=16 * 1024, metavar="N", help="of query and of key (default 16384)"
    )
    parser.add_argument(
        "--sparsity", type=float, default=0.25, metavar="S", help="share of blocks to keep (default 0.25)"
    )
    parser.add_argument("--digest", action="store_true", help="print a line per head instead of the summary")
    parser.add_argument(
        "--print", type=int, default=8, metavar="N", help="blocks per digest line (default 8)"
    )
    parser.add_argument(
        "--picture", type=Path, metavar="FILE", help="draw the mask as PNG (or what FILE's name says)"
    )
    options = parser.parse_args()
    if options.tokens < 1 or options.print < 0:
        parser.error("--tokens must be at least 1 and --print must not be negative")

    arrays = [make_input(which, options.tokens) for which in (0, 1)]
    tensors = [aclnn.tensor(array) for array in arrays]
    choice = {"sparsity": options.sparsity, "block_shape": (BLOCK, BLOCK)}

    def call():
        mask = aclnn.ops.bsa_select_block_mask(*tensors, **choice)
        aclnn.synchronize()
        return mask

    mask = call().numpy()
    if options.picture:
        draw(mask, options.picture)
    if options.digest:
        print(digest(mask, options.print))
        return

    times = []
    for _ in range(5):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)

    print(aclnn.info())
    shape, took = list(arrays[0].shape), np.median(times) * 1e3
    print(f"query, key {shape} {arrays[0].dtype}, a warm call takes {took:.1f} ms\n")
    print(digest(mask, options.print))
    found = check_block_mask(mask, reference(*arrays, **choice))
    print(f"against the reference: {found}")
    if options.picture:
        print(f"picture: {options.picture}")
    if not found.passed:
        sys.exit(1)


if __name__ == "__main__":
    main()
