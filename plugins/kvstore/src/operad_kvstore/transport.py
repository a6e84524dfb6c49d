"""Interface of an engine for distributed stores, which carries values between workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from operad import NDArray
from operad_kvstore.keys import Key
from operad_kvstore.packets import Array, Packet
from operad_kvstore.placement import Part


class Transport(Protocol):
    """Carries values. One thread calls it, except for `lost` and `close`; calls wait.

    Whatever waits for other workers ends after a time: with `WorkerLostError`, `ServerLostError` or
    `StoreTimeoutError`, which name ranks. An entry point `engine.<name>` in the group `operad.kvstores`
    names a function that is called with the store's type and returns one.
    """

    @property
    def rank(self) -> int:
        """The number of this worker, from 0 on."""

    @property
    def num_workers(self) -> int:
        """Number of workers at the start."""

    def place(self, key: Key, value: Array, *, may_cut: bool) -> None:
        """Choose the servers of a new key; every worker does for the same keys in the same order.

        Args:
            key: Of the value.
            value: Its shape and type count.
            may_cut: Whether its elements may be on several servers.
        """

    def parts(self, key: Key) -> Sequence[Part]:
        """Parts of a key, in the order of their elements."""

    def init(self, values: Mapping[Key, Array]) -> None:
        """Store the values of rank 0; every worker calls.

        Raises:
            RoundMismatchError: Another worker has other keys, shapes or types.
        """

    def push(self, packets: Sequence[Packet]) -> None:
        """Send packets. Each counts once, even if the way there fails in between."""

    def pull(self, clocks: Mapping[Key, int]) -> Mapping[Key, Array | NDArray]:
        """Values stored after the rounds of given numbers; a key's first push belongs to round 1.

        Arrays are whole, of the stored shape or flat. They may be what is stored, which the transport's next
        call may change: plain arrays keep their values, and others are copied by operations of the engine.

        Raises:
            UpdateFailedError: The updater failed in the key's last round.
        """

    def pushpull(self, packets: Sequence[Packet], clocks: Mapping[Key, int]) -> Mapping[Key, Array | NDArray]:
        """`push`, then `pull`, in one message where that can be."""

    def configure(self, what: str, value: Any, *, gathers: bool = False) -> None:
        """Set rank 0's `optimizer`, `updater` or `states` where values are stored; every worker calls.

        Args:
            what: One of these.
            value: Rank 0's counts.
            gathers: Bring keys together first that are on several servers.
        """

    def enter(self) -> Mapping[Key, int]:
        """Take part in rounds; called before the first push.

        Returns:
            By key how many rounds have a push of this rank already, of a process that had the rank before.
        """

    def states(self, dump_optimizer: bool, clocks: Mapping[Key, int]) -> Sequence[bytes]:
        """The optimizer's states of every server, after the rounds of given numbers."""

    def gather(self, number: int) -> Sequence[int]:
        """The numbers that the workers give, by rank; every worker calls."""

    @property
    def is_back(self) -> bool:
        """True if another process had this rank before."""

    def barrier(self) -> None:
        """Wait until every worker has called this."""

    def lost(self) -> Sequence[int]:
        """The workers that are known to have ended."""

    def close(self, *, is_idle: bool) -> None:
        """Take leave; soon, and without waiting for other workers.

        Args:
            is_idle: Whether no other call is under way, so that messages may be sent again where a server
                lacks some; once this worker has gone no process has them.
        """
