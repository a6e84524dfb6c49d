"""A network that is trained here and served elsewhere, by way of an ONNX file.

`python -m examples.onnx_serve` trains on scikit-learn's digits, writes the network as a model, and computes
the held-out accuracy of that file: by onnxruntime where it is installed, and else by reading it back. It
needs operad-onnx.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import operad as mx
from examples.command import program
from examples.data import load_digits
from examples.lenet import BATCH, network


def served(path: Path, images: Any) -> Any:
    """Probabilities of the classes, as the file's reader computes them."""
    if find_spec("onnxruntime") is not None:
        import onnxruntime  # noqa: PLC0415 - only where it is installed

        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        return session.run(None, {"data": images})[0]
    model = mx.onnx.load(path)
    bound = model.symbol.bind(mx.cpu(), {**model.params, "data": mx.nd.array(images)}, grad_req="null")
    return bound.forward()[0].asnumpy()


def train(epochs: int = 10, quick: bool = False) -> float:
    """The accuracy of the written model on held-out digits after `epochs`; of one step if `quick`."""
    digits = load_digits().first(BATCH) if quick else load_digits()
    batches = mx.io.NDArrayIter(digits.train_images, digits.train_labels, BATCH, shuffle=True, seed=0)
    mx.random.seed(0)  # of the initializer
    module = mx.mod.Module(network())
    module.fit(
        batches,
        num_epoch=1 if quick else epochs,
        initializer=mx.init.Xavier(),
        optimizer="sgd",
        optimizer_params={"learning_rate": 0.1, "momentum": 0.9, "wd": 1e-4},
    )
    arguments, states = module.get_params()
    images = np.ascontiguousarray(digits.test_images, np.float32)
    with TemporaryDirectory() as folder:
        path = Path(folder, "digits.onnx")
        mx.onnx.export(network(), {**arguments, **states}, {"data": ("N", *images.shape[1:])}, path)
        found = served(path, images)
    return float((found.argmax(axis=1) == digits.test_labels).mean())


main = program(__doc__, train, 10, "held-out accuracy of the model {:.1%}")


if __name__ == "__main__":
    main()
