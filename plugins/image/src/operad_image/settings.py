"""Settings of images in the environment."""

from __future__ import annotations

from typing import Final

from operad.config import at_least, flag, plugin_setting

MAX_PIXELS: Final = plugin_setting("OPERAD_MAX_IMAGE_PIXELS", at_least(1), 1 << 28, "Pixels of one image.")
OUTSIDE_ROOT: Final = plugin_setting(
    "OPERAD_OUTSIDE_ROOT", flag, False, "Whether lists of images may name files outside their root folder."
)
