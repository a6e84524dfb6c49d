"""Setting of fusion in the environment."""

from __future__ import annotations

from typing import Final

from operad.config import one_of, plugin_setting

MODE: Final = plugin_setting(
    "OPERAD_FUSION",
    one_of("off", "on", "exact"),
    "on",
    "Whether clusters of elementwise operators are one kernel each; exact: only where no bit changes.",
)
