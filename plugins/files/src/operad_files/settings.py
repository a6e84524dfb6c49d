"""Settings of data files in the environment."""

from __future__ import annotations

from typing import Final

from operad.config import at_least, plugin_setting

MAX_EXPANDED_BYTES: Final = plugin_setting(
    "OPERAD_MAX_EXPANDED_BYTES",
    at_least(1),
    4 << 30,
    "Bytes that compressed, encoded or sparse files may become at once, over all threads.",
)
MAX_ENTRIES: Final = plugin_setting("OPERAD_MAX_ENTRIES", at_least(1), 1 << 24, "Lines of one list or index.")
MAX_FILE_SECONDS: Final = plugin_setting(
    "OPERAD_MAX_FILE_SECONDS",
    at_least(1),
    3600,
    "Seconds that reading the lines, or expanding the contents, of one file may take.",
)
