"""Settings that a test may change."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from operad import config


@pytest.fixture
def setting(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], None]]:
    def put(name: str, value: str) -> None:
        monkeypatch.setenv(name, value)
        config.reload()

    yield put
    monkeypatch.undo()
    config.reload()
