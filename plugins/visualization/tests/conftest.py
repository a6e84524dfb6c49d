"""Operators and engines that the core's tests have."""

from __future__ import annotations

from core.tests.conftest import operators, two_threads  # noqa: F401 - fixtures
