"""Handwritten digits, trained by several workers that share their weights.

Each worker has its part of scikit-learn's digits. In a synchronous store the gradients of all workers are
summed in each step, so two workers with batches of 32 do what one does with batches of 64. In an asynchronous
one, every worker moves the weights when it has a gradient. Start it with

    operad launch -n 2 examples/distributed.py
    operad launch -n 2 examples/distributed.py --kvstore dist_async
    mpirun -n 2 python examples/distributed.py
    python examples/distributed.py --kvstore local
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

import operad as od
from operad import sym

BATCH = 64
"""Of all workers together."""
TARGET_ACCURACY = 0.96


def digits() -> tuple[Any, Any, Any, Any]:
    """Images of shape (N, 1, 8, 8) in [0, 1] and labels of shape (N,), for training and held out."""
    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(images))
    images = (images[order] / 16.0).reshape(-1, 1, 8, 8).astype(np.float32)
    labels = labels[order].astype(np.float32)
    held_out = np.arange(len(images)) % 5 == 0
    return images[~held_out], labels[~held_out], images[held_out], labels[held_out]


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


def main() -> int:
    """Train this worker's part; 0 if the held-out accuracy is reached."""
    parser = argparse.ArgumentParser(description="train digits with several workers")
    parser.add_argument("--kvstore", default="dist_sync", help="type of the store")
    parser.add_argument("--epochs", type=int, default=12, help="how often each image is seen")
    parser.add_argument("--steps", type=int, default=0, help="stop early, whatever the accuracy")
    options = parser.parse_args()

    store = od.kv.create(options.kvstore)
    images, labels, test_images, test_labels = digits()
    # All workers take as many steps: a synchronous step waits for everybody.
    share = len(images) // store.num_workers
    if options.steps:
        share = min(share, options.steps * BATCH // store.num_workers)
        options.epochs = 1
    own = slice(store.rank * share, (store.rank + 1) * share)
    batches = od.io.NDArrayIter(
        images[own], labels[own], BATCH // store.num_workers, shuffle=True, last_batch_handle="discard"
    )
    module = od.mod.Module(lenet(), context=od.cpu())
    od.random.seed(0)
    module.fit(
        batches,
        num_epoch=options.epochs,
        kvstore=store,
        initializer=od.init.Xavier(magnitude=2.0),
        optimizer="sgd",
        optimizer_params={"learning_rate": 0.1, "momentum": 0.9 if "async" not in store.type else 0.5},
    )
    test = od.io.NDArrayIter(test_images, test_labels, 60)
    ((_, accuracy),) = module.score(test, od.metric.Accuracy())
    sys.stdout.write(f"rank {store.rank} of {store.num_workers}: held-out accuracy {accuracy:.2%}\n")
    return 0 if options.steps or accuracy >= TARGET_ACCURACY else 1


if __name__ == "__main__":
    sys.exit(main())
