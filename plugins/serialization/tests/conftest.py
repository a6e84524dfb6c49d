"""Operators of the core's tests, so that these need those of no plugin."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from core.tests.operators import installed


@pytest.fixture(scope="module")
def operators() -> Iterator[None]:
    """The operators of `core.tests.operators` are installed while a module's tests run."""
    with installed():
        yield
