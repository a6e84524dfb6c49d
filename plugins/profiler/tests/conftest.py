"""A profiler that has recorded nothing, and each engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import operad as od
from core.tests.conftest import operators  # noqa: F401 - a fixture
from operad_profiler import recording


@pytest.fixture(autouse=True)
def trace(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "profile.json"
    od.profiler.set_config(filename=str(path), aggregate_stats=True)
    recording.forget()
    yield path
    od.profiler.stop()
    recording.forget()
    od.profiler.set_config(filename="profile.json", aggregate_stats=False, max_events=None)


@pytest.fixture(params=["threaded", "naive"])
def each_engine(request: pytest.FixtureRequest) -> Iterator[str]:
    od.engine.set(request.param)
    yield request.param
    od.engine.set("threaded")
