"""Compiled code in the cache, which grows to a limit: what was used longest ago goes first.

One file in 256, by its digest, has its folder looked at when it is written, so that no process keeps count.
Systems note when a file was read, most of them once in a day; where they do not, what was written first goes.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from types import CodeType
from typing import Any, Final

from operad.files import cache

MOST_BYTES: Final = 1 << 28
"""Bytes of a folder's files from which half of them go: some 50,000 kernels."""


def save(path: Path, code: bytes) -> None:
    """Keep a file that is named by its digest, as `operad.files.cache` does it."""
    cache.save(path, code)
    if path.name.startswith("00"):
        with suppress(OSError):  # other processes remove files too
            _limit(cache.private_path(path).parent)


def _limit(folder: Path) -> None:
    """Remove files until a folder has half of what it may have, if it has more."""
    with os.scandir(folder) as entries:
        found = [(entry.path, entry.stat(follow_symlinks=False)) for entry in entries]
    total = sum(status.st_size for _, status in found)
    if total > MOST_BYTES:
        for path, status in sorted(found, key=lambda each: max(each[1].st_atime, each[1].st_mtime)):
            if total <= MOST_BYTES // 2:
                break
            with suppress(OSError):
                os.unlink(path)
                total -= status.st_size


def described(code: CodeType) -> tuple[Any, ...]:
    """Code of a function, wherever it stands: two lambdas of a file may differ in a number."""
    constants = [described(one) if isinstance(one, CodeType) else repr(one) for one in code.co_consts]
    return code.co_code, code.co_names, code.co_varnames, code.co_freevars, constants
