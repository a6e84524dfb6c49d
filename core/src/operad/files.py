"""Writing files: whole, or not at all."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def write_atomically(path: str | Path, content: bytes) -> None:
    """Write `content` under a temporary name in the same folder and rename it to `path`.

    A reader sees the old file or the new one, also if this process dies half way. A symbolic link
    stays one; what is no regular file (`/dev/null`, a pipe) is written to as it is.
    """
    target = os.path.realpath(path)
    if os.path.exists(target) and not os.path.isfile(target):
        with open(target, "wb") as file:
            file.write(content)
        return
    temporary = os.path.join(os.path.dirname(target), f".operad-{os.urandom(8).hex()}.tmp")
    # Made here rather than by `tempfile`, so that it gets the permissions any new file gets.
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
