"""What these tests share with the core's: operators, so that they need those of no plugin, and engines."""

from __future__ import annotations

from core.tests.conftest import each_engine, operators, two_threads  # noqa: F401 - fixtures
