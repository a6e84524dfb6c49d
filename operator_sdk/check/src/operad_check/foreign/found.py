"""Libraries whose functions can be checked: entry points of the group `operad.check_backends`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from importlib.metadata import entry_points
from typing import Final, cast

from operad import registry
from operad.errors import ArgumentError, BrokenPluginError, OperatorNotFoundError
from operad_check.foreign.backend import Backend
from operad_check.foreign.function import named
from operad_check.foreign.numpy_backend import NumpyBackend

GROUP: Final = "operad.check_backends"
OURS: Final = {"jax": "operad-check-jax", "numpy": "operad-check", "torch": "operad-check-torch"}
"""Packages of this project that provide a library, by its name."""


def names() -> list[str]:
    """Names of the libraries that are installed, and of those that a package of this project would bring."""
    return sorted({*OURS, *registry.entry_names(GROUP)})


def register_adapters() -> None:
    """Import the module `checks` of each adapter's package that has one, which registers them.

    The library itself need not be installed: such a module imports it where its functions run.
    """
    usable = registry.entry_names(GROUP)
    for point in entry_points(group=GROUP):
        if point.name not in usable:
            continue
        with suppress(Exception):  # there is none, or it is broken, which `operad doctor` tells
            import_module(f"{point.module.partition('.')[0]}.checks")


def backend_named(name: str) -> Backend:
    """The library of that name.

    Raises:
        ArgumentError: No package provides it, or the library itself is not installed.
        PluginError: What provides it cannot be used.
    """
    try:
        backend = cast("Callable[[], Backend]", registry.entry(GROUP, name))
    except OperatorNotFoundError as error:
        hint = f"pip install {OURS[name]}" if name in OURS else f"expected one of {', '.join(names())}"
        raise ArgumentError(f"check: no installed package checks functions of {name!r}; {hint}") from error
    except BrokenPluginError as error:
        if f"No module named {name!r}" not in str(error):
            raise
        raise ArgumentError(
            f"check: functions of {name!r} need the library, which is not installed; pip install {name}"
        ) from error
    return backend()


def backend_with(name: str, gradient: str = "") -> Backend:
    """The library of that name, with a gradient that is written by hand.

    Args:
        gradient: Module, or file, and name; "": the library's own.

    Raises:
        ArgumentError: As for `backend_named`; or there is no such gradient, or no use for one.
    """
    if not gradient:
        return backend_named(name)
    if name != NumpyBackend.name:
        raise ArgumentError(
            f"check: a gradient goes with functions of NumPy; {name} differentiates by itself"
        )
    return NumpyBackend(named(gradient))
