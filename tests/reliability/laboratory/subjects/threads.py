"""Subjects that start a thread, hand it work and wait for it."""

from __future__ import annotations

import itertools

from operad_iterators.read_ahead import ReadAhead
from operad_kvstore.courier import Courier
from tests.reliability.laboratory.subjects.subject import Subject, comes, require
from tests.reliability.laboratory.trials import BROKEN


class Ask(Subject):
    """A job for the thread of a store, one whose result is waited for, and a look at whether all ended."""

    def __init__(self) -> None:
        self.courier = Courier("laboratory")
        self.ran: list[int] = []

    def act(self) -> None:
        self.courier.send(lambda: self.ran.append(1))
        self.courier.ask(lambda: self.ran.append(2))
        self.courier.is_idle(10.0)

    def check(self, hit: BaseException | None) -> None:
        answered: list[object] = []
        self.courier.send(lambda: answered.append(1))
        require(comes(lambda: answered), "the thread does no further job", BROKEN)
        require(self.ran in ([], [1], [1, 2]), f"jobs ran {self.ran}")
        require(hit is not None or self.ran == [1, 2], f"jobs ran {self.ran}")
        self.ran.clear()


class NewCourier(Ask):
    """The same with a thread that is started for it."""

    def act(self) -> None:
        self.courier = Courier("laboratory")
        super().act()


class TakeAhead(Subject):
    """Three items of a thread that makes them ahead; after an interruption the pass goes on, or ends."""

    def __init__(self) -> None:
        self.items = ReadAhead(itertools.count().__next__, 1, "laboratory")
        self.last = -1

    def act(self) -> None:
        for _ in range(3):
            self.last = self.items.take()

    def check(self, hit: BaseException | None) -> None:
        before = self.last
        self.last = self.items.take()
        # An item that was taken and not stored is the interrupted call's.
        require(self.last - before in ((1,) if hit is None else (1, 2)), f"{self.last} follows {before}")


class StopAhead(TakeAhead):
    """A pass that is begun, read from and ended."""

    def act(self) -> None:
        self.items = ReadAhead(itertools.count().__next__, 1, "laboratory")
        self.last = -1
        super().act()
        self.items.stop()

    def check(self, hit: BaseException | None) -> None:
        self.items.stop()
