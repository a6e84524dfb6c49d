"""One worker of `distributed.py`, under one library and one type of store.

    python distributed_worker.py operad dist_sync      # started by `operad launch` or `mpirun`
    python distributed_worker.py mxnet dist_sync       # with DMLC_ROLE and its fellows set
    python distributed_worker.py torch gloo           # with RANK and its fellows set
    python distributed_worker.py ray bare             # what Ray alone takes; started by `operad launch`
    python distributed_worker.py operad dist_async --update

It connects to the driver at BENCHMARK_PORT, tells its rank, and then takes orders, a line of JSON each: a
case and a number of rounds. The answer has of every round the milliseconds that it took (`ms`), and those of
processor time that this worker spent (`worker_ms`), and the servers (`server_ms`; operad's on Linux alone).
Processor time is what stands on a machine that others use as well. Polling is in it: a worker that waits
looks now and then. Between orders it sleeps, so that several jobs take turns.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import socket
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

WARM_UP = 2
"""So many rounds of a case go before those that count."""
SHORT_BYTES = 1 << 16
"""Bytes that the bare actor of Ray gets."""
IN_A_ROW = 3
"""Number of times that a worker of an asynchronous store pushes and pulls in one round."""


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
BARRIER = "barrier"


class Case:
    """Rounds of `pushpull` under keys of their own, or of barriers.

    Args:
        library: operad, MXNet, or `Torch`.
        store: Of it.
        name: Of `CASES`, or "barrier".
        in_a_row: How often a round does it.
        is_updated: Whether values are moved by an optimizer, so that they are no sums.
    """

    def __init__(self, library: Any, store: Any, name: str, in_a_row: int, is_updated: bool) -> None:
        self._library, self._store, self._name = library, store, name
        self._in_a_row = 10 if name == BARRIER else in_a_row
        # MXNet 1.9.1 overwrites what was pushed by what is pulled, so its sums double in each round.
        self._adds = library.__name__ not in {"mxnet", "ray"} and not is_updated
        shapes = CASES.get(name, [])
        # Numbers that no other case has, as all share a store.
        first = 1000 * list(CASES).index(name) if shapes else 0
        self._keys = [first + i for i in range(len(shapes))]
        self._values = [library.nd.ones(shape) for shape in shapes]
        self._outs = [library.nd.zeros(shape) for shape in shapes]
        if shapes:
            store.init(self._keys, self._values)
        self._servers = server_processes(store)
        self.rounds(WARM_UP)

    def rounds(self, count: int) -> dict[str, list[float]]:
        """Milliseconds of each round by what was measured, with all workers beginning together."""
        clock = Clock(self._store, self._servers)
        for _ in range(count):
            self._library.nd.waitall()
            _barrier(self._store)
            clock.start()
            for _ in range(self._in_a_row):
                self._once()
            if self._in_a_row > 1 and self._keys:  # each worker has its own pace, and the slowest counts
                _barrier(self._store)
            clock.stop(self._in_a_row)
        if self._keys and self._adds:
            assert (_numbers(self._outs[-1]) == self._store.num_workers).all()
        return clock.rounds()

    def _once(self) -> None:
        if not self._keys:
            _barrier(self._store)
            return
        if "key by key" in self._name:
            for key, value, out in zip(self._keys, self._values, self._outs):  # noqa: B905 - also of Python 3.8
                self._store.pushpull(key, value, out=out)
        else:
            self._store.pushpull(self._keys, self._values, out=self._outs)
        self._library.nd.waitall()


class Gloo:
    """PyTorch's gloo with the methods of a store: sums over all workers.

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


class Meeting:
    """An actor of Ray that does nothing but let workers meet: each gets what it has sent."""

    def __init__(self, num_workers: int) -> None:
        self._num_workers, self._arrived = num_workers, 0
        self._changed = threading.Condition()

    def meet(self, payload: Any = b"") -> Any:
        """Return when all workers have called as often."""
        with self._changed:
            self._arrived += 1
            meeting = -(-self._arrived // self._num_workers)
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._arrived >= meeting * self._num_workers)
        return payload


