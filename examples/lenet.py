"""LeNet with `Module`: a symbol, an iterator, `fit`, `score`, and a checkpoint.

`python -m examples.lenet` trains on scikit-learn's digits, of which a fifth is held out.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import operad as mx
from examples.command import program
from examples.data import load_digits

BATCH = 64


def network() -> mx.Symbol:
    """Two convolutions with pooling, two fully connected layers; images of 8x8 pixels."""
    net = mx.sym.Variable("data")
    for number, filters in ((1, 16), (2, 32)):
        net = mx.sym.Convolution(net, kernel=(3, 3), pad=(1, 1), num_filter=filters, name=f"conv{number}")
        net = mx.sym.Activation(net, act_type="tanh", name=f"tanh{number}")
        net = mx.sym.Pooling(net, kernel=(2, 2), stride=(2, 2), pool_type="max", name=f"pool{number}")
    net = mx.sym.FullyConnected(mx.sym.Flatten(net), num_hidden=64, name="fc1")
    net = mx.sym.Activation(net, act_type="tanh", name="tanh3")
    net = mx.sym.FullyConnected(net, num_hidden=10, name="fc2")
    return mx.sym.SoftmaxOutput(net, name="softmax")


def train(epochs: int = 15, quick: bool = False) -> float:
    """The accuracy on held-out digits after `epochs`; of one step if `quick`."""
    digits = load_digits().first(BATCH) if quick else load_digits()
    batches = mx.io.NDArrayIter(digits.train_images, digits.train_labels, BATCH, shuffle=True, seed=0)
    held_out = mx.io.NDArrayIter(digits.test_images, digits.test_labels, BATCH)

    mx.random.seed(0)  # of the initializer
    module = mx.mod.Module(network())
    module.fit(
        batches,
        eval_data=held_out,
        num_epoch=1 if quick else epochs,
        initializer=mx.init.Xavier(),
        optimizer="sgd",
        optimizer_params={"learning_rate": 0.1, "momentum": 0.9, "wd": 1e-4},
        batch_end_callback=mx.callback.Speedometer(BATCH, frequent=10),
    )

    with TemporaryDirectory() as folder:  # what was saved predicts what was trained
        prefix = str(Path(folder, "lenet"))
        module.save_checkpoint(prefix, epoch=epochs)
        loaded = mx.mod.Module.load(prefix, epochs)
        loaded.bind(held_out.provide_data, held_out.provide_label, for_training=False)
        return float(dict(loaded.score(held_out, "acc"))["accuracy"])


main = program(__doc__, train, 15, "held-out accuracy {:.1%}")


if __name__ == "__main__":
    main()
