"""Setting of vector code in the environment."""

from __future__ import annotations

from functools import cache
from typing import Final

from operad.config import one_of, plugin_setting

MODE: Final = plugin_setting(
    "OPERAD_VECTOR",
    one_of("off", "on", "checked"),
    "on",
    "Whether llvmlite compiles kernels in vector code, where it is installed; `checked`: kernels that "
    "compare each address with the bounds of its array, for debugging.",
)


@cache
def is_checked() -> bool:
    """Return whether kernels check their addresses (`operad_sdk.vector.bounds`); asked once in a process."""
    found: bool = MODE.read() == "checked"
    return found
