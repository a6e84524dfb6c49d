"""Training on scikit-learn's digits that may be killed at any moment, and ends with the same bits then.

    python -m tests.reliability.resuming FOLDER EPOCHS [KILL_AT_SYNC]

Dropout, a shuffle that NumPy's global generator draws, momentum, a schedule, BatchNorm on two contexts with a
part of each batch, prefetching. Prints a line per batch, and at the end a digest of the weights, with the
metric and the best epoch. With a number, kills itself instead of the so many-th call of `fsync`, which is in
the middle of writing a checkpoint, and 0 kills nothing; the last line then is the count of these calls.
"""

from __future__ import annotations

import os
import random
import signal
import stat
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

import operad as od
from tests.reliability.training import digest

ROWS, BATCH = 300, 32
EVERY = 3
"""Batches from one checkpoint to the next."""
syncs: list[int] = []
"""The descriptors that `fsync` was called with, where `kill_at_sync` listens."""


def network() -> od.Symbol:
    """Two layers with everything between them that has a state or draws numbers."""
    net = od.sym.FullyConnected(od.sym.var("data"), num_hidden=24, name="fc0")
    net = od.sym.BatchNorm(net, fix_gamma=False, name="norm")
    net = od.sym.Dropout(od.sym.Activation(net, act_type="relu"), p=0.3, name="dropout")
    return od.sym.SoftmaxOutput(od.sym.FullyConnected(net, num_hidden=10, name="fc1"), name="softmax")


def train(prefix: str | None, epochs: int, compression: Any = None, **given: Any) -> str:
    """Train, from the last checkpoint on if `prefix` has one, and say in one text what came of it."""
    od.random.seed(11)
    np.random.seed(12)
    random.seed(13)
    digits = load_digits()
    data, labels = digits.data[:ROWS] / 16, digits.target[:ROWS]
    batches = od.io.PrefetchingIter(od.io.NDArrayIter(data, labels, BATCH, shuffle=True))
    held_out = od.io.NDArrayIter(digits.data[ROWS:600] / 16, digits.target[ROWS:600], BATCH)
    schedule = od.lr_scheduler.FactorScheduler(step=7, factor=0.8)
    module = od.mod.Module(network(), context=[od.cpu(0), od.cpu(1)], compression_params=compression)
    best, shown = od.callback.EarlyStop(patience=epochs), od.metric.create(["acc", "ce"])
    options: dict[str, Any] = {
        "optimizer_params": {"learning_rate": 0.2, "momentum": 0.9, "lr_scheduler": schedule},
        "initializer": od.init.Xavier(),
        "eval_end_callback": best,
        "validation_metric": "acc",
    }
    if prefix is not None:
        options["checkpoint"] = od.callback.Checkpoint(prefix, every_batches=EVERY, keep=2)
        options["resume"] = True
    module.fit(batches, held_out, shown, num_epoch=epochs, **{**options, **given})
    arg_params, aux_params = module.get_params()
    found = digest({name: array.asnumpy() for name, array in (arg_params | aux_params).items()})
    return f"{found} {shown.get_global_name_value()} {best.best} {best.best_epoch}"


def kill_at_sync(number: int) -> None:
    """Let this process die at the `number`-th call of `fsync`; `syncs` counts them.

    That is of a file that is written but for its name, which is cut in half as after a loss of power, or of
    the folder that has just got the name.
    """
    sync = os.fsync

    def counting(descriptor: int) -> None:
        syncs.append(descriptor)
        if len(syncs) == number:
            kind = os.fstat(descriptor)
            if stat.S_ISREG(kind.st_mode):
                os.ftruncate(descriptor, kind.st_size // 2)
            os.kill(os.getpid(), signal.SIGKILL)
        sync(descriptor)

    os.fsync = counting


def run_program(train: Callable[..., str]) -> None:
    """Train in the folder given, from where a process before was killed."""
    folder, epochs, *at = sys.argv[1:]
    for number in at:
        kill_at_sync(int(number))

    def say(param: Any) -> None:
        print(param.epoch, param.nbatch, flush=True)

    print(train(folder, int(epochs), batch_end_callback=say))
    for _ in at:
        print(len(syncs))


def main() -> None:
    """Train on the digits."""
    run_program(lambda folder, *given, **named: train(os.path.join(folder, "net"), *given, **named))


if __name__ == "__main__":
    main()
