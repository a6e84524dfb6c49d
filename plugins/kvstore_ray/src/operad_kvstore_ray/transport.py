"""The transport of stores with servers: values live in actors, each of which has some of the keys.

A key belongs to the server with the fewest bytes when the key is initialised. It is never cut, so that an
optimizer that looks at a whole weight (LARS, LAMB) sees it. Pushes to all servers are under way at once, and
pulls from all servers are.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Final, final

import ray

from operad_kvstore_ray.link import Link
from operad_kvstore_ray.pickling import pickled

_BEAT_S: Final = 1.0
_LEAVE_S: Final = 3.0


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
        self._links = [Link(server, i, settings.rank, settings.timeout_s) for i, server in enumerate(servers)]
        self._homes: dict[Any, int] = {}
        self._bytes = [0] * len(servers)
        self._barriers = 0
        self._lost: list[int] = []
        self._pool = ThreadPoolExecutor(len(servers), "kvstore-pull")
        self._is_closed = threading.Event()
        threading.Thread(target=self._beat, name="kvstore-beat", daemon=True).start()

    def home(self, key: Any, num_bytes: int) -> int:
        """The server with the fewest bytes so far."""
        if key not in self._homes:
            self._homes[key] = self._bytes.index(min(self._bytes))
            self._bytes[self._homes[key]] += num_bytes
        return self._homes[key]

    def init(self, values: Mapping[Any, Any]) -> None:
        """Store rank 0's values, and compare shapes with it."""
        if self.rank == 0:
            for home, keys in self._by_home(values).items():
                self._links[home].send("init", {key: values[key] for key in keys})
        self._settle()
        self.barrier()
        shapes = {key: (value.shape, value.dtype.name) for key, value in values.items()}
        for home, keys in self._by_home(values).items():
            link = self._links[home]
            link.answer(link.server.check_shapes.remote(self.rank, {key: shapes[key] for key in keys}))

    def push(self, packets: Sequence[Any]) -> None:
        """Send packets, and wait until they have arrived."""
        for packet in packets:
            self._links[packet.home].send("push", [packet])
        self._settle()

    def pull(self, clocks: Mapping[Any, int]) -> Mapping[Any, Any]:
        """Values after rounds."""
        by_home = self._by_home(clocks)
        waits = [
            self._pool.submit(self._links[home].wait, {key: clocks[key] for key in keys})
            for home, keys in by_home.items()
        ]
        found: dict[Any, Any] = {}
        for wait in waits:
            found |= wait.result()
        return found

    def configure(self, what: str, value: Any) -> None:
        """Send rank 0's optimizer, updater or states to all servers, and wait for all workers."""
        if self.rank == 0:
            content = value if what == "states" else pickled(value)
            for link in self._links:
                link.send(what, content)
        self._settle()
        self.barrier()

    def states(self, dump_optimizer: bool) -> Sequence[bytes]:
        """The optimizer's states of every server."""
        return [link.answer(link.server.states.remote(dump_optimizer)) for link in self._links]

    def barrier(self) -> None:
        """Wait for all workers, at the first server."""
        self._barriers += 1
        self._links[0].send("barrier")
        self._links[0].settle()
        self._links[0].wait({}, self._barriers)

    def lost(self) -> Sequence[int]:
        """The workers that the first server knew to be lost a second ago."""
        return self._lost

    def close(self) -> None:
        """Tell the servers that this worker has finished; whoever leaves last ends them."""
        self._is_closed.set()
        if ray.is_initialized():
            leaves = {link.server.lose.remote(self.rank, "has finished"): link for link in self._links}
            for left in ray.wait(list(leaves), num_returns=len(leaves), timeout=_LEAVE_S)[0]:
                with suppress(Exception):  # a server that has ended already
                    if ray.get(left):
                        ray.kill(leaves[left].server)
        self._pool.shutdown(wait=False)

    def _settle(self) -> None:
        for link in self._links:
            link.settle()

    def _by_home(self, keys: Mapping[Any, Any]) -> dict[int, list[Any]]:
        found: defaultdict[int, list[Any]] = defaultdict(list)
        for key in keys:
            found[self._homes[key]].append(key)
        return found

    def _beat(self) -> None:
        """Let every server hear of this worker, and ask the first who is lost."""
        while not self._is_closed.wait(_BEAT_S):
            try:
                beats = [link.server.beat.remote(self.rank) for link in self._links]
                self._lost = ray.get(beats[0], timeout=_BEAT_S)
            except Exception:  # noqa: BLE001 - a server that is coming back; the next call says what is wrong
                continue
