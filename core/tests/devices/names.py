"""Comparison of the stand-in for CuPy, and of what operad's sources use, with a CuPy that can be imported.

It needs no device: CuPy's wheels are imported without one. `python -m core.tests.devices.names` prints a
line for each difference from the CuPy that `import cupy` finds.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache, reduce
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Final

from core.tests.devices import stand_in, streams
from core.tests.devices.arrays import Array
from core.tests.devices.functions import DRAWS, FUNCTIONS, METHODS, UFUNCS

ROOT: Final = Path(__file__).parents[3]
WRITTEN_DOWN: Final = "13.6"
"""The version whose arguments `functions` has; later ones may have more of them."""

_OF_TESTS: Final = (
    "COUNT",
    "begin",
    "come_to",
    "complete",
    "end",
    "held",
    "is_late",
    "is_over",
    "late",
    "work",
)
"""Attributes by which a test holds streams up."""
_IN_DOCUMENTATION: Final = re.compile(r"[\w.]+\((?P<parameters>.*)\)(?: ->.*)?")
_USED: Final = re.compile(r"\b(?:cupy|xp)\.(?P<name>[A-Za-z_][\w.]*)")


def parameters_of(function: Any) -> tuple[str, ...] | None:
    """Names of a function's arguments, also of one in Cython, whose documentation begins with them.

    None where neither tells.
    """
    try:
        names = [*inspect.signature(function).parameters]
    except (TypeError, ValueError):
        found = _IN_DOCUMENTATION.fullmatch((inspect.getdoc(function) or "").partition("\n")[0])
        if found is None:
            return None
        listed = [part.partition("=")[0].split() for part in found["parameters"].split(",")]
        names = [words[-1].strip("*") for words in listed if words]
    return tuple(name for name in names if name != "self")


def differences(cupy: ModuleType) -> list[str]:
    """What the stand-in offers and `cupy` does not, or takes otherwise; and what sources use in vain."""
    is_exact = cupy.__version__.startswith(WRITTEN_DOWN)
    return [
        *(f"no {name}" for name in _missing(cupy)),
        *_otherwise(cupy, FUNCTIONS, is_exact),
        *_otherwise(cupy.ndarray, METHODS, is_exact),
        *_otherwise(cupy.random.Generator, DRAWS, is_exact),
    ]


def _missing(cupy: ModuleType) -> Iterator[str]:
    names = [*UFUNCS, *_offered(stand_in.module()), *used()]
    names += [f"ndarray.{name}" for name in vars(Array) if _is_public(name)]
    for theirs in ("Stream", "Event", "Device"):
        names += [f"cuda.{theirs}.{name}" for name in dir(getattr(streams, theirs)) if _is_public(name)]
    for name in sorted({*names}):
        if name == "cuda.Device.id":
            continue  # set by its constructor
        try:
            reduce(getattr, name.split("."), cupy)
        except AttributeError:
            yield name


def _is_public(name: str) -> bool:
    return not name.startswith("_") and name not in _OF_TESTS


def _offered(module: ModuleType | SimpleNamespace, prefix: str = "") -> Iterator[str]:
    """Names of a module, and of those within it."""
    for name, value in vars(module).items():
        if _is_public(name):
            yield prefix + name
            if isinstance(value, SimpleNamespace):
                yield from _offered(value, f"{prefix}{name}.")


@cache
def used() -> set[str]:
    """Names behind `xp.` and `cupy.` in the sources of all distributions."""
    places = ("core/src", "operator_sdk/*/src", "plugins/*/src", "contrib_ops/*/src")
    sources = [file for place in places for folder in ROOT.glob(place) for file in folder.rglob("*.py")]
    return {found["name"] for file in sources for found in _USED.finditer(file.read_text(encoding="utf-8"))}


def _otherwise(where: Any, table: Mapping[str, tuple[str, ...]], is_exact: bool) -> Iterator[str]:
    """Functions of `table` whose arguments are not those that stand there."""
    for name, row in table.items():
        ours = tuple(word.strip("*") for word in row)
        try:
            theirs = parameters_of(reduce(getattr, name.split("."), where))
        except AttributeError:
            yield f"no {where.__name__}.{name}"
            continue
        if theirs is None or (theirs if is_exact else theirs[: len(ours)]) != ours:
            yield f"{where.__name__}.{name}({', '.join(theirs or ['?'])}), not ({', '.join(ours)})"


if __name__ == "__main__":
    import cupy

    found = differences(cupy)
    head = f"CuPy {cupy.__version__}: {len(used())} names of the sources, {len(found)} differences"
    sys.stdout.write("\n".join([head, *found, ""]))
    sys.exit(bool(found))
