"""A server of values for several workers, without the transport.

Each worker numbers its messages to a server: 1, 2, 3, ... A message that comes again is ignored, and one that
comes too early is not taken in. The answer says up to which number the server has a worker's messages, and up
to which they outlast a crash. Workers keep what may be lost, so a server that was restored from an older
picture of itself gets the rest again, each worker's in order, and comes to the same values. What depends on
the order between workers, such as an optimizer and the pushes that it is for, is in a picture before anything
that follows it is taken in.

A worker may be lost. Then the others get an error, or go on without it, or wait for a process that takes over
its rank, as the settings say. Such a process joins with what is stored, and its pushes count from the first
round on that lacks a push of the former one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any, final

from operad.errors import ArgumentError
from operad_kvstore.errors import WorkerLostError
from operad_kvstore.inbox import Inbox, Receipt, Standing
from operad_kvstore.keys import Key
from operad_kvstore.members import Members
from operad_kvstore.packets import Array, Packet
from operad_kvstore.placement import Extent
from operad_kvstore.rounds import KeyRounds
from operad_kvstore.settings import StoreSettings
from operad_kvstore.shard import Shard
from operad_kvstore.waits import Awaited

_CHECK_EVERY_S = 0.5


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
        self._members = Members(settings.num_workers, settings.silence_s, settings.on_loss)
        self._changed = threading.Condition()  # of a lock that may be taken again
        # All below is used under self._changed, and is the server's state.
        self._shard, self._inbox = Shard(), Inbox()
        self._rounds: dict[Key, KeyRounds] = {}
        self._bytes_since_write = 0
        self._was_configured = False

    def join(self, rank: int, life: str) -> Standing:
        """Begin with a process as the worker of a rank.

        Args:
            rank: Of the worker.
            life: A name that no other process has.
        Raises:
            WorkerLostError: The rank had a worker, and settings do not let another take its place.
        """
        with self._changed:
            if not self._inbox.has_life(rank, life):
                self._take_back(rank)
            if self._inbox.begin(rank, life):
                self._keep()
            barriers, configured = self._inbox.barriers[rank], self._inbox.configured[rank]
            return Standing(self._inbox.is_back(rank), barriers, configured, self._shard.described())

    def handle(self, rank: int, number: int, message: tuple[Any, ...], life: str = "") -> Receipt:
        """Take in a worker's message, unless it is known or one before it is missing.

        Args:
            rank: Of the worker.
            number: Of the message, from 1 on.
            message: ("push", packets), ("barrier", its number), ("note", a number), ("enter",),
                ("init", arrays, extents), ("optimizer", it), ("updater", it), ("states", bytes),
                ("move", arrays, rounds) or ("drop", keys).
            life: As in `join`.
        Raises:
            WorkerLostError: This worker has been given up, or another process has its rank.
        """
        with self._changed:
            if not self._inbox.has_life(rank, life):
                raise WorkerLostError(f"rank {rank} was given up: another process has its place", [rank])
            self._members.speak(rank)
            if message[0] in {"push", "barrier"} and self._was_configured:
                self._keep()
            if self._inbox.take(rank, number):
                try:
                    self._take_in(rank, *message)
                finally:
                    self._changed.notify_all()
            return self._inbox.receipt(rank)

    def wait(
        self,
        rank: int,
        number: int,
        clocks: Mapping[Key, int],
        barrier: int = 0,
        timeout_s: float | None = None,
        arrival_s: float = 0.0,
    ) -> Receipt:
        """Wait for rounds, or for a barrier.

        Args:
            rank: Who waits.
            number: Of its last message. A receipt of less says that the server came back and lacks messages.
            clocks: The number of the round by key.
            barrier: How often all live workers must have called a barrier.
            timeout_s: In seconds; else the setting's.
            arrival_s: How long messages up to `number` may still be on their way, in seconds.
        Raises:
            WorkerLostError: One has ended without whom it cannot be.
            StoreTimeoutError: Some did not do their part in time.
            UpdateFailedError: The updater failed in a key's last round.
        """
        awaited = Awaited(clocks, barrier)
        limit_s = self._settings.timeout_s if timeout_s is None else timeout_s
        start = time.monotonic()
        with self._changed:
            while not self._inbox.has(rank, number):
                left_s = start + arrival_s - time.monotonic()
                if left_s <= 0:
                    return self._inbox.receipt(rank)
                self._changed.wait(left_s)
            rounds = {} if self._is_async else self._rounds
            while lacking := awaited.lacking(self._members.expected, self._inbox.barriers, rounds):
                awaited.check_lost(lacking, self._members)
                left_s = start + limit_s - time.monotonic()
                if left_s <= 0:
                    raise awaited.late(rank, limit_s, lacking, self._members)
                self._changed.wait(min(left_s, _CHECK_EVERY_S))
                for silent in self._members.find_silent():
                    self._drop(silent)
            self._shard.check_moved(clocks)
            return self._inbox.receipt(rank)

    def values(
        self, keys: Sequence[Key], copied: Callable[[dict[Key, Array]], Any] = deepcopy
    ) -> tuple[tuple[int, ...], Any]:
        """The numbers of the last rounds of keys, and what `copied` makes of the memory of their values."""
        with self._changed:
            return self.versions(keys), copied(self._shard.views(keys))

    def versions(self, keys: Sequence[Key]) -> tuple[int, ...]:
        """The numbers of the last rounds of keys."""
        with self._changed:
            return tuple(self._rounds[key].done for key in keys)

    def counts(self, rank: int) -> dict[Key, int]:
        """Last round of each key that has a push of a worker, or needs none of it any more."""
        with self._changed:
            return {key: rounds.count(rank) for key, rounds in self._rounds.items()}

    def notes(self) -> dict[int, int]:
        """The last note of each worker."""
        with self._changed:
            return dict(self._inbox.notes)

    def entries(self, keys: Sequence[Key]) -> dict[Key, tuple[Array, KeyRounds]]:
        """Copies of keys' values and rounds, for ("move", ...) to another server, before any further push."""
        with self._changed:
            return {key: (value.copy(), self._rounds[key]) for key, value in self._shard.views(keys).items()}

    def check_shapes(self, rank: int, expected: Mapping[Key, tuple[Extent, str]]) -> None:
        """Compare a worker's keys, with shapes and types, with those of rank 0.

        Raises:
            RoundMismatchError: They differ.
        """
        with self._changed:
            self._shard.check(rank, expected)

    def beat(self, rank: int) -> list[int]:
        """Note that a worker lives; return the lost ones."""
        with self._changed:
            self._members.hear(rank)
            return sorted(self._members.lost)

    def lose(self, rank: int, why: str) -> None:
        """Note that a worker has ended before it was done."""
        with self._changed:
            self._members.lose(rank, why)
            self._drop(rank)

    def leave(self, rank: int) -> bool:
        """Note that a worker has finished and sends nothing again; return whether that ends the job."""
        with self._changed:
            self._members.leave(rank)
            self._drop(rank)
            if not (self._members.is_over or self._inbox.is_durable(rank)):
                self._keep()
            return self._members.is_over

    def states(self, dump_optimizer: bool) -> bytes:
        """The optimizer's states."""
        with self._changed:
            return self._shard.states(dump_optimizer)

    def state(self) -> dict[str, Any]:
        """State of the server, for `pictures.to_bytes` before any other change."""
        return {
            "shard": self._shard.state(),
            "rounds": {key: rounds.state() for key, rounds in self._rounds.items()},
            "inbox": self._inbox.state(),
            "members": self._members.state(),
        }

    def restore(self, state: Mapping[str, Any], code: Any = None) -> None:
        """Take over what `state` gave; `code` is the function or optimizer that the state cannot hold."""
        with self._changed:
            self._shard.restore(state["shard"], code)
            self._rounds = {key: KeyRounds.restored(one) for key, one in state["rounds"].items()}
            self._inbox.restore(state["inbox"])
            self._members.restore(state["members"], self._inbox.ranks)

    def _take_in(self, rank: int, what: str, value: Any = None, more: Any = None) -> None:
        if what == "push":
            for packet in value:
                self._take_packet(rank, packet)
            rounds = self._settings.snapshot_every * self._settings.num_workers
            if self._bytes_since_write >= rounds * self._shard.num_bytes:
                self._keep()
        elif what == "barrier":
            self._inbox.barriers[rank] = max(self._inbox.barriers[rank], value)
        elif what == "note":
            self._inbox.notes[rank] = value
        elif what == "enter":
            self._members.arriving.discard(rank)
            self._keep()
        else:
            self._was_configured = True
            self._configure(rank, what, value, more)

    def _configure(self, rank: int, what: str, value: Any, more: Any) -> None:
        if what == "init":
            self._shard.put(value, more)
            self._rounds |= {key: KeyRounds() for key in value}
        elif what == "move":
            self._shard.put(value)
            self._rounds |= more
        elif what == "drop":
            self._shard.drop(value)
            self._rounds = {key: rounds for key, rounds in self._rounds.items() if key not in value}
        else:
            self._inbox.configured[rank] += 1
            set_it = {"optimizer": self._shard.set_optimizer, "updater": self._shard.set_updater}
            set_it.get(what, self._shard.load_states)(value)

    def _take_packet(self, rank: int, packet: Packet) -> None:
        if self._is_async and not self._shard.has_updater:
            raise ArgumentError("push: an asynchronous store needs set_optimizer first")
        self._bytes_since_write += packet.payload.nbytes
        for piece, values in packet.parts():
            rounds = self._rounds[piece.key]
            if self._is_async:
                rounds.add(rank, values)
                self._shard.move(piece.key, rounds.take_one(rank))
            elif packet.is_after(rounds.count(rank), piece.key):
                rounds.add(rank, values)
                self._complete(piece.key)

    def _complete(self, key: Key) -> None:
        while (total := self._rounds[key].take_round(self._members.expected)) is not None:
            self._shard.move(key, total)

    def _keep(self) -> None:
        self._bytes_since_write = 0
        self._was_configured = False
        if self._write is not None:
            self._write(self.state())
            self._inbox.outlast()

    def _drop(self, rank: int) -> None:
        if self._shrinks:
            for key, rounds in self._rounds.items():
                rounds.forget(rank)
                self._complete(key)
        self._changed.notify_all()

    def _take_back(self, rank: int) -> None:
        """Let another process take over a rank."""
        self._members.check_may_return(rank)
        self.lose(rank, "was replaced")
        self._members.come_back(rank, is_arriving=self._shrinks)

    @property
    def _shrinks(self) -> bool:
        """True if rounds go on without a lost worker."""
        return self._settings.on_loss == "shrink" and not self._is_async
