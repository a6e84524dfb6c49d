"""Setting of vector code in the environment."""

from __future__ import annotations

from typing import Final

from operad.config import one_of, plugin_setting

MODE: Final = plugin_setting(
    "OPERAD_VECTOR",
    one_of("off", "on"),
    "on",
    "Whether llvmlite compiles kernels in vector code, where it is installed.",
)
