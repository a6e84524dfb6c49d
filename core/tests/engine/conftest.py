"""Engines for the tests: each kind, each started fresh and stopped at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from operad.engine import Engine, NaiveEngine, ThreadedEngine, current

_MAKERS: dict[str, Callable[[], Engine]] = {
    "naive": NaiveEngine,
    "threaded-1": lambda: ThreadedEngine(1),
    "threaded-2": lambda: ThreadedEngine(2),
    "threaded-4": lambda: ThreadedEngine(4),
}


@pytest.fixture(params=_MAKERS)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    made = _MAKERS[request.param]()
    yield made
    made.stop()


@pytest.fixture
def threaded() -> Iterator[ThreadedEngine]:
    made = ThreadedEngine(4)
    yield made
    made.stop()


@pytest.fixture
def single() -> Iterator[ThreadedEngine]:
    made = ThreadedEngine(1)
    yield made
    made.stop()


@pytest.fixture
def naive() -> Iterator[NaiveEngine]:
    made = NaiveEngine()
    yield made
    made.stop()


@pytest.fixture
def own_engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Leave the process's engine as it was."""
    before = current._engine
    monkeypatch.setattr(current, "_engine", None)
    monkeypatch.setattr(current, "_last", None)
    monkeypatch.setattr(current, "hot_lock", None)
    yield
    if current._engine is not None and current._engine is not before:
        current._engine.stop()
