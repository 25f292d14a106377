"""Trains two manifold-constrained hyper-connection layers on a toy problem: 20 steps in which the loss falls.

    python mhc_layer.py                 prints the loss of each step; exit code 1 if it does not fall
    python mhc_layer.py --steps 5       fewer steps
    python mhc_layer.py --plot FILE     also draws how Sinkhorn converged, as PNG (needs matplotlib)

Each token has n = 4 residual streams. A layer makes its input from them (aclnnMhcPreSinkhorn), works on it
(here: a matrix and tanh, in NumPy) and puts the result back into the streams (aclnnMhcPost); the way back
goes through aclnnMhcPostBackward, NumPy, and aclnnMhcPreSinkhornBackward. What is to be learnt is a fixed
rotation of the token's features. It needs an Atlas A2 or A3: Ascend 950 takes no layer as narrow as this one.
"""

import argparse
import sys

import ml_dtypes
import numpy as np

import aclnn_py as aclnn

BF16, N = ml_dtypes.bfloat16, 4
MIX = N * N + 2 * N


class TanhLayer:
    """h_out = tanh(hin W), the part that a model brings along. Any NumPy function would do."""

    def __init__(self, rng, width):
        self.parameters = {
            "weight": (rng.standard_normal((width, width)) / np.sqrt(width)).astype(np.float32)
        }

    def forward(self, hin):
        self._hin = hin.astype(np.float32)
        self._out = np.tanh(self._hin @ self.parameters["weight"])
        return self._out

    def backward(self, grad_out):
        """(gradient of hin, gradients of the parameters)"""
        grad = grad_out * (1 - self._out**2)
        flat_in, flat_grad = (a.reshape(-1, a.shape[-1]) for a in (self._hin, grad))
        return grad @ self.parameters["weight"].T, {"weight": flat_in.T @ flat_grad}


class MhcLayer:
    """x [b, s, n, c] -> x [b, s, n, c] around any layer with forward and backward as TanhLayer has them."""

    def __init__(self, rng, width, layer):
        bound = 1 / np.sqrt(N * width)
        self.layer = layer
        bias = np.zeros(MIX, np.float32)
        bias[2 * N :] = 2 * np.eye(N).ravel()  # at first each stream mostly goes on as it is
        self.parameters = {
            "phi": rng.uniform(-bound, bound, (MIX, N * width)).astype(np.float32),
            "alpha": np.full(3, 0.1, np.float32),
            "bias": bias,
            **{f"layer.{name}": value for name, value in layer.parameters.items()},
        }

    def forward(self, x):
        own = [self.parameters[name] for name in ("phi", "alpha", "bias")]
        self.layer.parameters = {name: self.parameters[f"layer.{name}"] for name in self.layer.parameters}
        self._x = aclnn.tensor(x)
        self.pre = aclnn.ops.mhc_pre_sinkhorn(self._x, *own, need_backward=True)
        self._h_out = aclnn.tensor(self.layer.forward(self.pre.hin.numpy()).astype(x.dtype))
        return aclnn.ops.mhc_post(self._x, self.pre.h_res, self._h_out, self.pre.h_post).numpy()

    def backward(self, grad_out):
        """(gradient of x, gradients of the parameters)"""
        post = aclnn.ops.mhc_post_backward(grad_out, self._x, self.pre.h_res, self._h_out, self.pre.h_post)
        grad_hin, inner = self.layer.backward(post.grad_h_out.numpy().astype(np.float32))
        pre = self.pre.backward(grad_hin.astype(grad_out.dtype), post.grad_h_post, post.grad_h_res)
        # x goes into both operators, so its two gradients add up.
        grad_x = post.grad_x.numpy().astype(np.float32) + pre.grad_x.numpy().astype(np.float32)
        gradients = {
            "phi": pre.grad_phi.numpy(),
            "alpha": pre.grad_alpha.numpy(),
            "bias": pre.grad_bias.numpy(),
            **{f"layer.{name}": value for name, value in inner.items()},
        }
        return grad_x.astype(grad_out.dtype), gradients


