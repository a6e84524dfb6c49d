"""Setting of hoisting in the environment."""

from __future__ import annotations

from typing import Final

from operad.config import one_of, plugin_setting

MODE: Final = plugin_setting(
    "OPERAD_HOISTING",
    one_of("off", "on"),
    "on",
    "Whether gradients of a weight that many nodes use are computed together, some nodes at a time.",
)
