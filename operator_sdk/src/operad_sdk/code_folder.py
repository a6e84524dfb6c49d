"""Folder of the compiled code that is kept between processes."""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import tempfile
from functools import cache
from pathlib import Path

from operad.config import settings


@cache
def code_folder(name: str) -> Path:
    """Folder of the cache; a temporary one if other users could write code into the cache."""
    folder = settings().cache_dir / name
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
        if os.name != "posix" or _is_private(folder.stat()):
            return folder
    except OSError:
        pass
    temporary = tempfile.mkdtemp(prefix=f"operad-{name}-")
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    return Path(temporary)


def _is_private(status: os.stat_result) -> bool:
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
