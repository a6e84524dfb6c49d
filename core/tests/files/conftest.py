"""Limits that a test may set."""

from __future__ import annotations

import pytest

from operad import config


@pytest.fixture
def limit(monkeypatch):
    """`limit(max_file_bytes=10)` sets limits for one test."""

    def set_to(**limits):
        for name, value in limits.items():
            monkeypatch.setenv(f"OPERAD_{name.upper()}", str(value))
        config.reload()

    yield set_to
    monkeypatch.undo()
    config.reload()
