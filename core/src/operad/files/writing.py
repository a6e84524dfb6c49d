"""Writing files: whole, or not at all."""

from __future__ import annotations

import os
import stat
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from operad.files.errors import translated
from operad.system import keep_owner_and_mode, lock_file

if TYPE_CHECKING:
    from pathlib import Path

_NEW: Final = 0o666
"""Permissions of a new file, less the umask."""
_PREFIX: Final = ".operad-"
_SUFFIX: Final = ".tmp"
_LEAST_AGE_S: Final = 60.0


def write_atomically(path: str | Path, content: bytes) -> None:
    """Write `content` under a temporary name in the same folder and rename it to `path`.

    A reader sees the old file or the new one, also if this process dies half way, or the machine does: the
    contents are on the disk before they get the name, and the name is when this returns. A file that is
    there keeps its permissions and, as far as this user may set them, its owner and group. A symbolic link
    stays one; what is no regular file (`/dev/null`, a pipe) is written to as it is.

    Raises:
        OperadError: The operating system refused; an `OSError` too, such as `FileNotFoundError`.
    """
    with translated(f"writing {os.fspath(path)!r}", "a path"):
        _write(os.path.realpath(path), content)


def _write(target: str, content: bytes) -> None:
    try:
        old = os.stat(target)
    except FileNotFoundError:
        replace_file(target, content, None)
        return
    if stat.S_ISREG(old.st_mode):
        replace_file(target, content, old)
        return
    with open(target, "wb") as file:
        file.write(content)


def replace_file(target: str, content: bytes, old: os.stat_result | None) -> None:
    """Put a file in the place of what has its name; with `old`, it gets that one's owner and permissions."""
    folder = os.path.dirname(target)
    _remove_leftovers(folder)
    temporary = os.path.join(folder, f"{_PREFIX}{os.urandom(8).hex()}{_SUFFIX}")
    # Made here rather than by `tempfile`, so that it gets the permissions any new file gets. One that takes
    # the place of another is closed to others until it has that one's.
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if old else _NEW)
    try:
        with os.fdopen(descriptor, "wb") as file:
            lock_file(descriptor)
            if old is not None:
                keep_owner_and_mode(descriptor, old)
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(folder)


def _remove_leftovers(folder: str) -> None:
    """Remove what processes that were killed have left here.

    The system gives up a dead process's lock. A file is young while its writer has not locked it yet, and
    where it has given up the lock to rename it.
    """
    with suppress(OSError):
        for name in os.listdir(folder):
            if name.startswith(_PREFIX) and name.endswith(_SUFFIX):
                _remove_leftover(os.path.join(folder, name))


def _remove_leftover(path: str) -> None:
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))
        try:
            if time.time() - os.fstat(descriptor).st_mtime > _LEAST_AGE_S and lock_file(descriptor):
                os.unlink(path)
        finally:
            os.close(descriptor)


def _sync_folder(folder: str) -> None:
    """Bring the new name to the disk; some file systems, and folders one may not list, do not do that."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
