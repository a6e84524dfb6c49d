"""A small training program whose weights after some steps are a function of the program alone."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import numpy as np

import operad as od

BATCH = 8
PIXELS = 12
CLASSES = 4


def network() -> od.Symbol:
    """A convolutional network with dropout, small enough for thousands of steps."""
    net = od.sym.var("data")
    net = od.sym.Convolution(net, kernel=(3, 3), num_filter=4, name="conv")
    net = od.sym.Pooling(
        od.sym.Activation(net, act_type="relu"), kernel=(2, 2), stride=(2, 2), pool_type="max"
    )
    net = od.sym.Dropout(od.sym.Flatten(net), p=0.25, name="dropout")
    net = od.sym.FullyConnected(net, num_hidden=8, name="fc0")
    net = od.sym.FullyConnected(od.sym.tanh(net), num_hidden=CLASSES, name="fc1")
    return od.sym.SoftmaxOutput(net, name="softmax", normalization="batch")


class Training:
    """The network bound to arrays with fixed first weights, and its steps: forward, backward, update."""

    def __init__(self, batch: int = BATCH, seed: int = 0) -> None:
        rng = np.random.RandomState(seed)
        self.executor = network().simple_bind(od.cpu(), data=(batch, 1, PIXELS, PIXELS))
        arrays = self.executor.arg_dict
        self.weights = {name: arrays[name] for name in arrays if name not in ("data", "softmax_label")}
        for weight in self.weights.values():
            weight[:] = rng.standard_normal(weight.shape) * 0.2
        self.momenta = {name: od.nd.zeros(weight.shape) for name, weight in self.weights.items()}
        self._rng = rng

    def feed(self) -> None:
        """Give the executor the next batch."""
        arrays = self.executor.arg_dict
        arrays["data"][:] = self._rng.random_sample(arrays["data"].shape)
        arrays["softmax_label"][:] = self._rng.randint(0, CLASSES, arrays["softmax_label"].shape)

    def step(self) -> None:
        """One training step, pushed and not waited for."""
        self.executor.forward(is_train=True)
        self.executor.backward()
        for name, weight in self.weights.items():
            gradient = self.executor.grad_dict[name]
            od.nd.sgd_mom_update(weight, gradient, self.momenta[name], lr=0.05, momentum=0.9, out=weight)

    def state(self) -> dict[str, np.ndarray]:
        """Weights and momenta, after waiting for them."""
        found = {name: weight.asnumpy() for name, weight in self.weights.items()}
        return {**found, **{f"{name}_momentum": value.asnumpy() for name, value in self.momenta.items()}}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Put weights and momenta back."""
        for name, weight in self.weights.items():
            weight[:] = state[name]
            self.momenta[name][:] = state[f"{name}_momentum"]


def digest(state: Mapping[str, np.ndarray]) -> str:
    """One text for all bits of a state."""
    total = hashlib.sha256()
    for name in sorted(state):
        total.update(name.encode())
        total.update(state[name].tobytes())
    return total.hexdigest()


def main() -> None:
    """Print the digest of 30 steps; `test_determinism` runs this under many settings."""
    od.random.seed(7)
    training = Training()
    for _ in range(30):
        training.feed()
        training.step()
    print(digest(training.state()))


if __name__ == "__main__":
    main()
