from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from core.tests.engine.stepped import stepped  # noqa: F401 - a fixture
from tests.integration.environments import CleanEnvironment, build_wheels


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheel of every distribution, by name."""
    return build_wheels(tmp_path_factory.mktemp("wheelhouse"))


@pytest.fixture
def make_environment(tmp_path: Path, wheels: dict[str, Path]) -> Callable[..., CleanEnvironment]:
    """Makes a clean environment that holds the named distributions of the workspace."""

    def make(*names: str) -> CleanEnvironment:
        wheelhouse = next(iter(wheels.values())).parent
        environment = CleanEnvironment(tmp_path / "environment", wheelhouse)
        environment.install(*names)
        return environment

    return make


@pytest.fixture
def eager_to_recompute(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mode `free` that takes all it can get, in graphs of any size."""
    module = pytest.importorskip("operad_recompute.free")
    monkeypatch.setattr(module, "WORTH_BYTES", 0)
    monkeypatch.setattr(module, "WORTH_SHARE", 0.0)
    monkeypatch.setattr(module, "FREE_SHARE", 10.0)
