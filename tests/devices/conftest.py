"""A GPU, or a stand-in for one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.devices.device import device


@pytest.fixture(scope="module")
def gpu() -> Iterator[None]:
    """`od.gpu(0)` is there."""
    with device():
        yield
