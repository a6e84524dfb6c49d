from __future__ import annotations

from collections.abc import Iterator

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
