"""Two devices, in both ways: each with half of every batch, and each with half of the network.

`python -m examples.two_contexts` takes `cpu(0)` and `cpu(1)`, which are workers of one machine, and
trains from the same weights with one context, with two, and with the network cut in two. The weights come
out alike; put `mx.gpu(0), mx.gpu(1)` for the devices to get faster by it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import operad as mx
from examples.command import read_options
from examples.data import Digits, load_digits

BATCH = 64
DEVICES = [mx.cpu(0), mx.cpu(1)]


def network() -> mx.Symbol:
    """Two halves, `front` and `back`, which `group2ctxs` may put on different devices."""
    with mx.AttrScope(ctx_group="front"):
        net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=128, name="fc1")
        net = mx.sym.relu(net)
    with mx.AttrScope(ctx_group="back"):
        net = mx.sym.FullyConnected(net, num_hidden=10, name="fc2")
        return mx.sym.SoftmaxOutput(net, name="softmax")


def trained(digits: Digits, epochs: int, **where: Any) -> mx.mod.Module:
    """A module trained on the contexts that `where` gives."""
    batches = mx.io.NDArrayIter(digits.train_images, digits.train_labels, BATCH, shuffle=True, seed=0)
    mx.random.seed(0)
    module = mx.mod.Module(network(), **where)
    module.fit(
        batches,
        num_epoch=epochs,
        kvstore="device",  # sums the gradients of several contexts
        initializer=mx.init.Xavier(),
        optimizer_params={"learning_rate": 0.2, "momentum": 0.9},
    )
    return module


def difference(module: mx.mod.Module, other: mx.mod.Module) -> float:
    """The largest difference of two modules' weights."""
    ours, theirs = module.get_params()[0], other.get_params()[0]
    return max(float(np.abs(ours[name].asnumpy() - theirs[name].asnumpy()).max()) for name in ours)


def train(epochs: int = 10, quick: bool = False) -> tuple[float, float, float]:
    """Held-out accuracy, and the differences of both ways from training in one context."""
    digits = load_digits().first(BATCH) if quick else load_digits()
    epochs = 1 if quick else epochs
    single = trained(digits, epochs, context=DEVICES[0])
    data_parallel = trained(digits, epochs, context=DEVICES)
    model_parallel = trained(
        digits, epochs, context=DEVICES[0], group2ctxs={"front": DEVICES[0], "back": DEVICES[1]}
    )
    held_out = mx.io.NDArrayIter(digits.test_images, digits.test_labels, BATCH)
    accuracy = float(dict(data_parallel.score(held_out, "acc"))["accuracy"])
    return accuracy, difference(single, data_parallel), difference(single, model_parallel)


def main() -> None:
    """Train as the command line says."""
    options = read_options(__doc__, epochs=10)
    accuracy, of_batches, of_network = train(options.epochs, options.quick)
    print(f"held-out accuracy {accuracy:.1%}; largest difference of a weight from one context's:")
    print(f"half of every batch each {of_batches:.1e}, half of the network each {of_network:.1e}")


if __name__ == "__main__":
    main()