class Bare:
    """The same ways there and back through Ray without a store: what no store on Ray can be faster than.

    Short arrays travel as bytes and long ones as objects, whichever Ray carries sooner.
    """

    def __init__(self, ray: Any) -> None:
        ray.init(address=os.environ["RAY_ADDRESS"], namespace="bare", logging_level=40, log_to_driver=False)
        self._ray = ray
        self.rank, self.num_workers = (
            int(os.environ[f"OPERAD_KV_{name}"]) for name in ("RANK", "NUM_WORKERS")
        )
        options = {
            "name": "meeting",
            "get_if_exists": True,
            "num_cpus": 0,
            "max_concurrency": self.num_workers,
        }
        self._meeting = ray.remote(Meeting).options(**options).remote(self.num_workers)

    def init(self, keys: Any, values: Any) -> None:
        """Nothing: nothing is stored."""

    def pushpull(self, _: Any, value: Any, out: Any) -> None:
        """Send `value`, and write what comes back into `out`."""
        values, outs = (value, out) if isinstance(value, list) else ([value], [out])
        payload = np.concatenate([one.reshape(-1) for one in values])
        is_short = payload.nbytes <= SHORT_BYTES
        answer = self._ray.get(self._meeting.meet.remote(payload.tobytes() if is_short else payload))
        whole = np.frombuffer(answer, payload.dtype) if is_short else answer
        start = 0
        for target in outs:
            target[...] = whole[start : start + target.size].reshape(target.shape)
            start += target.size

    def _barrier(self) -> None:
        self._ray.get(self._meeting.meet.remote())


class NumpyArrays:
    """NumPy's functions under MXNet's names."""

    def ones(self, shape: Any) -> Any:
        """Of single precision."""
        return np.ones(shape, "float32")

    def zeros(self, shape: Any) -> Any:
        """Likewise."""
        return np.zeros(shape, "float32")

    def waitall(self) -> None:
        """Nothing: all is done at once."""


class NumpyLibrary:
    """NumPy with `nd`, for Ray's column."""

    __name__ = "ray"
    nd = NumpyArrays()


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
    """Wall and processor time of rounds; that of servers once they have answered all workers."""

    def __init__(self, store: Any, servers: list[int]) -> None:
        self._store, self._servers = store, servers
        self._begun: tuple[float, ...] = ()
        self._rounds: list[list[float]] = []

    def start(self) -> None:
        """Begin a round."""
        servers = processor_seconds(
            self._servers
        )  # takes a millisecond or more, which is no part of the round
        self._begun = (time.perf_counter(), time.process_time(), servers)

    def stop(self, times: int) -> None:
        """End a round in which something was done so many times."""
        wall, worker = time.perf_counter(), time.process_time()
        if self._servers:
            _barrier(self._store)
        now = (wall, worker, processor_seconds(self._servers))
        self._rounds.append([1000 * (b - a) / times for a, b in zip(self._begun, now)])  # noqa: B905

    def rounds(self) -> dict[str, list[float]]:
        """Milliseconds by what was measured."""
        timed = [list(column) for column in zip(*self._rounds)]  # noqa: B905
        found = {"ms": timed[0], "worker_ms": timed[1]}
        return {**found, "server_ms": timed[2]} if self._servers else found


def server_processes(store: Any) -> list[int]:
    """The processes that are the servers of a store on Ray; of other stores none."""
    links = getattr(getattr(store, "_transport", None), "_links", [])
    if not links:
        return []
    import ray

    found: list[int] = ray.get([link.server.process_id.remote() for link in links])
    return found


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
    """Time the cases that the driver asks for."""
    parser = argparse.ArgumentParser(description="time pushpull as one worker")
    parser.add_argument("library", help="operad, mxnet, torch or ray")
    parser.add_argument("kvstore", help="type of the store")
    parser.add_argument("--update", action="store_true", help="let an optimizer move the values")
    options = parser.parse_args()
    # An empty PORT, or another's, would mislead MXNet's servers.
    os.environ.pop("PORT", None)
    library: Any = importlib.import_module(options.library)
    if options.library == "torch":
        store: Any = Gloo(library)
        library = Torch(library)
    elif options.library == "ray":
        store, library = Bare(library), NumpyLibrary()
    else:
        store = library.kv.create(options.kvstore)
    if options.update:
        store.set_optimizer(library.optimizer.create("sgd", learning_rate=1e-9, momentum=0.9))
    in_a_row = IN_A_ROW if "async" in options.kvstore else 1
    cases: dict[str, Case] = {}
    with socket.create_connection(("127.0.0.1", int(os.environ["BENCHMARK_PORT"]))) as connection:
        orders = connection.makefile("rw")
        tell(orders, {"rank": store.rank})
        for line in orders:
            order = json.loads(line)
            name = order["case"]
            if name not in cases:
                cases[name] = Case(library, store, name, in_a_row, options.update)
            tell(orders, cases[name].rounds(order["rounds"]))


def tell(stream: Any, what: Any) -> None:
    """Write a line of JSON."""
    stream.write(json.dumps(what) + "\n")
    stream.flush()


if __name__ == "__main__":
    main()
