"""Limits that a test may set, as in the core's tests."""

from core.tests.files.conftest import limit  # noqa: F401 - a fixture
