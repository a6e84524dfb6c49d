"""Libraries whose functions can be checked: entry points of the group `operad.check_backends`."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Final

from operad.errors import ArgumentError
from operad_check.foreign.backend import Backend
from operad_check.foreign.function import named
from operad_check.foreign.numpy_backend import NumpyBackend

GROUP: Final = "operad.check_backends"
OURS: Final = {"jax": "operad-check-jax", "numpy": "operad-sdk", "torch": "operad-check-torch"}
"""Packages of this project that provide a library, by its name."""


def names() -> list[str]:
    """Names of the libraries that are installed, and of those that a package of this project would bring."""
    return sorted({*OURS, *(point.name for point in entry_points(group=GROUP))})


def backend_named(name: str) -> Backend:
    """The library of that name.

    Raises:
        ArgumentError: No package provides it, or the library itself is not installed.
    """
    found = [point for point in entry_points(group=GROUP) if point.name == name]
    if not found:
        known = ", ".join(names())
        hint = f"pip install {OURS[name]}" if name in OURS else f"expected one of {known}"
        raise ArgumentError(f"check: no installed package checks functions of {name!r}; {hint}")
    (point, *_) = found
    try:
        backend = point.load()
    except ImportError as error:
        raise ArgumentError(
            f"check: functions of {name!r} need the library: {error}; pip install {name}"
        ) from error
    made: Backend = backend()
    return made


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
