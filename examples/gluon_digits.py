"""A network of blocks: Gluon, eager while it is written, and one program when it is trained.

`hybridize()` makes a program of the network, and another of the loss. What is exported is a symbol and its
parameters, which `SymbolBlock`, `Module` and MXNet load.
`python -m examples.gluon_digits` trains a convolution network on digits and prints its accuracy.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from operad.gluon import nn

import operad as od
from examples.command import program
from examples.data import Digits, load_digits
from operad import autograd, gluon

BATCH, CLASSES = 64, 10


class Residual(gluon.HybridBlock):
    """Two convolutions, and what they are given added to what they make."""

    def __init__(self, channels: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.first = nn.Conv2D(channels, kernel_size=3, padding=1, activation="relu")
            self.second = nn.Conv2D(channels, kernel_size=3, padding=1)

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # noqa: N803 - `operad.nd` or `operad.sym`
        """The sum, rectified."""
        return F.relu(x + self.second(self.first(x)))


def new_network() -> Any:
    """Convolutions, and a layer with a score for each class; shapes follow from the first batch."""
    net = nn.HybridSequential()
    with net.name_scope():
        net.add(
            nn.Conv2D(16, kernel_size=3, padding=1, activation="relu"),
            Residual(16),
            nn.MaxPool2D(),
            nn.Dense(64, activation="relu"),
            nn.Dropout(0.2),
            nn.Dense(CLASSES),
        )
    return net


def accuracy(net: Any, digits: Digits) -> float:
    """The share of held-out images that are recognized."""
    found = net(od.nd.array(digits.test_images)).argmax(axis=1).asnumpy()
    return float((found == digits.test_labels).mean())


def train(epochs: int, quick: bool) -> tuple[float, float]:
    """Accuracy of the network, and of what was exported and loaded again."""
    od.random.seed(0)
    digits = load_digits()
    net, loss = new_network(), gluon.loss.SoftmaxCrossEntropyLoss()
    net.initialize(od.init.Xavier())
    net.hybridize()
    loss.hybridize()
    data = gluon.data.ArrayDataset(digits.train_images, digits.train_labels)
    batches = gluon.data.DataLoader(data, BATCH, shuffle=True, last_batch="discard")
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 2e-3})
    for _ in range(epochs):
        for images, labels in batches:
            with autograd.record():
                losses = loss(net(images), labels)
            losses.backward()
            trainer.step(BATCH)
            if quick:
                break
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "digits")
        net.export(path)
        loaded = gluon.SymbolBlock.imports(f"{path}-symbol.json", ["data"], f"{path}-0000.params")
    return accuracy(net, digits), accuracy(loaded, digits)


main = program(__doc__, train, epochs=5, says="held-out accuracy: {:.3f}, of what was exported: {:.3f}")

if __name__ == "__main__":
    main()
