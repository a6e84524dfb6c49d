"""A server of values for several workers, without the transport.

Each worker numbers its messages to a server: 1, 2, 3, ... A message that comes again is ignored, and one that
comes too early is not taken in. The answer says up to which number the server has a worker's messages, and up
to which they outlast a crash. Workers keep what may be lost, so a server that was restored from an older
picture of itself gets the rest again, in order, and comes to the same values.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, final

from operad.errors import ArgumentError
from operad_kvstore.errors import (
    RoundMismatchError,
    StoreTimeoutError,
    UpdateFailedError,
    WorkerLostError,
)
from operad_kvstore.keys import Key
from operad_kvstore.members import Members
from operad_kvstore.packets import Array, Packet
from operad_kvstore.rounds import KeyRounds
from operad_kvstore.settings import StoreSettings
from operad_kvstore.shard import Shard

_CHECK_EVERY_S = 0.5


@final
class Receipt(NamedTuple):
    """What a server has of a worker's messages.

    Attributes:
        seen: All up to this number.
        durable: All up to this number outlast a crash of the server.
    """

    seen: int
    durable: int


@final
class Server:
    """Stores values and completes rounds. Threads may call it at once.

    Args:
        settings: How many workers, how long to wait, what to do where one is lost.
        is_async: Every push changes the value at once.
        write: Keeps a picture of the server, which `state` gives, where it outlasts the process.
    """

    def __init__(
        self, settings: StoreSettings, is_async: bool, write: Callable[[dict[str, Any]], None] | None = None
    ) -> None:
        self._settings, self._is_async, self._write = settings, is_async, write
        self._members = Members(settings.num_workers, settings.silence_s)
        self._changed = threading.Condition()
        # All below is used under self._changed, and is the server's state.
        self._shard = Shard()
        self._rounds: dict[Key, KeyRounds] = {}
        self._failed: dict[Key, str] = {}
        self._seen: defaultdict[int, int] = defaultdict(int)
        self._barriers: defaultdict[int, int] = defaultdict(int)
        self._durable: dict[int, int] = {}
        self._bytes_since_write = 0

    def handle(self, rank: int, number: int, message: tuple[Any, ...]) -> Receipt:
        """Take in a worker's message, unless it is known or one before it is missing.

        Args:
            rank: Of the worker.
            number: Of the message, from 1 on.
            message: ("init", arrays), ("push", packets), ("barrier",), ("optimizer", it), ("updater", it) or
                ("states", bytes).
        Raises:
            WorkerLostError: This worker has been given up.
        """
        with self._changed:
            self._members.hear(rank)
            if rank in self._members.lost:
                raise WorkerLostError(
                    f"rank {rank} was given up: it {self._members.lost[rank]}; start the job again", [rank]
                )
            if number == self._seen[rank] + 1:
                self._seen[rank] = number
                try:
                    self._take_in(rank, *message)
                finally:
                    self._changed.notify_all()
            return Receipt(self._seen[rank], self._durable.get(rank, 0))

    def wait(
        self,
        rank: int,
        number: int,
        clocks: Mapping[Key, int],
        barrier: int = 0,
        timeout_s: float | None = None,
    ) -> Receipt:
        """Wait for rounds, or for a barrier.

        Args:
            rank: Who waits.
            number: Of its last message. A receipt of less says that the server came back and lacks messages.
            clocks: The number of the round by key.
            barrier: How often all live workers must have sent ("barrier",).
            timeout_s: In seconds; else the setting's.
        Raises:
            WorkerLostError: One has ended without whom it cannot be.
            StoreTimeoutError: Some did not do their part in time.
            UpdateFailedError: The updater failed in a key's last round.
        """
        limit = self._settings.timeout_s if timeout_s is None else timeout_s
        end = time.monotonic() + limit
        with self._changed:
            while self._seen[rank] >= number and (lacking := self._lacking(clocks, barrier)):
                self._check_lost(lacking, clocks, barrier)
                left = end - time.monotonic()
                if left <= 0:
                    raise StoreTimeoutError(
                        f"rank {rank} waited {limit:g} s for {_ranks(lacking)} in {_named(clocks, barrier)}",
                        lacking,
                    )
                self._changed.wait(min(left, _CHECK_EVERY_S))
                for silent in self._members.find_silent():
                    self._drop(silent)
            if self._seen[rank] >= number:
                self._check_failed(clocks)
            return Receipt(self._seen[rank], self._durable.get(rank, 0))

    def values(self, keys: Sequence[Key]) -> tuple[tuple[int, ...], dict[Key, Array]]:
        """Copies of values, and the numbers of their last rounds."""
        with self._changed:
            return tuple(self._rounds[key].done for key in keys), self._shard.get(keys)

    def versions(self, keys: Sequence[Key]) -> tuple[int, ...]:
        """The numbers of the last rounds of keys."""
        with self._changed:
            return tuple(self._rounds[key].done for key in keys)

    def check_shapes(self, rank: int, shapes: Mapping[Key, tuple[tuple[int, ...], str]]) -> None:
        """Compare a worker's shapes and types with those of rank 0.

        Raises:
            RoundMismatchError: They differ.
        """
        with self._changed:
            for key, (shape, dtype) in shapes.items():
                if key not in self._shard:
                    raise RoundMismatchError(f"init: rank {rank} has key {key!r}, rank 0 has not", [0, rank])
                value = self._shard.get([key])[key]
                if (value.shape, value.dtype.name) != (shape, dtype):
                    raise RoundMismatchError(
                        f"init: key {key!r} is {value.shape} of {value.dtype.name} in rank 0, "
                        f"and {shape} of {dtype} in rank {rank}",
                        [0, rank],
                    )

    def beat(self, rank: int) -> list[int]:
        """A worker lives; gives the lost ones."""
        with self._changed:
            self._members.hear(rank)
            return sorted(self._members.lost)

    def lose(self, rank: int, why: str) -> None:
        """A worker has ended."""
        with self._changed:
            self._members.lose(rank, why)
            self._drop(rank)

    @property
    def live(self) -> list[int]:
        """The workers that have not ended."""
        with self._changed:
            return self._members.live

    def states(self, dump_optimizer: bool) -> bytes:
        """The optimizer's states."""
        with self._changed:
            return self._shard.states(dump_optimizer)

    def state(self) -> dict[str, Any]:
        """All that makes the server what it is, for pickling before anything else changes it."""
        kept = ("_shard", "_rounds", "_failed", "_seen", "_barriers")
        return {name: getattr(self, name) for name in kept} | {"lost": self._members.lost}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Become what `state` gave."""
        with self._changed:
            for name, value in state.items():
                if name != "lost":
                    setattr(self, name, value)
            self._members.lost = dict(state["lost"])
            self._durable = dict(self._seen)
            for rank in self._seen:
                self._members.hear(rank)

    def _take_in(self, rank: int, what: str, value: Any = None) -> None:
        if what == "push":
            for packet in value:
                self._take_packet(rank, packet)
        elif what == "barrier":
            self._barriers[rank] += 1
        else:
            self._configure(what, value)
        if (
            self._bytes_since_write
            and self._bytes_since_write >= self._settings.snapshot_every * self._shard.num_bytes
        ):
            self._keep()

    def _configure(self, what: str, value: Any) -> None:
        if what == "init":
            self._shard.put(value)
            for key, array in value.items():
                self._rounds[key] = KeyRounds(array.size, array.dtype)
        elif what == "optimizer":
            self._shard.set_optimizer(value)
        elif what == "updater":
            self._shard.set_updater(value)
        else:
            self._shard.load_states(value)

    def _take_packet(self, rank: int, packet: Packet) -> None:
        if self._is_async and not self._shard.has_updater:
            raise ArgumentError("push: an asynchronous store needs set_optimizer first")
        self._bytes_since_write += packet.payload.nbytes
        for piece, values in packet.parts():
            rounds = self._rounds[piece.key]
            if rounds.add(rank, piece, values):
                if self._is_async:
                    self._apply(piece.key, rounds.take_one(rank))
                else:
                    self._complete(piece.key)

    def _complete(self, key: Key) -> None:
        while (total := self._rounds[key].take_round(self._members.live)) is not None:
            self._apply(key, total)

    def _apply(self, key: Key, total: Array) -> None:
        self._failed.pop(key, None)
        try:
            self._shard.apply(key, total)
        except Exception as error:  # noqa: BLE001 - raised where the round is waited for
            self._failed[key] = f"{type(error).__name__}: {error}"

    def _keep(self) -> None:
        self._bytes_since_write = 0
        if self._write is not None:
            self._write(self.state())
            self._durable = dict(self._seen)

    def _drop(self, rank: int) -> None:
        if self._settings.on_loss == "shrink" and not self._is_async:
            for key, rounds in self._rounds.items():
                rounds.forget(rank)
                self._complete(key)
        self._changed.notify_all()

    def _lacking(self, clocks: Mapping[Key, int], barrier: int) -> list[int]:
        """Whom a wait is for; the lost ones too where they are not given up."""
        shrinks = self._settings.on_loss == "shrink"
        ranks = self._members.live if shrinks else range(self._settings.num_workers)
        found = {rank for rank in ranks if self._barriers[rank] < barrier}
        if not self._is_async:
            for key, clock in clocks.items():
                found.update(self._rounds[key].lacking(ranks, clock))
        return sorted(found)

    def _check_lost(self, lacking: Sequence[int], clocks: Mapping[Key, int], barrier: int) -> None:
        lost = [rank for rank in lacking if rank in self._members.lost]
        if lost:
            why = "; ".join(f"rank {rank} {self._members.lost[rank]}" for rank in lost)
            raise WorkerLostError(f"{why}; lost in {_named(clocks, barrier)}", lost)

    def _check_failed(self, clocks: Mapping[Key, int]) -> None:
        for key in clocks:
            if key in self._failed:
                raise UpdateFailedError(f"the updater failed on key {key!r}: {self._failed[key]}")


def _ranks(ranks: Sequence[int]) -> str:
    return f"rank{'s' if len(ranks) > 1 else ''} {', '.join(map(str, ranks))}"


def _named(clocks: Mapping[Key, int], barrier: int) -> str:
    if barrier:
        return f"barrier {barrier}"
    key, clock = next(iter(clocks.items()))
    more = f" and {len(clocks) - 1} more keys" if len(clocks) > 1 else ""
    return f"round {clock} of key {key!r}{more}"
