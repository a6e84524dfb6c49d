"""An operator of one's own inside a program: a softmax with its loss, as an MXNet `CustomOp`.

`python -m examples.custom_softmax` trains a network that ends in it, and one that ends in the built-in
`SoftmaxOutput`, from the same weights: the accuracies are the same, since the operators are.
To make an operator for others, see docs/authoring/porting-custom-op.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import operad as mx
from examples.command import program
from examples.data import Digits, load_digits

BATCH = 64


class Softmax(mx.operator.CustomOp):
    """Forward and backward, on arrays that may be on any device."""

    def forward(self, is_train: bool, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
        """`exp(x) / sum(exp(x))` of each row; the largest is taken off, so that `exp` cannot overflow."""
        scores = in_data[0].asnumpy()
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        self.assign(out_data[0], req[0], mx.nd.array(powers / powers.sum(axis=1, keepdims=True)))

    def backward(self, req: Any, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any) -> None:
        """Of the cross-entropy: the probabilities, less 1 at the label."""
        probabilities, labels = out_data[0].asnumpy(), in_data[1].asnumpy().astype(int)
        probabilities[np.arange(len(labels)), labels] -= 1
        self.assign(in_grad[0], req[0], mx.nd.array(probabilities))
        self.assign(in_grad[1], req[1], 0)


@mx.operator.register("example_softmax")
class SoftmaxProp(mx.operator.CustomOpProp):
    """Names and shapes; `need_top_grad=False` makes it a loss, to which no gradient comes from above."""

    def __init__(self) -> None:
        super().__init__(need_top_grad=False)

    def list_arguments(self) -> list[str]:
        """Of which `label` becomes the variable `softmax_label`."""
        return ["data", "label"]

    def infer_shape(self, in_shape: Any) -> Any:
        """The output has the shape of the data, the label one number per row."""
        return [in_shape[0], in_shape[0][:1]], [in_shape[0]], []

    def create_operator(self, ctx: Any, shapes: Any, dtypes: Any) -> Softmax:
        """One for each place in a bound graph."""
        return Softmax()


def hidden_layers() -> mx.Symbol:
    """Scores of ten classes."""
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=64, name="fc1")
    return mx.sym.FullyConnected(mx.sym.relu(net), num_hidden=10, name="fc2")


def accuracy_of(net: mx.Symbol, digits: Digits, epochs: int) -> float:
    """Train a network; the accuracy on held-out digits."""
    batches = mx.io.NDArrayIter(digits.train_images, digits.train_labels, BATCH, shuffle=True, seed=0)
    mx.random.seed(0)
    module = mx.mod.Module(net)
    module.fit(
        batches,
        num_epoch=epochs,
        initializer=mx.init.Xavier(),
        optimizer_params={"learning_rate": 0.2, "momentum": 0.9},
    )
    held_out = mx.io.NDArrayIter(digits.test_images, digits.test_labels, BATCH)
    return float(dict(module.score(held_out, "acc"))["accuracy"])


def train(epochs: int = 15, quick: bool = False) -> tuple[float, float]:
    """Held-out accuracies with the operator made here, and with the built-in one."""
    digits = load_digits().first(BATCH) if quick else load_digits()
    ours = mx.sym.Custom(hidden_layers(), name="softmax", op_type="example_softmax")
    built_in = mx.sym.SoftmaxOutput(hidden_layers(), name="softmax")
    epochs = 1 if quick else epochs
    return accuracy_of(ours, digits, epochs), accuracy_of(built_in, digits, epochs)


main = program(__doc__, train, 15, "held-out accuracy {:.1%}, with the built-in operator {:.1%}")


if __name__ == "__main__":
    main()
