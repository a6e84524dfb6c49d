"""Time `pushpull` of distributed stores beside the local one, as one program of every worker.

    operad launch -n 2 --object-store-mb 2000 tests/benchmarks/distributed.py
    mpirun -n 2 python tests/benchmarks/distributed.py
    python tests/benchmarks/distributed.py --kvstore local

Each case prints the median and the least of its rounds, in milliseconds, as rank 0 sees them.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

import operad as od

ROUNDS = 9


def resnet_50() -> list[tuple[int, ...]]:
    """The shapes of the 161 trained arrays of a ResNet-50 of 1000 classes: 25.6 million elements."""
    shapes: list[tuple[int, ...]] = [(64, 3, 7, 7), (64,), (64,)]
    channels = 64
    for width, blocks in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for block in range(blocks):
            for kernel, inputs, outputs in ((1, channels, width), (3, width, width), (1, width, 4 * width)):
                shapes += [(outputs, inputs, kernel, kernel), (outputs,), (outputs,)]
            if block == 0:
                shapes += [(4 * width, channels, 1, 1), (4 * width,), (4 * width,)]
            channels = 4 * width
    return [*shapes, (1000, 2048), (1000,)]


def time_case(store: Any, name: str, shapes: Sequence[tuple[int, ...]], one_by_one: bool) -> None:
    """Print how long a round of `pushpull` takes."""
    keys = [f"{name}-{i}" for i in range(len(shapes))]
    values = [od.nd.ones(shape) for shape in shapes]
    outs = [od.nd.zeros(shape) for shape in shapes]
    store.init(keys, values)
    seconds = []
    for _ in range(ROUNDS + 2):
        od.nd.waitall()
        store.barrier()
        start = time.perf_counter()
        if one_by_one:
            for key, value, out in zip(keys, values, outs, strict=True):
                store.pushpull(key, value, out=out)
        else:
            store.pushpull(keys, values, out=outs)
        od.nd.waitall()
        seconds.append(time.perf_counter() - start)
    assert (outs[0].asnumpy() == store.num_workers).all()
    if store.rank == 0:
        timed = [1000 * one for one in seconds[2:]]
        size = sum(int(np.prod(shape)) for shape in shapes) * 4 / 1e6
        print(f"{name:24} {size:7.1f} MB {statistics.median(timed):9.1f} {min(timed):9.1f}", flush=True)


def main() -> None:
    """Time each case."""
    parser = argparse.ArgumentParser(description="time pushpull")
    parser.add_argument("--kvstore", default="dist_sync", help="type of the store")
    store = od.kv.create(parser.parse_args().kvstore)
    time_case(store, "one array", [(1_048_576,)], False)
    time_case(store, "one large array", [(26_214_400,)], False)
    time_case(store, "161 arrays", resnet_50(), False)
    time_case(store, "161 arrays one by one", resnet_50(), True)


if __name__ == "__main__":
    main()
