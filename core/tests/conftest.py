"""What the core's tests share."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from core.tests.operators import installed
from core.tests.registry.conftest import set_environment, site  # noqa: F401 - fixtures
from operad import config, engine


@pytest.fixture(scope="module")
def operators() -> Iterator[None]:
    """The operators of `core.tests.operators` are installed while a module's tests run."""
    with installed():
        yield


@pytest.fixture
def setting(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], None]]:
    """`setting(name, value)` sets a variable of the environment for one test."""

    def put(name: str, value: str) -> None:
        monkeypatch.setenv(name, value)
        config.reload()

    yield put
    monkeypatch.undo()
    config.reload()


@pytest.fixture(scope="module")
def two_threads() -> Iterator[None]:
    """The process's engine has two workers while a module's tests run, whatever the run's budget is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPERAD_NUM_THREADS", "2")
        config.reload()
        engine.set("threaded")
        yield
    config.reload()
    engine.set("threaded")


@pytest.fixture(params=["threaded", "naive"])
def each_engine(request: pytest.FixtureRequest, two_threads: None) -> Iterator[str]:
    """The test runs on every engine."""
    engine.set(request.param)
    yield request.param
    engine.set("threaded")
