"""Operators that the core's tests have."""

from __future__ import annotations

from core.tests.conftest import operators  # noqa: F401 - a fixture
