"""What the core's tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from core.tests.operators import installed
from operad import engine


@pytest.fixture(scope="module")
def operators() -> Iterator[None]:
    """The operators of `core.tests.operators` are installed while a module's tests run."""
    with installed():
        yield


@pytest.fixture(params=["threaded", "naive"])
def each_engine(request: pytest.FixtureRequest) -> Iterator[str]:
    """The test runs on every engine."""
    engine.set(request.param)
    yield request.param
    engine.set("threaded")
