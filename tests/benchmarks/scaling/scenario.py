"""A simulated scenario: the model that is trained, the machines that train it, and their failures.

Sizes are in bytes, times in seconds, rates in bytes per second. Every machine has one worker or one
server, and a link that carries as much in one direction as, at the same time, in the other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple, final

import numpy as np

import operad as od
from tests.benchmarks.distributed_worker import resnet_50

FLOAT_BYTES: Final = 4


@final
class Shard(NamedTuple):
    """Keys and messages of one server.

    Attributes:
        keys: Number of keys.
        buckets: Bytes of each message that a push of all of them takes.
    """

    keys: int
    buckets: tuple[int, ...]

    @property
    def size_bytes(self) -> int:
        """Of all its keys."""
        return sum(self.buckets)


@dataclass(frozen=True)
class Job:
    """A model and a worker's part in a step.

    Attributes:
        keys: Elements of each array, float32, in the order in which they are pushed.
        compute_s: A worker's forward and backward pass, on average.
        batch: Samples of one worker in a step.
        one_by_one: Whether each key is a call of its own, as in a program that pushes them in a loop.
        updates: Whether an optimizer moves the stored values; else a push replaces them.
    """

    keys: tuple[int, ...]
    compute_s: float = 0.25
    batch: int = 64
    one_by_one: bool = False
    updates: bool = True

    def calls(self) -> list[Job]:
        """The calls of `pushpull` in a step, each with its keys."""
        if not self.one_by_one:
            return [self]
        return [Job((key,), self.compute_s, self.batch, updates=self.updates) for key in self.keys]

    def shards(self, servers: int) -> tuple[Shard, ...]:
        """Shards of the servers, as the stores place keys: large ones have a part on every server."""
        return _shards(self.keys, servers)

    @property
    def whole(self) -> Shard:
        """All keys together, as every worker of a replicated store has them."""
        (shard,) = _shards(self.keys, 1)
        return shard


@final
@dataclass(frozen=True, slots=True)
class Cluster:
    """Machines and what connects them.

    Attributes:
        servers: How many share the keys, where there are any.
        link: Of each worker, in bytes per second and direction.
        server_link: Of each server; None: as a worker's.
        latency_s: Of a message from one machine to another.
        snapshot_every: A server writes itself to a file after so many rounds.
    """

    servers: int = 1
    link: float = math.inf
    server_link: float | None = None
    latency_s: float = 0.0
    snapshot_every: int = od.kvstore.StoreSettings().snapshot_every

    @property
    def link_of_server(self) -> float:
        """In bytes per second."""
        return self.link if self.server_link is None else self.server_link


@final
@dataclass(frozen=True, slots=True)
class Chance:
    """Random variation of a scenario: slow workers and failures.

    Attributes:
        spread: Standard deviation of the logarithm of a worker's compute time; the mean stays.
        slow_share: The probability that a worker is slow in a step.
        slow_factor: Factor on the time of its computation then.
        mtbf_s: Mean time between failures of one machine; infinite: none fails.
        restart_s: From a worker's end until the job trains again, where all have to begin from a checkpoint.
        checkpoint_s: Time between two checkpoints; half of it is trained again on average.
        server_recovery_s: From a server's end until its values are back.
    """

    spread: float = 0.0
    slow_share: float = 0.0
    slow_factor: float = 1.0
    mtbf_s: float = math.inf
    restart_s: float = 60.0
    checkpoint_s: float = 600.0
    server_recovery_s: float = 5.0


def of_resnet_50(**settings: float) -> Job:
    """ResNet-50: 161 arrays, 25.6 million parameters."""
    return Job(tuple(int(np.prod(shape)) for shape in resnet_50()), **settings)  # type: ignore[arg-type]


@lru_cache(maxsize=1024)
def _shards(keys: tuple[int, ...], servers: int) -> tuple[Shard, ...]:
    placement = od.kvstore.Placement(servers)
    for key, size in enumerate(keys):
        placement.add(key, np.broadcast_to(np.float32(0), (size,)), may_cut=True)
    of_server = [
        [extent.stop - extent.start for extent in placement.extents(home, of_one).values()]
        for home, of_one in sorted(placement.by_home(range(len(keys))).items())
    ]
    return tuple(Shard(len(of_one), _buckets(of_one)) for of_one in of_server)


def _buckets(keys: list[int]) -> tuple[int, ...]:
    """As the stores make them."""
    float32 = np.dtype(np.float32)
    planned = od.kvstore.plan_buckets(
        [od.kvstore.Sized(str(i), size, float32) for i, size in enumerate(keys)]
    )
    return tuple(bucket.num_elements * FLOAT_BYTES for bucket in planned)
