"""A network that is written as array calls, and runs as one program: `operad.compile`.

The loss is a function of arrays, as for `autograd.record()`. Compiled, it is planned and fused like a symbol,
and its gradients are one call. The update is another function, whose learning rate changes at each step.
`python -m examples.compiled` trains a classifier of digits eagerly and compiled, and prints both times.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import operad as od
from examples.command import read_options
from examples.data import load_digits
from operad import autograd, nd

BATCH, HIDDEN, CLASSES = 64, 128, 10
Function = Callable[..., Any]


def new_parameters() -> list[od.NDArray]:
    """Weights and biases of three layers."""
    od.random.seed(0)
    sizes = (64, HIDDEN, HIDDEN, CLASSES)
    parameters = []
    for inputs, outputs in pairwise(sizes):
        parameters += [nd.random.normal(0, inputs**-0.5, shape=(outputs, inputs)), nd.zeros(outputs)]
    for parameter in parameters:
        parameter.attach_grad()
    return parameters


def scores(images: od.NDArray, parameters: list[od.NDArray]) -> od.NDArray:
    """The network: a score for each class."""
    net = images
    for number in range(0, len(parameters), 2):
        weight, bias = parameters[number : number + 2]
        net = nd.FullyConnected(net, weight, bias, num_hidden=weight.shape[0])
        if number + 2 < len(parameters):
            net = nd.Dropout(nd.tanh(net), p=0.1)
    return net


def loss(images: od.NDArray, labels: od.NDArray, parameters: list[od.NDArray]) -> od.NDArray:
    """The mean cross entropy of a batch."""
    return -nd.pick(nd.log_softmax(scores(images, parameters)), labels).mean()


def moved(
    parameters: list[od.NDArray], gradients: list[od.NDArray], momenta: list[od.NDArray], rate: float
) -> list[list[od.NDArray]]:
    """New parameters and momenta, after a step of descent."""
    new = [0.9 * momentum - rate * gradient for gradient, momentum in zip(gradients, momenta, strict=True)]
    return [[x + momentum for x, momentum in zip(parameters, new, strict=True)], new]


def train(epochs: int, quick: bool, transform: Callable[[Function], Function]) -> tuple[float, float]:
    """Accuracy on held-out images, and seconds.

    Args:
        transform: Makes functions what they are to be: `operad.compile`, or nothing.
    """
    digits = load_digits()
    parameters = new_parameters()
    momenta = [nd.zeros(x.shape) for x in parameters]
    batch_loss, update, predict = map(transform, (loss, moved, scores))
    begun_s, steps = time.perf_counter(), 1 if quick else epochs * (len(digits.train_images) // BATCH)
    images = nd.array(digits.train_images.reshape(-1, 64))
    labels = nd.array(digits.train_labels)
    for step in range(steps):
        first = step * BATCH % (len(images) - BATCH)
        with autograd.record():
            value = batch_loss(images[first : first + BATCH], labels[first : first + BATCH], parameters)
        value.backward()
        gradients = [x.grad for x in parameters]
        found = update(parameters, gradients, momenta, 0.1 / (1 + step / 200))
        for old, new in zip((parameters, momenta), found, strict=True):
            for target, source in zip(old, new, strict=True):
                source.copyto(target)
    guesses = predict(nd.array(digits.test_images.reshape(-1, 64)), parameters).asnumpy().argmax(axis=1)
    return float((guesses == digits.test_labels).mean()), time.perf_counter() - begun_s


def main() -> None:
    """Train as the command line says."""
    options = read_options(__doc__, epochs=20)
    for title, transform in (("eager", lambda function: function), ("compiled", od.compile)):
        accuracy, seconds = train(options.epochs, options.quick, transform)
        print(f"{title}: held-out accuracy {accuracy:.3f}, {seconds:.2f} s")


if __name__ == "__main__":
    main()
