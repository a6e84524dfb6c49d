"""Rounds: the pushes of all workers under one key.

A synchronous round takes one push of each live worker, in the order of each worker's pushes. So a worker that
pushes twice takes part in two rounds and completes neither alone, and the sum adds in the order of ranks,
not of arrival: the same numbers give the same bits.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from typing import Any, final

import numpy as np

from operad_kvstore.packets import Array


@final
class KeyRounds:
    """Pushes under one key that belong to no complete round yet.

    Attributes:
        done: How many rounds are complete.
    """

    def __init__(self) -> None:
        self._pushed: dict[int, deque[Array]] = {}
        self.done = 0

    def add(self, rank: int, values: Array) -> None:
        """Take in a worker's push, and keep `values` until its round is complete."""
        self._pushed.setdefault(rank, deque()).append(values)

    def take_round(self, ranks: Collection[int]) -> Array | None:
        """Sum of one push of each rank, which ends the round; None if a rank has not pushed."""
        if not ranks or any(not self._pushed.get(rank) for rank in ranks):
            return None
        pushed = [self._pushed[rank].popleft() for rank in sorted(ranks)]
        self.done += 1
        total = pushed[0]
        if len(pushed) > 1:
            total = pushed[0] + pushed[1]
            for values in pushed[2:]:
                total += values
        return total

    def take_one(self, rank: int) -> Array:
        """Take the first push of a rank."""
        self.done += 1
        return self._pushed[rank].popleft()

    def count(self, rank: int) -> int:
        """The number of the last round that has, or will have, a push of a rank that is here."""
        return self.done + len(self._pushed.get(rank, ()))

    def lacking(self, ranks: Collection[int], clock: int) -> list[int]:
        """Ranks out of `ranks` whose push round `clock` still needs."""
        if self.done >= clock:
            return []
        return [rank for rank in sorted(ranks) if self.count(rank) < clock]

    def forget(self, rank: int) -> None:
        """Drop the pushes of a lost worker."""
        self._pushed.pop(rank, None)

    def state(self) -> dict[str, Any]:
        """State of the rounds, for `restored`."""
        return {"pushed": {rank: list(queue) for rank, queue in self._pushed.items()}, "done": self.done}

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> KeyRounds:
        """Rounds with a state that `state` gave."""
        made = cls()
        made._pushed = {rank: deque(arrays) for rank, arrays in state["pushed"].items()}
        made.done = state["done"]
        return made

    @classmethod
    def joined(cls, parts: Sequence[KeyRounds]) -> KeyRounds:
        """The rounds of a key whose array was spread, of which all parts are at the same round."""
        whole = cls()
        whole.done = parts[0].done
        for rank, queue in parts[0]._pushed.items():
            queues = [queue, *(part._pushed[rank] for part in parts[1:])]
            whole._pushed[rank] = deque(map(np.concatenate, zip(*queues, strict=True)))
        return whole
