"""Events at a server that a worker waits for: rounds of keys, or a barrier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, final

from operad_kvstore.errors import StoreTimeoutError, WorkerLostError
from operad_kvstore.keys import Key
from operad_kvstore.members import Members
from operad_kvstore.rounds import KeyRounds


@final
class Awaited(NamedTuple):
    """Rounds or a barrier, which all workers take part in.

    Attributes:
        clocks: The number of the round by key.
        barrier: How often all must have called a barrier.
    """

    clocks: Mapping[Key, int]
    barrier: int = 0

    def lacking(
        self, ranks: Sequence[int], barriers: Mapping[int, int], rounds: Mapping[Key, KeyRounds]
    ) -> list[int]:
        """Ranks out of `ranks` that the event still needs.

        Args:
            ranks: Those that take part.
            barriers: How many barriers each has called.
            rounds: Of each key; empty where pushes make no rounds.
        """
        found = {rank for rank in ranks if barriers[rank] < self.barrier}
        if rounds:
            for key, clock in self.clocks.items():
                found.update(rounds[key].lacking(ranks, clock))
        return sorted(found)

    def check_lost(self, lacking: Sequence[int], members: Members) -> None:
        """Pass where those that lack may still do their part.

        Raises:
            WorkerLostError: One is lost and does not come back.
        """
        lost = [rank for rank in lacking if rank in members.gone]
        if lost:
            why = "; ".join(f"rank {rank} {members.lost[rank]}" for rank in lost)
            raise WorkerLostError(f"{why}; lost in {self}", lost)

    def late(self, rank: int, limit_s: float, lacking: Sequence[int], members: Members) -> StoreTimeoutError:
        """The error of a worker that has waited for too long."""
        names = f"rank{'s' if len(lacking) > 1 else ''} {', '.join(map(str, lacking))}"
        lost = "".join(
            f"; rank {one} {members.lost[one]} and has not come back"
            for one in lacking
            if one in members.lost
        )
        return StoreTimeoutError(f"rank {rank} waited {limit_s:g} s for {names} in {self}{lost}", lacking)

    def __str__(self) -> str:
        """Name of the event, for messages."""
        if self.barrier:
            return f"barrier {self.barrier}"
        key, clock = next(iter(self.clocks.items()))
        more = f" and {len(self.clocks) - 1} more keys" if len(self.clocks) > 1 else ""
        return f"round {clock} of key {key!r}{more}"
