"""Members: which workers live, by what was last heard of each."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import final


@final
class Members:
    """The workers of a store.

    Args:
        num_workers: How many there are at the start.
        silence_s: Who was heard of once, and then not for so many seconds, is lost.
        now: A clock, in seconds.

    Attributes:
        lost: Why, by rank.
    """

    def __init__(self, num_workers: int, silence_s: float, now: Callable[[], float] = time.monotonic) -> None:
        self.num_workers = num_workers
        self._silence_s, self._now = silence_s, now
        self._heard: dict[int, float] = {}
        self.lost: dict[int, str] = {}

    def hear(self, rank: int) -> None:
        """A worker lives. One that is lost stays lost."""
        self._heard[rank] = self._now()

    def lose(self, rank: int, why: str) -> None:
        """A worker has ended; the first reason stays."""
        self.lost.setdefault(rank, why)

    def find_silent(self) -> list[int]:
        """Those that are lost from now on because they were not heard of."""
        limit = self._now() - self._silence_s
        silent = [rank for rank, at in self._heard.items() if at < limit and rank not in self.lost]
        for rank in silent:
            self.lose(rank, f"was not heard of for {self._silence_s:g} s")
        return silent

    @property
    def live(self) -> list[int]:
        """The others, those included that have not been heard of yet."""
        return [rank for rank in range(self.num_workers) if rank not in self.lost]
