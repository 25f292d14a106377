"""Every function of aclnn.ops puts its work on the stream that it is given."""

import inspect

import ml_dtypes
import numpy as np
import pytest

import aclnn_py as aclnn

TOKENS, N, D, MIX = (1, 2), 4, 128, 24
FUNCTIONS = {name for name, value in inspect.getmembers(aclnn.ops, inspect.isfunction)}


def half(*shape):
    return np.ones((*TOKENS, *shape), np.float16)


def wide(*shape):
    return np.ones((*TOKENS, *shape), np.float32)


def weights(c):
    return np.ones((MIX, N * c), np.float32), np.ones(3, np.float32), np.ones(MIX, np.float32)


def arguments(name):
    """Of a call that is right but for its stream."""
    x, post = half(N, D), (half(N, D), wide(N, N), half(D), wide(N))
    hc_x = np.ones((*TOKENS, N, 4096), ml_dtypes.bfloat16)
    slots = [np.ones((40, *TOKENS, N), np.float32), np.ones((40, *TOKENS, N, N), np.float32)]
    positional = {
        "bsa_select_block_mask": [np.ones((1, 1, 256, 128), np.float16)] * 2,
        "hc_post": [half(D), x, wide(N), wide(N, N)],
        "hc_pre": [hc_x, *weights(4096)],
        "hc_pre_inv_rms": [x],
        "hc_pre_sinkhorn": [wide(MIX), wide(1), *weights(1)[1:], hc_x],
        "hc_pre_v2": [hc_x, *weights(4096)],
        "mhc_post": post,
        "mhc_post_backward": [x, *post],
        "mhc_pre": [x, *weights(D)],
        "mhc_pre_sinkhorn": [x, *weights(D)],
        "mhc_pre_sinkhorn_backward": [
            *(half(D), wide(N), wide(N * N), x, *weights(D), wide(N), wide(MIX), wide(1)),
            *slots,
        ],
        "mhc_pre_v2": [x, *weights(D)],
        "mhc_sinkhorn": [wide(N, N)],
    }
    return positional[name], {"sparsity": 0.5} if name == "bsa_select_block_mask" else {}


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_the_stream_is_used(emulator_root, name):
    stream = aclnn.Stream()
    stream.close()
    positional, keywords = arguments(name)
    with pytest.raises(ValueError, match="this stream was closed"):
        getattr(aclnn.ops, name)(*positional, **keywords, stream=stream)


def test_backward_goes_where_the_forward_call_went_unless_told_otherwise(emulator_root):
    positional, _ = arguments("mhc_pre_sinkhorn")
    gradients = half(D), wide(N), wide(N * N)
    with aclnn.Stream() as stream:
        made = aclnn.ops.mhc_pre_sinkhorn(*positional, need_backward=True, stream=stream)
    with pytest.raises(ValueError, match="this stream was closed"):
        made.backward(*gradients)
    with aclnn.Stream() as other:
        assert np.isfinite(made.backward(*gradients, stream=other).grad_bias.numpy()).all()
