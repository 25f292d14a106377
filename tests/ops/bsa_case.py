"""Runs some BSASelectBlockMask cases and saves their masks: bsa_case.py OUT.npz

The emulator reads its environment once per process, so a test of that environment needs a process for each
setting. `cases()` gives the calls, for the test that compares.
"""

import sys

import ml_dtypes
import numpy as np

import aclnn_py as aclnn


def cases():
    """name -> (query, key, keyword arguments)"""
    rng = np.random.default_rng(11)

    def normal(shape, dtype=np.float16):
        return rng.standard_normal(shape, np.float32).astype(dtype)

    return {
        "small": (normal((1, 1, 256, 128)), normal((1, 1, 130, 128)), {"sparsity": 0.5}),
        "batches": (
            normal((3, 2, 700, 128), ml_dtypes.bfloat16),
            normal((3, 2, 1500, 128), ml_dtypes.bfloat16),
            {
                "sparsity": 0.3,
                "block_shape": (64, 64),
                "actual_seq_lengths": [700, 1, 320],
                "actual_seq_lengths_k": [900, 1500, 64],
            },
        ),
        "tnd": (
            normal((900, 3, 128)),
            normal((777, 3, 128)),
            {
                "sparsity": 0.6,
                "layout": "TND",
                "block_shape": (64, 128),
                "actual_seq_lengths": [0, 500, 400],
                "actual_seq_lengths_k": [77, 0, 700],
            },
        ),
        "many heads": (
            normal((2, 19, 192, 128)),
            normal((2, 19, 256, 128)),
            {"sparsity": 0.4, "block_shape": (64, 64)},
        ),
        "ties": (
            np.ones((1, 2, 64 * 70, 128), np.float16),
            np.ones((1, 2, 64 * 90, 128), np.float16),
            {"sparsity": 0.37, "block_shape": (64, 64)},
        ),
    }  # fmt: skip


if __name__ == "__main__":
    masks = {
        name: aclnn.ops.bsa_select_block_mask(query, key, **options).numpy()
        for name, (query, key, options) in cases().items()
    }
    np.savez(sys.argv[1], **masks)
