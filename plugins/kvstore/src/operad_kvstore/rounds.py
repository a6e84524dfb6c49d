"""Rounds: when what workers pushed under a key is complete.

A synchronous round takes one push of each live worker, in the order of each worker's pushes. So a worker that
pushes twice takes part in two rounds and completes neither alone, and the sum adds in the order of ranks,
whoever came first: the same numbers give the same bits.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, final

import numpy as np

from operad_kvstore.buckets import Piece
from operad_kvstore.packets import Array

_WHOLE: Final = 0


@final
class KeyRounds:
    """What was pushed under one key and belongs to no complete round yet.

    Attributes:
        done: How many rounds are complete.
    """

    def __init__(self, num_elements: int, dtype: np.dtype[np.generic]) -> None:
        self._num_elements, self._dtype = num_elements, dtype
        self._whole: dict[int, deque[Array]] = {}
        self._begun: dict[int, tuple[Array, int]] = {}
        self.done = 0

    def add(self, rank: int, piece: Piece, values: Array) -> bool:
        """Take in a part of a worker's push; whether it is the last part.

        Parts come in order. `values` is kept if it is all of the array, and copied else.
        """
        if piece.stop - piece.start == self._num_elements:
            self._whole.setdefault(rank, deque()).append(values)
            return True
        if piece.start == 0:
            self._begun[rank] = np.empty(self._num_elements, self._dtype), _WHOLE
        array, _ = self._begun[rank]
        array[piece.start : piece.stop] = values
        if piece.stop < self._num_elements:
            return False
        del self._begun[rank]
        self._whole.setdefault(rank, deque()).append(array)
        return True

    def take_round(self, ranks: Collection[int]) -> Array | None:
        """The sum of one push of each rank, and the round is done; None where one has not pushed."""
        if not ranks or any(not self._whole.get(rank) for rank in ranks):
            return None
        pushed = [self._whole[rank].popleft() for rank in sorted(ranks)]
        self.done += 1
        total = pushed[0]
        if len(pushed) > 1:
            total = pushed[0] + pushed[1]
            for values in pushed[2:]:
                total += values
        return total

    def take_one(self, rank: int) -> Array:
        """What a rank pushed first."""
        self.done += 1
        return self._whole[rank].popleft()

    def count(self, rank: int) -> int:
        """The number of the last round that has, or will have, a push of a rank that is here."""
        return self.done + len(self._whole.get(rank, ()))

    def lacking(self, ranks: Collection[int], clock: int) -> list[int]:
        """Of some ranks, those without whom round `clock` cannot be complete."""
        if self.done >= clock:
            return []
        return [rank for rank in sorted(ranks) if self.count(rank) < clock]

    def forget(self, rank: int) -> None:
        """Drop what a lost worker pushed."""
        self._whole.pop(rank, None)
        self.forget_part(rank)

    def forget_part(self, rank: int) -> None:
        """Drop a push of which the last part has not come."""
        self._begun.pop(rank, None)

    def state(self) -> dict[str, Any]:
        """All of it, for `restored`."""
        whole = {rank: list(queue) for rank, queue in self._whole.items()}
        size = self._num_elements, self._dtype.name
        return {"size": size, "whole": whole, "begun": self._begun, "done": self.done}

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> KeyRounds:
        """The rounds that `state` was asked of."""
        size, dtype = state["size"]
        made = cls(size, np.dtype(dtype))
        made._whole = {rank: deque(arrays) for rank, arrays in state["whole"].items()}
        made._begun, made.done = dict(state["begun"]), state["done"]
        return made

    @classmethod
    def joined(cls, parts: Sequence[KeyRounds]) -> KeyRounds:
        """The rounds of a key whose array was spread, of which all parts are at the same round."""
        whole = cls(sum(part._num_elements for part in parts), parts[0]._dtype)
        whole.done = parts[0].done
        for rank, queue in parts[0]._whole.items():
            queues = [queue, *(part._whole[rank] for part in parts[1:])]
            whole._whole[rank] = deque(map(np.concatenate, zip(*queues, strict=True)))
        return whole
