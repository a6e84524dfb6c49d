"""Handwritten digits, trained by several workers that share their weights.

Each worker reads its part of a record file of scikit-learn's digits. In a synchronous store the gradients
of all workers are summed in each step, so two workers with batches of 32 do what one does with batches of
64. In an asynchronous one, every worker moves the weights when it has a gradient. Start it with

    operad launch -n 2 examples/distributed.py
    operad launch -n 2 examples/distributed.py --kvstore dist_async
    mpirun -n 2 python examples/distributed.py
    python examples/distributed.py --kvstore local
"""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

import operad as od
from operad import sym

BATCH = 64
"""Of all workers together."""
LEARNING_RATE = 0.1
TARGET_ACCURACY = 0.97


def pack_digits(folder: Path) -> int:
    """Write `train.rec` and `test.rec`, of JPEGs with 8x8 pixels; every fifth image is held out.

    Returns:
        How many images there are to train on.
    """
    images, labels = load_digits(return_X_y=True)
    pixels = (images.reshape(-1, 8, 8) * 255 / 16).astype(np.uint8)
    order = np.random.default_rng(0).permutation(len(images))
    is_held_out = np.arange(len(images)) % 5 == 0
    for name, chosen in (("train", order[~is_held_out]), ("test", order[is_held_out])):
        with od.recordio.MXRecordIO(folder / f"{name}.rec", "w") as out:
            for number in chosen:
                header = od.recordio.IRHeader(0, labels[number], number, 0)
                out.write(od.recordio.pack_img(header, pixels[number], quality=100))
    return int(np.count_nonzero(~is_held_out))


def lenet() -> od.Symbol:
    """LeNet's shape at the size of these images."""
    net = sym.var("data")
    for number, filters in ((1, 16), (2, 32)):
        net = sym.Convolution(net, kernel=(3, 3), pad=(1, 1), num_filter=filters, name=f"conv{number}")
        net = sym.Activation(net, act_type="relu", name=f"relu{number}")
        net = sym.Pooling(net, kernel=(2, 2), stride=(2, 2), pool_type="max", name=f"pool{number}")
    net = sym.FullyConnected(sym.Flatten(net, name="flatten"), num_hidden=64, name="fc1")
    net = sym.Activation(net, act_type="tanh", name="tanh1")
    return sym.SoftmaxOutput(sym.FullyConnected(net, num_hidden=10, name="fc2"), name="softmax")


def train(store: Any, folder: Path, epochs: int, seed: int, quick: bool) -> float:
    """The accuracy on held-out digits, after training on this worker's part of the record file.

    Args:
        store: Of any type.
        folder: For record files. Each worker writes its own; large ones would lie where all workers see them.
        epochs: How often each image is seen.
        seed: Of the first weights and of the order of the images.
        quick: Take one step only.
    """
    num_images = pack_digits(folder)
    pixels = {"data_shape": (1, 8, 8), "scale": 1 / 255, "preprocess_threads": 1}
    part = od.io.ImageRecordIter(
        path_imgrec=folder / "train.rec", batch_size=BATCH // store.num_workers, shuffle=True, seed=seed,
        num_parts=store.num_workers, part_index=store.rank, **pixels,
    )  # fmt: skip
    # Parts differ by some images, but a synchronous step waits for everybody: all take as many steps.
    batches = od.io.ResizeIter(part, 1 if quick else num_images // BATCH)
    # Workers that do not wait for each other take more steps together, of smaller batches.
    rate = LEARNING_RATE / store.num_workers if "async" in store.type else LEARNING_RATE
    module = od.mod.Module(lenet(), context=od.cpu())
    od.random.seed(seed)
    module.fit(
        batches,
        num_epoch=1 if quick else epochs,
        kvstore=store,
        initializer=od.init.Xavier(magnitude=2.0),
        optimizer="sgd",
        optimizer_params={"learning_rate": rate, "momentum": 0.9},
        batch_end_callback=od.callback.ProgressBar(1 if quick else num_images // BATCH),
    )
    held_out = od.io.ImageRecordIter(
        path_imgrec=folder / "test.rec", batch_size=60, round_batch=False, **pixels
    )
    return float(dict(module.score(held_out, "acc"))["accuracy"])


def main() -> int:
    """Train this worker's part; 0 if the held-out accuracy is reached."""
    parser = argparse.ArgumentParser(description="train digits with several workers")
    parser.add_argument("--kvstore", default="dist_sync", help="type of the store (%(default)s)")
    parser.add_argument("--epochs", type=int, default=12, help="how often each image is seen (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of weights and order (%(default)s)")
    parser.add_argument("--quick", action="store_true", help="one step only, whatever the accuracy")
    options = parser.parse_args()

    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
    store = od.kv.create(options.kvstore)
    with TemporaryDirectory() as folder:
        accuracy = train(store, Path(folder), options.epochs, options.seed, options.quick)
    sys.stdout.write(f"rank {store.rank} of {store.num_workers}: held-out accuracy {accuracy:.2%}\n")
    return 0 if options.quick or accuracy >= TARGET_ACCURACY else 1


if __name__ == "__main__":
    sys.exit(main())
