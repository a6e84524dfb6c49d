"""The bytes that a writer makes of a file."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path


def written(write: Callable[[str], object]) -> bytes:
    """What `write`, called with a path, writes there."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "file")
        write(path)
        return Path(path).read_bytes()
