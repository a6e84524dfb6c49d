"""The transport of stores with servers: values live in actors, each of which has some of the keys.

Where a key is, whole or in parts, `operad.kvstore.Placement` says. Pushes to all servers are under way at
once, and pulls from all servers are; a push and the pull that follows it in one call are one message.
"""

from __future__ import annotations

import secrets
import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Final, final

import numpy as np
import ray

import operad as od
from operad.interrupts import block_signals, start_thread
from operad_kvstore_ray.link import Link
from operad_kvstore_ray.travelling import packed

_BEAT_S: Final = 1.0
_LEAVE_S: Final = 3.0
_UNDER_WAY: Final = 8
"""So many messages to a server may be on their way when a push is done."""


@final
class RayTransport:
    """Carries values between this worker and the servers; see `operad.kvstore.Transport`.

    Args:
        settings: A `StoreSettings`.
        servers: The actors, in the order of their numbers.
    """

    def __init__(self, settings: Any, servers: Sequence[Any]) -> None:
        self.rank: int = settings.rank
        self.num_workers: int = settings.num_workers
        self._may_pickle = bool(settings.allow_pickle)
        life = secrets.token_hex(8)
        self._links = [
            Link(server, i, settings.rank, life, settings.timeout_s) for i, server in enumerate(servers)
        ]
        self._placement: Any = od.kvstore.Placement(len(servers))
        for home, link in enumerate(self._links):
            if link.standing.is_back:
                self._placement.adopt(home, link.standing.keys)
        self._barriers = 0
        self._lost: list[int] = []
        self._pool = ThreadPoolExecutor(len(servers), "kvstore-pull", block_signals)
        self._is_closed = threading.Event()
        start_thread("kvstore-beat", self._beat)

    def place(self, key: Any, value: Any, *, may_cut: bool) -> None:
        """See `Placement.add`."""
        self._placement.add(key, value, may_cut=may_cut)

    def parts(self, key: Any) -> Sequence[Any]:
        """See `Placement.parts`."""
        parts: Sequence[Any] = self._placement.parts(key)
        return parts

    def init(self, values: Mapping[Any, Any]) -> None:
        """Store rank 0's values, and compare shapes with it."""
        if self.rank == 0:
            for home, keys in self._placement.by_home(values).items():
                link = self._links[home]
                new = [key for key in keys if key not in link.standing.keys]
                extents = self._placement.extents(home, new)
                link.send("init", {key: _cut(values[key], extents[key]) for key in new}, extents)
        self.barrier()
        self._check(values)

    def push(self, packets: Sequence[Any]) -> None:
        """Send packets; some may still be on their way."""
        for home, mine in _by_home(packets).items():
            self._links[home].send("push", mine)
        for link in self._links:
            link.settle(_UNDER_WAY)

    def pull(self, clocks: Mapping[Any, int]) -> Mapping[Any, Any]:
        """Values after rounds."""
        return self._pulled(clocks, {})

    def pushpull(self, packets: Sequence[Any], clocks: Mapping[Any, int]) -> Mapping[Any, Any]:
        """Send packets, and get values after rounds: one message for each server, with its question."""
        return self._pulled(clocks, _by_home(packets))

    def _pulled(self, clocks: Mapping[Any, int], packets: Mapping[int, list[Any]]) -> Mapping[Any, Any]:
        def wait(home: int) -> Any:
            message = ("push", packets[home]) if home in packets else ()
            return self._links[home].wait({key: clocks[key] for key in homes[home]}, message=message)

        homes = self._placement.by_home(clocks)
        apply = self._pool.map if len(homes) > 1 else map  # another thread costs more than it saves
        of_home = dict(zip(homes, apply(wait, homes), strict=True))
        return {key: self._placement.joined(key, of_home) for key in clocks}

    def configure(self, what: str, value: Any, *, gathers: bool = False) -> None:
        """Send rank 0's optimizer, updater or states to all servers, and wait for all workers."""
        content = packed(what, value, may_pickle=self._may_pickle)
        self.barrier()  # what was pushed before is not moved by what is set now
        spread = self._placement.gather() if gathers else {}
        if self.rank == 0:
            self._move(spread)
            for link in self._links:
                link.configure(what, content)
        self.barrier()
        self._check(spread)

    def enter(self) -> Mapping[Any, int]:
        """Take part in rounds, after what an earlier process with this rank has pushed."""
        self._barriers = max(self._barriers, self._links[0].standing.barriers)
        counts: dict[Any, int] = {}
        for link in self._links:
            if link.standing.is_back:
                link.send("enter")
                link.settle()
                for key, count in link.ask("counts", self.rank).items():
                    counts[key] = min(count, counts.get(key, count))
        return counts

    def states(self, dump_optimizer: bool, clocks: Mapping[Any, int]) -> Sequence[bytes]:
        """The optimizer's states of every server, after rounds."""
        homes = self._placement.by_home(clocks)
        return [
            link.ask("states", dump_optimizer, clocks={key: clocks[key] for key in homes.get(home, ())})
            for home, link in enumerate(self._links)
        ]

    def gather(self, number: int) -> Sequence[int]:
        """The numbers of all workers, at the first server."""
        self._links[0].send("note", number)
        self.barrier()
        notes = self._links[0].ask("notes")
        self.barrier()  # before another worker's next note takes the place of this one
        return [notes[rank] for rank in sorted(notes)]

    @property
    def is_back(self) -> bool:
        """True if the first server had a worker of this rank before."""
        return bool(self._links[0].standing.is_back)

    def barrier(self) -> None:
        """Wait until all messages have arrived, and then for all workers, at the first server."""
        for link in self._links:
            link.settle()
        self._barriers += 1
        self._links[0].wait({}, self._barriers, ("barrier", self._barriers))

    def lost(self) -> Sequence[int]:
        """The workers that the first server knew to be lost a second ago."""
        return self._lost

    def close(self, *, is_idle: bool) -> None:
        """Tell the servers that this worker has finished; the last worker to leave ends them."""
        for link in self._links if ray.is_initialized() else ():
            with suppress(Exception):  # a server that has ended for good
                if self._left(link, is_idle):
                    ray.kill(link.server)
            if is_idle:
                link.close()
        self._is_closed.set()
        self._pool.shutdown(wait=False)

    def _left(self, link: Link, is_idle: bool) -> bool:
        """Take leave of a server; return whether this was the last worker."""
        if is_idle:
            with suppress(Exception):  # a worker that was given up can send nothing again
                return link.leave()
        return bool(ray.get(link.server.leave.remote(self.rank), timeout=_LEAVE_S))

    def _check(self, keys: Iterable[Any]) -> None:
        """Compare shapes and types of this worker's keys with those of the servers."""
        for home, its_keys in self._placement.by_home(keys).items():
            link = self._links[home]
            expected = self._placement.described(home, its_keys)
            link.ask("check_shapes", self.rank, expected)

    def _move(self, spread: Mapping[Any, Sequence[Any]]) -> None:
        """Bring keys whose parts were on several servers to the servers where they are placed now."""
        if not spread or self._links[0].standing.is_back:  # then an earlier process has
            return
        entries = [link.ask("entries", list(spread)) for link in self._links]
        for key, parts in spread.items():
            arrays, rounds = zip(*(entries[part.home][key] for part in parts), strict=True)
            (whole,) = self._placement.parts(key)
            (extent,) = self._placement.extents(whole.home, [key]).values()
            for part in parts:
                if part.home != whole.home:
                    self._links[part.home].send("drop", [key])
            array = np.concatenate(arrays).reshape(extent.shape)
            self._links[whole.home].send("move", {key: array}, {key: od.kvstore.KeyRounds.joined(rounds)})

    def _beat(self) -> None:
        """Let every server hear of this worker, and ask the first who is lost."""
        while not self._is_closed.wait(_BEAT_S):
            try:
                beats = [link.server.beat.remote(self.rank) for link in self._links]
                self._lost = ray.get(beats[0], timeout=_BEAT_S)
            except Exception:  # noqa: BLE001 - a server that is coming back; the next call says what is wrong
                continue


def _by_home(packets: Iterable[Any]) -> dict[int, list[Any]]:
    found: defaultdict[int, list[Any]] = defaultdict(list)
    for packet in packets:
        found[packet.home].append(packet)
    return dict(found)


def _cut(value: Any, extent: Any) -> Any:
    return value if extent.is_whole else value.reshape(-1)[extent.start : extent.stop]
