"""Every worker runs this: `fit` with checkpoints. Prints a digest of what was trained.

Usage: training.py FOLDER [RANK:BATCH...]. A worker kills itself once after so many batches of all epochs, and
the server instead where RANK is `server`.
"""

from __future__ import annotations

import hashlib
import logging
import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np

import operad as od

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


def kill_as_told(param: Any) -> None:
    """Kill a process, unless that was done."""
    done = param.epoch * 8 + param.nbatch + 1
    for word in sys.argv[2:]:
        whom, _, batch = word.partition(":")
        mark = folder / word.replace(":", "-")
        is_here = rank == (0 if whom == "server" else int(whom))
        if is_here and done == int(batch) and not mark.exists():
            mark.touch()
            os.kill(os.getpid() if whom != "server" else server_process(), signal.SIGKILL)


def server_process() -> int:
    import ray

    return int(ray.get(kv._transport._links[0].server.process_id.remote()))


numbers = np.random.RandomState(0)
data = numbers.randn(8 * 16 * workers, 10).astype("float32")
labels = (data[:, :3].sum(1) > 0).astype("float32")
part = od.io.NDArrayIter(data[rank::workers], labels[rank::workers], 16, shuffle=True, seed=rank)
module = od.mod.Module(network())
od.random.seed(rank)
module.fit(
    part,
    num_epoch=4,
    kvstore=kv,
    optimizer="sgd",
    optimizer_params={"learning_rate": 0.1, "momentum": 0.9},
    batch_end_callback=kill_as_told,
    checkpoint=od.callback.Checkpoint(folder / f"rank-{rank}" / "net", every_epochs=1, keep=1),
    resume=True,
)
arguments, auxiliary = module.get_params()
values = b"".join(value.asnumpy().tobytes() for _, value in sorted({**arguments, **auxiliary}.items()))
print(f"rank {rank} trained {hashlib.sha256(values).hexdigest()[:16]}", flush=True)
