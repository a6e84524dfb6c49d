"""Members of a store: the workers that live, by the time of their last message."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, final

from operad_kvstore.errors import WorkerLostError


@final
class Members:
    """The workers of a store.

    Args:
        num_workers: How many there are at the start.
        silence_s: Who was heard of once, and then not for so many seconds, is lost.
        on_loss: `raise`, `shrink` or `wait`; see `StoreSettings`.
        now: A clock, in seconds.

    Attributes:
        lost: Why, by rank.
        finished: Those of the lost that took leave; no other process will have their rank.
        arriving: Those that came back, and do not take part in rounds yet.
    """

    def __init__(
        self,
        num_workers: int,
        silence_s: float,
        on_loss: str = "raise",
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.num_workers, self._on_loss = num_workers, on_loss
        self._silence_s, self._now = silence_s, now
        self._heard: dict[int, float] = {}
        self.lost: dict[int, str] = {}
        self.finished: set[int] = set()
        self.arriving: set[int] = set()

    def hear(self, rank: int) -> None:
        """Note that a worker lives; a lost worker stays lost, see `come_back`."""
        self._heard[rank] = self._now()

    def lose(self, rank: int, why: str) -> None:
        """Note that a worker has ended; the first reason stays."""
        self.lost.setdefault(rank, why)
        self.arriving.discard(rank)

    def leave(self, rank: int) -> None:
        """Note that a worker has finished its part."""
        if rank not in self.lost:
            self.lose(rank, "has finished")
            self.finished.add(rank)

    def speak(self, rank: int) -> None:
        """Note a request of a worker; a lost one that was only silent is back if the policy is to wait.

        Raises:
            WorkerLostError: It is lost, and the others go on without it.
        """
        if rank in self.lost:
            if self._on_loss != "wait":
                why = f"it {self.lost[rank]}"
                raise WorkerLostError(f"rank {rank} was given up: {why}; start the job again", [rank])
            self.come_back(rank, is_arriving=False)
        self.hear(rank)

    def check_may_return(self, rank: int) -> None:
        """Pass if another process may take over a rank.

        Raises:
            WorkerLostError: Settings do not let it.
        """
        if self._on_loss == "raise":
            raise WorkerLostError(
                f"rank {rank} has ended and cannot come back; set OPERAD_KV_ON_LOSS to 'wait' or 'shrink' "
                "before the job starts, or start the whole job again",
                [rank],
            )

    def come_back(self, rank: int, *, is_arriving: bool) -> None:
        """Note that a lost rank has a worker again; rounds need it unless it is only arriving."""
        self.lost.pop(rank, None)
        self.finished.discard(rank)
        if is_arriving:
            self.arriving.add(rank)
        self.hear(rank)

    @property
    def gone(self) -> Collection[int]:
        """Lost ranks for which no round waits."""
        return self.finished if self._on_loss == "wait" else self.lost.keys()

    def find_silent(self) -> list[int]:
        """Ranks that are lost from now on, since they sent nothing for too long."""
        limit = self._now() - self._silence_s
        silent = [rank for rank, at in self._heard.items() if at < limit and rank not in self.lost]
        for rank in silent:
            self.lose(rank, f"was not heard of for {self._silence_s:g} s")
        return silent

    @property
    def present(self) -> list[int]:
        """Ranks that are not lost; they include those that have sent nothing yet."""
        return [rank for rank in range(self.num_workers) if rank not in self.lost]

    @property
    def is_over(self) -> bool:
        """True if no worker is left and none may come back."""
        return not self.present and (self._on_loss != "wait" or len(self.finished) == self.num_workers)

    @property
    def expected(self) -> list[int]:
        """Ranks that a round needs: all, or those that take part if the others go on without lost ones."""
        if self._on_loss != "shrink":
            return list(range(self.num_workers))
        return [rank for rank in self.present if rank not in self.arriving]

    def state(self) -> dict[str, Any]:
        """State for `restore`: the ranks that are lost, finished and arriving."""
        return {"lost": self.lost, "finished": [*self.finished], "arriving": [*self.arriving]}

    def restore(self, state: Mapping[str, Any], ranks: Iterable[int]) -> None:
        """Take over what `state` gave, and note that some ranks live."""
        self.lost = dict(state["lost"])
        self.finished, self.arriving = set(state["finished"]), set(state["arriving"])
        for rank in ranks:
            self.hear(rank)
