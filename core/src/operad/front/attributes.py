"""Attributes that plugins add to modules and classes which stand below the registry."""

from __future__ import annotations

from typing import Any

from operad.first_use import import_module


def added(owner: str, name: str) -> Any:
    """See `registry.get_attribute`, which is imported when a name is asked for: `import operad` stays light.

    Args:
        owner: A module's name without `operad.`, or a class's.
        name: The attribute.

    Raises:
        AttributeError: No installed plugin adds it. Names such as `__path__` are Python's own.
    """
    # Before the registry is imported: importing a module asks for some.
    if name.startswith("__") and name != "__all__":
        raise AttributeError(f"'operad.{owner}' has no attribute {name!r}")
    return import_module("operad.registry").get_attribute(owner, name)
