from __future__ import annotations

from collections.abc import Iterator
from threading import Event, Thread
from typing import Any

import pytest

from operad.device import cpu
from operad.engine import Engine, NaiveEngine, ThreadedEngine
from operad.engine.budget import ThreadBudget


@pytest.fixture(params=[NaiveEngine, ThreadedEngine])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    made = request.param(num_threads=3)
    yield made
    made.stop()


def limits(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What the BLAS libraries are told from now on."""
    told: list[int] = []
    monkeypatch.setattr("operad.engine.budget._blas_pools", lambda: {"blas": (told.append, 8)})
    return told


def test_a_light_operation_gets_one_blas_thread_and_the_share_comes_back(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = limits(engine, monkeypatch)
    seen: list[int] = []
    engine.push_sync(lambda _: seen.append(told[-1]), cpu(), is_parallel=False)
    engine.wait_for_all()
    engine.stop()
    assert seen == [1]
    assert told[-1] != 1


def test_an_operation_may_change_its_mind_while_it_runs(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = limits(engine, monkeypatch)
    seen: list[int] = []

    def work(_: object) -> None:
        seen.append(told[-1])
        engine.use_threads(True)
        seen.append(told[-1])
        engine.use_threads(False)
        seen.append(told[-1])

    engine.push(engine.new_operator(work, is_parallel=False), cpu())
    engine.wait_for_all()
    assert seen == [1, 3, 1]


def test_the_library_is_told_only_what_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    monkeypatch.setattr("operad.engine.budget._blas_pools", lambda: {"blas": (told.append, 8)})
    budget = ThreadBudget(4)
    for is_worth in (False, False, True, True, False):
        budget.use(is_worth)
    assert told == [1, 4, 1]


def test_parts_have_one_blas_thread_whatever_other_operations_ask_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[int] = []
    monkeypatch.setattr("operad.engine.budget._blas_pools", lambda: {"blas": (told.append, 8)})
    budget, seen = ThreadBudget(4), []

    def part(number: int, slot: int) -> None:
        other = Thread(target=budget.use, args=(True,))
        other.start()
        other.join()
        budget.apply()
        seen.append(told[-1])

    budget.use(True)
    budget.parallel(part, 3, 1)
    assert seen == [1, 1, 1]
    assert told[-1] == 4


@pytest.mark.parametrize("step", range(3))
def test_parts_that_begin_while_another_thread_sets_the_limit_wait_for_it(
    step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each step of `apply`: before it knows what to say, before it says it, and after."""
    told, seen, is_set = [1], [], Event()
    budget = ThreadBudget(4)

    def part(number: int, slot: int) -> None:
        is_set.wait()
        seen.append(told[-1])

    def begin() -> None:
        budget.parallel(part, 1, 1)

    others: list[Thread] = []

    def meanwhile(now: int) -> None:
        if now == step and not others:
            others.append(Thread(target=begin))
            others[0].start()
            others[0].join(0.2)  # it waits for the lock, or is done

    class Watched(list[Any]):
        """The running operations, which `limit` counts."""

        def __len__(self) -> int:
            meanwhile(0)
            return super().__len__()

    def tell(limit: int) -> None:
        meanwhile(1)
        told.append(limit)
        meanwhile(2)

    monkeypatch.setattr("operad.engine.budget._blas_pools", lambda: {"blas": (tell, 8)})
    budget.running = Watched()
    budget.applied = 1
    budget.apply()
    is_set.set()
    others[0].join()
    assert seen == [1]