class Adam:
    def __init__(self, rate):
        self.rate, self.step, self._moments = rate, 0, {}

    def update(self, key, value, gradient):
        first, second = self._moments.get(key, (0.0, 0.0))
        first, second = 0.9 * first + 0.1 * gradient, 0.99 * second + 0.01 * gradient**2
        self._moments[key] = first, second
        mean, spread = first / (1 - 0.9**self.step), second / (1 - 0.99**self.step)
        value -= (self.rate * mean / (np.sqrt(spread) + 1e-12)).astype(value.dtype)


def loss_and_gradient(streams, target):
    """Mean squared error of the streams' mean, and its gradient in the streams."""
    error = streams.astype(np.float32).mean(axis=-2) - target
    grad = np.broadcast_to(2 * error[..., None, :] / (error.size * N), streams.shape)
    return float(np.mean(error**2)), grad.astype(streams.dtype)


def train(steps, tokens=64, width=128, seed=0, report=None):
    """(loss of each step, the layers)"""
    rng = np.random.default_rng(seed)
    layers = [MhcLayer(rng, width, TanhLayer(rng, width)) for _ in range(2)]
    features = rng.standard_normal((1, tokens, width)).astype(np.float32)
    rotation = np.linalg.qr(rng.standard_normal((width, width)))[0].astype(np.float32)
    target = features @ rotation
    x = np.repeat(features[..., None, :], N, axis=-2).astype(BF16)  # all streams start alike
    optimizer, losses = Adam(0.02), []
    for _ in range(steps):
        streams = x
        for layer in layers:
            streams = layer.forward(streams)
        loss, grad = loss_and_gradient(streams, target)
        losses.append(loss)
        if report:
            report(len(losses), loss)
        optimizer.step += 1
        for index, layer in reversed(list(enumerate(layers))):
            grad, gradients = layer.backward(grad)
            for name, gradient in gradients.items():
                optimizer.update((index, name), layer.parameters[name], gradient)
    return losses, layers


def plot_convergence(pre, path):
    """Row and column sums of the Sinkhorn matrices after each iteration, and how far they are from 1."""
    try:
        import matplotlib
    except ImportError:
        sys.exit("--plot needs matplotlib: pip install 'aclnn-py[plot]'")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    norm, divided_by = pre.norm_out.numpy(), pre.sum_out.numpy()
    iterations = np.arange(1, len(norm) // 2 + 1)
    after = norm[1::2].reshape(len(iterations), -1, N, N)  # after the column step of each iteration
    sums = {"row sums": after.sum(-1), "column sums": after.sum(-2)}
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for (name, values), color in zip(sums.items(), ("tab:blue", "tab:orange"), strict=True):
        flat = values.reshape(len(iterations), -1)
        left.fill_between(iterations, flat.min(1), flat.max(1), color=color, alpha=0.3)
        left.plot(iterations, np.median(flat, 1), color=color, label=name)
        right.semilogy(iterations, np.abs(flat - 1).max(1), color=color, marker=".", label=name)
    # Row sums in front of a row step, less the eps that is in them: what that step still had to correct.
    rows = divided_by[2::2].reshape(len(iterations) - 1, -1) - 1e-6
    right.semilogy(iterations[1:], np.abs(rows - 1).max(1), "k:", label="row step divides by")
    left.set(title="smallest, median, largest sum", xlabel="iteration")
    right.set(title="largest distance from 1", xlabel="iteration")
    for axes in (left, right):
        axes.set_xticks(iterations[::3])
        axes.grid(alpha=0.3)
        axes.legend()
    try:
        figure.savefig(path, dpi=120)
    except (OSError, ValueError) as error:  # no such folder; no such format
        sys.exit(f"cannot write {path}: {error}")
    pyplot.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=20, help="training steps, at least 2 (default 20)")
    parser.add_argument("--plot", metavar="FILE", help="write the Sinkhorn convergence as PNG")
    options = parser.parse_args()
    if options.steps < 2:
        parser.error("--steps must be at least 2")
    losses, layers = train(options.steps, report=lambda step, loss: print(f"step {step:3} loss {loss:.5f}"))
    if options.plot:
        plot_convergence(layers[0].pre, options.plot)
        print(f"wrote {options.plot}")
    if not losses[-1] < losses[0]:
        sys.exit(f"the loss did not fall: {losses[0]:.5f} to {losses[-1]:.5f}")


if __name__ == "__main__":
    main()
