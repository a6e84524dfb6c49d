"""Engines of every kind, each stopped at the end of its test."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from operad.engine import Engine, NaiveEngine, ThreadedEngine

MakeEngine = Callable[[str], Engine]

KINDS = ("naive", "threaded-1", "threaded-2", "threaded-4")


@pytest.fixture
def make_engine() -> Iterator[MakeEngine]:
    made: list[Engine] = []

    def make(kind: str) -> Engine:
        name, _, workers = kind.partition("-")
        made.append(NaiveEngine() if name == "naive" else ThreadedEngine(int(workers)))
        return made[-1]

    yield make
    for engine in made:
        engine.stop()


@pytest.fixture(params=KINDS)
def engine(request: pytest.FixtureRequest, make_engine: MakeEngine) -> Engine:
    return make_engine(request.param)
