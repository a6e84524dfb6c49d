"""Imports of the harness's modules by the paths they had before it got rooms: a warning until 0.4.

`operad_sdk.check.runner` is the module `operad_sdk.check.running.runner` itself and no second one, so classes
stay the same whichever path they came by.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from importlib import import_module
from importlib.machinery import ModuleSpec
from typing import Any, Final

from operad.front import spec_of

_ROOT: Final = "operad_sdk.check."

_ROOMS: Final = {
    "cases": "backend kinds params plan.goal plan.values retype shapes strategies",
    "comparison": (
        "bitwise closeness flat numeric_derivative one_sided point reference rounding sample_points"
    ),
    "mutations": "faults.backward faults.declared faults.every faults.fault faults.forward mutant",
    "plan": "profile",
    "reporting": "advice diagnosis html outcome report",
    "running": "example plain_function register repro runner session shrink shrink_arrays suite",
    "trials": (
        "branches case cause fresh_copy interrupt kernels mapper_calls resources returned runs subject trial "
        "violation"
    ),
}
"""The old modules of each room, without the root."""


def _table() -> Iterator[tuple[str, str]]:
    yield f"{_ROOT}faults", f"{_ROOT}mutations"
    for room, names in _ROOMS.items():
        for name in names.split():
            yield f"{_ROOT}{name}", f"{_ROOT}{room}.{name.rpartition('.')[2]}"


NEW_PATHS: Final = dict(_table())
"""The module that each old path leads to."""


class _OldPaths:
    """Finder of modules by their old paths; asked first, or `faults` is looked for among the mutations."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Spec of the module at its new path, after a warning; None for every other name."""
        new = NEW_PATHS.get(name)
        if new is None:
            return None
        warnings.warn(
            f"{name} is {new} since operad 0.3; the old path ends with 0.4",
            DeprecationWarning,
            stacklevel=2,  # Python leaves the frames of the import itself out
        )
        return spec_of(name, import_module(new))


sys.meta_path.insert(0, _OldPaths)
