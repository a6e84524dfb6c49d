"""Fine-tuning: layers that were trained on one task begin another, for which there is little data.

A network learns the digits 0 to 4 and is saved. Loaded again, it gets a new last layer for the digits 5
to 9, and is trained on a few of those, all but its convolutions. `python -m examples.fine_tuning` prints
the accuracy on the others. (On images of 8x8 pixels a network without the first task does as well; what
pays on photographs is shown here in a minute.)
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import operad as mx
from examples.command import program
from examples.data import Digits, load_digits

BATCH, FEW = 25, 50


def convolutions() -> mx.Symbol:
    """The layers that are handed on."""
    net = mx.sym.Variable("data")
    for number, filters in ((1, 16), (2, 32)):
        net = mx.sym.Convolution(net, kernel=(3, 3), pad=(1, 1), num_filter=filters, name=f"conv{number}")
        net = mx.sym.Activation(net, act_type="relu", name=f"relu{number}")
        net = mx.sym.Pooling(net, kernel=(2, 2), stride=(2, 2), pool_type="max", name=f"pool{number}")
    net = mx.sym.FullyConnected(mx.sym.Flatten(net), num_hidden=32, name="features")
    return mx.sym.Activation(net, act_type="tanh", name="bottleneck")


def classifier(net: mx.Symbol, name: str) -> mx.Symbol:
    """A last layer for five classes."""
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(net, num_hidden=5, name=name), name="softmax")


def fit(module: mx.mod.Module, digits: Digits, epochs: int, **start: Any) -> None:
    """Train a module; `start` has the values that parameters begin with, where there are such."""
    mx.random.seed(0)
    module.fit(
        mx.io.NDArrayIter(digits.train_images, digits.train_labels, BATCH, shuffle=True, seed=0),
        num_epoch=epochs,
        initializer=mx.init.Xavier(),
        optimizer="adam",
        optimizer_params={"learning_rate": 0.005},
        **start,
    )


def fine_tuned(prefix: str, epoch: int, digits: Digits, epochs: int) -> mx.mod.Module:
    """A checkpoint's layers under a new last one; the convolutions are not trained."""
    symbol, arg_params, aux_params = mx.model.load_checkpoint(prefix, epoch)
    kept = symbol.get_internals()["bottleneck_output"]
    fixed = [name for name in kept.list_arguments() if name.startswith("conv")]
    module = mx.mod.Module(classifier(kept, "fives"), fixed_param_names=fixed)
    old = {name: array for name, array in arg_params.items() if name in kept.list_arguments()}
    fit(module, digits, epochs, arg_params=old, aux_params=aux_params, allow_missing=True)
    return module


def train(epochs: int = 20, quick: bool = False) -> float:
    """The accuracy on held-out digits 5 to 9, of which `FEW` were seen."""
    digits = load_digits()
    low, high = digits.of_classes(0, 4), digits.of_classes(5, 9)
    few = high._replace(train_images=high.train_images[:FEW], train_labels=high.train_labels[:FEW])
    if quick:
        low, few, epochs = low.first(BATCH), few.first(BATCH), 1

    with TemporaryDirectory() as folder:
        prefix = str(Path(folder, "low"))
        first = mx.mod.Module(classifier(convolutions(), "zeros"))
        fit(first, low, epochs)
        first.save_checkpoint(prefix, epochs)
        module = fine_tuned(prefix, epochs, few, 2 * epochs)
    held_out = mx.io.NDArrayIter(few.test_images, few.test_labels, BATCH)
    return float(dict(module.score(held_out, "acc"))["accuracy"])


main = program(__doc__, train, 20, f"held-out accuracy on 5 to 9: {{:.1%}} after {FEW} images")


if __name__ == "__main__":
    main()
