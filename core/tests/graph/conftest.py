"""Plugins as pip would leave them, for passes that they bring."""

from core.tests.registry.conftest import set_environment, site  # noqa: F401 - fixtures
