"""Every worker runs this: `fit` with checkpoints. Prints a digest of what was trained.

Usage: training.py FOLDER [WORD...]. The words say which processes are killed, and when: see
`tests.distributed.programs.killing`.
"""

from __future__ import annotations

import hashlib
import logging
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import operad as od
from tests.distributed.programs.killing import Kills

folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
kv = od.kv.create("dist_sync")
rank, workers = kv.rank, kv.num_workers
logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)


def network() -> od.Symbol:
    """One whose training depends on random streams and on auxiliary states."""
    net = od.sym.FullyConnected(od.sym.var("data"), num_hidden=16, name="fc1")
    net = od.sym.Dropout(od.sym.BatchNorm(net, name="bn").relu(), p=0.25)
    return od.sym.SoftmaxOutput(od.sym.FullyConnected(net, num_hidden=2, name="fc2"), name="softmax")


begun = time.monotonic()
kills = Kills(kv, sys.argv[2:], folder)
numbers = np.random.RandomState(0)
data = numbers.randn(8 * 16 * workers, 10).astype("float32")
labels = (data[:, :3].sum(1) > 0).astype("float32")
part = od.io.NDArrayIter(data[rank::workers], labels[rank::workers], 16, shuffle=True, seed=rank)
module = od.mod.Module(network())
od.random.seed(rank)


def after_batch(param: Any) -> None:
    """Kills whom the words say."""
    kills.at_batch(param.epoch * 8 + param.nbatch + 1)


module.fit(
    part,
    num_epoch=4,
    kvstore=kv,
    optimizer="sgd",
    optimizer_params={"learning_rate": 0.1, "momentum": 0.9},
    batch_end_callback=after_batch,
    checkpoint=od.callback.Checkpoint(folder / f"rank-{rank}" / "net", every_epochs=1, keep=1),
    resume=True,
)
arguments, auxiliary = module.get_params()
values = b"".join(value.asnumpy().tobytes() for _, value in sorted({**arguments, **auxiliary}.items()))
print(f"rank {rank} trained {hashlib.sha256(values).hexdigest()[:16]}", flush=True)
print(f"rank {rank} sent {kills.num_messages} messages in {time.monotonic() - begun:.1f} s", flush=True)
