"""The cause of an exception: the author's code, or the harness itself.

The innermost frame decides, but for those of NumPy and the standard library, which are called by whoever
is outside of them. A library under test, such as PyTorch, has the place of an author. A function in C has no
frame, so that what it raises comes out of the frame that calls it: `call_of_author` is a frame for that.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from operad.errors import OperadError
from operad_sdk.errors import call_declared

LIBRARIES: Final = frozenset(
    (
        *("operad", "operad_sdk", "operad_check", "operad_check_torch", "operad_check_jax", "hypothesis"),
        *("numpy", "scipy", "numba", "llvmlite", "torch", "jax", "jaxlib"),
    )
)
"""Packages whose code is no author's; nor is the standard library's."""


def is_library(module: str) -> bool:
    """Return whether a module belongs to a library, and not to an operator's author."""
    package = module.partition(".")[0]
    return package in LIBRARIES or package in sys.stdlib_module_names


_HARNESS: Final = ("operad_check.", "operad_check_")
_IN_PLACE_OF_AUTHORS: Final = "operad_check.mutations."
"""Modules of the harness with operators that are wrong on purpose."""
_CALLED_BY_ANYBODY: Final = frozenset(("numpy", "scipy", "hypothesis"))


class Meant:
    """Mark of exceptions by which the harness says something of an operator, or tests it."""


def call_of_author(function: Callable[..., Any], *args: Any) -> Any:
    """Call an author's function, which may be one in C: what it raises is the author's."""
    return function(*args)


def is_own(error: BaseException, outside: int = 0) -> bool:
    """Return whether the harness's own code raised an exception, and meant nothing by it.

    It means something by each `OperadError`, which says what an operator or a function does wrong.

    Args:
        outside: Number of frames from the one that caught the exception on that call an author's code
            themselves.
    """
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)][outside:]
    names = [(str(frame.f_globals.get("__name__", "")), frame.f_code) for frame in frames]
    while names and _is_called_by_anybody(names[-1][0]):
        names.pop()
    if not names or isinstance(error, OperadError | Meant):
        return False
    module, code = names[-1]
    is_authors = module.startswith(_IN_PLACE_OF_AUTHORS) or code is call_of_author.__code__
    return module.startswith(_HARNESS) and not is_authors


def _is_called_by_anybody(module: str) -> bool:
    package = module.partition(".")[0]
    return package in _CALLED_BY_ANYBODY or package in sys.stdlib_module_names


def authors_line(error: BaseException) -> str | None:
    """File and line of the author's code that raised, or called code that did; None if there is none.

    Of a declared function without a frame, such as one that does not take these arguments, the first line.
    """
    found = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        if frame.f_code is call_declared.__code__:
            code = getattr(frame.f_locals["function"], "__code__", None)
            found = found if code is None else f"{Path(code.co_filename).name}:{code.co_firstlineno}"
        elif not is_library(str(frame.f_globals.get("__name__", ""))):
            found = f"{Path(frame.f_code.co_filename).name}:{line}"
    return found


def last_line(error: BaseException) -> str:
    """File and line where the exception was raised, in any code."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "an unknown line"


def trace_of(error: BaseException) -> str:
    """The traceback, with the exceptions that it comes from."""
    return "".join(traceback.format_exception(error)).rstrip()
