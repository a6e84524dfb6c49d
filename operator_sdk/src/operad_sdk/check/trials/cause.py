"""The cause of an exception: the author's code, or the harness itself."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path
from typing import Final

LIBRARIES: Final = frozenset(
    (
        *("operad", "operad_sdk", "operad_check_torch", "operad_check_jax", "hypothesis"),
        *("numpy", "scipy", "numba", "llvmlite", "torch", "jax", "jaxlib"),
    )
)
"""Packages whose code is no author's; nor is the standard library's."""


def is_library(module: str) -> bool:
    """Return whether a module belongs to a library, and not to an operator's author."""
    package = module.partition(".")[0]
    return package in LIBRARIES or package in sys.stdlib_module_names


def authors_line(error: BaseException) -> str | None:
    """File and line of the author's code that raised, or called code that did; None if there is none."""
    frames = [
        f"{Path(frame.f_code.co_filename).name}:{line}"
        for frame, line in traceback.walk_tb(error.__traceback__)
        if not is_library(str(frame.f_globals.get("__name__", "")))
    ]
    return frames[-1] if frames else None


def last_line(error: BaseException) -> str:
    """File and line where the exception was raised, in any code."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "an unknown line"
