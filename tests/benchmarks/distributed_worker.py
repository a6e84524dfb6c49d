"""One worker of `distributed.py`, under one library and one type of store.

    python distributed_worker.py operad dist_sync      # started by `operad launch` or `mpirun`
    python distributed_worker.py mxnet dist_sync       # with DMLC_ROLE and its fellows set
    python distributed_worker.py torch gloo           # with RANK and its fellows set
    python distributed_worker.py operad dist_async --update

Rank 0 prints a line of JSON for each case: of every round, the milliseconds that it took (`ms`), and those
of processor time that rank 0 spent (`worker_ms`), and the servers (`server_ms`; operad's on Linux alone).
Processor time is what stands on a machine that others use as well. Polling is in it: a worker that waits
looks now and then.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import time
from pathlib import Path
from typing import Any

ROUNDS = 7
WARM_UP = 2
IN_A_ROW = 3
"""How often a worker of an asynchronous store pushes and pulls in one round."""


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


CASES: dict[str, list[tuple[int, ...]]] = {
    "16 KB": [(4096,)],
    "4.2 MB": [(1_048_576,)],
    "104.9 MB": [(26_214_400,)],
    "161 arrays": resnet_50(),
    "161 arrays, key by key": resnet_50(),
}


def time_case(library: Any, store: Any, name: str, in_a_row: int, is_updated: bool) -> dict[str, list[float]]:
    """Milliseconds of each round of `pushpull`, with all workers beginning together."""
    shapes = CASES[name]
    # Numbers that no other case has, as all share a store.
    first = 1000 * list(CASES).index(name)
    keys = [first + i for i in range(len(shapes))]
    values = [library.nd.ones(shape) for shape in shapes]
    outs = [library.nd.zeros(shape) for shape in shapes]
    store.init(keys, values)
    clock = Clock(store)
    for _ in range(WARM_UP + ROUNDS):
        library.nd.waitall()
        _barrier(store)
        clock.start()
        for _ in range(in_a_row):
            if "key by key" in name:
                for key, value, out in zip(keys, values, outs):  # noqa: B905 - also of Python 3.8
                    store.pushpull(key, value, out=out)
            else:
                store.pushpull(keys, values, out=outs)
            library.nd.waitall()
        if in_a_row > 1:  # each worker has its own pace, and the slowest counts
            _barrier(store)
        clock.stop(in_a_row)
    if library.__name__ != "mxnet" and not is_updated:
        # MXNet 1.9.1 overwrites what was pushed by what is pulled, so its sums double in each round.
        assert (_numbers(outs[-1]) == store.num_workers).all()
    return clock.rounds()


def time_barrier(store: Any) -> dict[str, list[float]]:
    """Milliseconds of a barrier, averaged over ten in a row."""
    clock = Clock(store)
    for _ in range(WARM_UP + ROUNDS):
        clock.start()
        for _ in range(10):
            _barrier(store)
        clock.stop(10)
    return clock.rounds()


class Gloo:
    """What is measured of PyTorch, in the words of a store: sums over all workers, by gloo.

    Several arrays at once go as one buffer, as `DistributedDataParallel` has its buckets.
    """

    def __init__(self, torch: Any) -> None:
        from torch import distributed

        distributed.init_process_group("gloo")
        torch.set_num_threads(1)
        self._torch, self._distributed = torch, distributed
        self.rank, self.num_workers = distributed.get_rank(), distributed.get_world_size()

    def init(self, keys: Any, values: Any) -> None:
        """Nothing: every worker keeps its own."""

    def pushpull(self, _: Any, value: Any, out: Any) -> None:
        """Write the sum over all workers into `out`."""
        if not isinstance(value, list):
            self._distributed.all_reduce(out.copy_(value))
            return
        whole = self._torch.cat([one.reshape(-1) for one in value])
        self._distributed.all_reduce(whole)
        for target, part in zip(out, whole.split([one.numel() for one in out])):  # noqa: B905 - as elsewhere
            target.copy_(part.reshape(target.shape))

    def _barrier(self) -> None:
        self._distributed.barrier()


class TorchArrays:
    """PyTorch's functions under MXNet's names."""

    def __init__(self, torch: Any) -> None:
        self.ones, self.zeros = torch.ones, torch.zeros

    def waitall(self) -> None:
        """Nothing: all is done at once."""


class Torch:
    """PyTorch with `nd`, as `time_case` wants a library."""

    __name__ = "torch"

    def __init__(self, torch: Any) -> None:
        self.nd = TorchArrays(torch)


class Clock:
    """Wall and processor time of rounds; that of servers once they have answered everybody."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self._servers = server_processes(store)
        self._begun: tuple[float, ...] = ()
        self._rounds: list[list[float]] = []

    def start(self) -> None:
        """Begin a round."""
        self._begun = (time.perf_counter(), time.process_time(), processor_seconds(self._servers))

    def stop(self, times: int) -> None:
        """End a round in which something was done so many times."""
        wall, worker = time.perf_counter(), time.process_time()
        if self._servers:
            _barrier(self._store)
        now = (wall, worker, processor_seconds(self._servers))
        self._rounds.append([1000 * (b - a) / times for a, b in zip(self._begun, now)])  # noqa: B905

    def rounds(self) -> dict[str, list[float]]:
        """Milliseconds by what was measured, without the first rounds."""
        timed = [list(column) for column in zip(*self._rounds[WARM_UP:])]  # noqa: B905
        found = {"ms": timed[0], "worker_ms": timed[1]}
        return {**found, "server_ms": timed[2]} if self._servers else found


def server_processes(store: Any) -> list[int]:
    """The processes that are the servers of a store on Ray; of other stores none."""
    links = getattr(getattr(store, "_transport", None), "_links", [])
    return [link.answer(link.server.process_id.remote()) for link in links]


def processor_seconds(processes: list[int]) -> float:
    """Processor time of all threads of some processes, as Linux counts it."""
    files = [file for process in processes for file in Path(f"/proc/{process}/task").glob("*/schedstat")]
    return sum(int(file.read_text().split()[0]) for file in files) / 1e9


def _numbers(array: Any) -> Any:
    return array.asnumpy() if hasattr(array, "asnumpy") else array.numpy()


def _barrier(store: Any) -> None:
    # Stores of MXNet 1.9.1 call it so.
    store._barrier()


def main() -> None:
    """Time each case."""
    parser = argparse.ArgumentParser(description="time pushpull as one worker")
    parser.add_argument("library", help="operad, mxnet or torch")
    parser.add_argument("kvstore", help="type of the store")
    parser.add_argument("--update", action="store_true", help="let an optimizer move the values")
    parser.add_argument("--cases", nargs="*", default=list(CASES), help="some of the cases")
    options = parser.parse_args()
    # An empty PORT, or another's, would mislead MXNet's servers.
    os.environ.pop("PORT", None)
    library: Any = importlib.import_module(options.library)
    if options.library == "torch":
        store: Any = Gloo(library)
        library = Torch(library)
    else:
        store = library.kv.create(options.kvstore)
    if options.update:
        store.set_optimizer(library.optimizer.create("sgd", learning_rate=1e-9, momentum=0.9))
    in_a_row = IN_A_ROW if "async" in options.kvstore else 1
    found = {name: time_case(library, store, name, in_a_row, options.update) for name in options.cases}
    found["barrier"] = time_barrier(store)
    if store.rank == 0:
        for name, rounds in found.items():
            print(json.dumps({"case": name, **rounds}), flush=True)


if __name__ == "__main__":
    main()
