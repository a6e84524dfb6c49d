"""Files of caches, which hold what is run, and only save time.

One rule for all of them. A file begins with the digest of its name and of what follows: one that is empty,
cut short, damaged or under a wrong name is as good as none. It is a regular file and no link, in a folder to
which this user alone may write, and which no other user can replace. It appears whole, or not at all.
Whatever goes wrong, a program computes without the cache, and warns once.
"""

from __future__ import annotations

import hashlib
import os
import stat
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from operad.config import settings
from operad.errors import FormatError, OperadError
from operad.files.reading import read_bytes
from operad.files.writing import replace_file

_warned: Final[set[Path]] = set()


def load(path: Path) -> bytes | None:
    """Contents of a file that `save` has written; None, if there is none of use."""
    found = None
    with _optional():
        if os.path.lexists(path):
            found = read(path)
    return found


def save(path: Path, content: bytes) -> None:
    """Write a file, if that can be done."""
    with _optional():
        write(path, content)


def read(path: Path) -> bytes:
    """Contents of a file, for who cannot do without.

    Raises:
        OperadError, OSError: It is damaged or another file, or others may write to its folder.
    """
    found = read_bytes(private_path(path), f"the cached file {str(path)!r}")
    content = found[found.find(b"\n") + 1 :]
    if path.is_symlink() or found != _with_digest(path, content):
        raise FormatError(f"the cached file {str(path)!r} is damaged, or operad has not written it there")
    return content


def write(path: Path, content: bytes) -> None:
    """Write a file and bring it to the disk; the folder is made where there is none.

    Raises:
        OSError: The system refuses, or others may write to the folder.
    """
    for folder in reversed(path.parents):
        folder.mkdir(mode=0o700, exist_ok=True)
    replace_file(str(private_path(path)), _with_digest(path, content), None)


def _with_digest(path: Path, content: bytes) -> bytes:
    return hashlib.sha256(path.name.encode() + b"\n" + content).hexdigest().encode() + b"\n" + content


def private_path(path: Path) -> Path:
    """The path without links in its folder, if no other user can write there or put another folder there.

    Raises:
        PermissionError: One can; the message says where, and what to do.
    """
    folder = Path(os.path.realpath(path.parent, strict=True))
    for place in (folder, *folder.parents) if os.name == "posix" else ():
        status, is_parent = place.stat(), place != folder
        # A group of the user's own number has nobody else in it; in a sticky folder others cannot rename.
        others = stat.S_IWOTH | (stat.S_IWGRP if status.st_gid != status.st_uid else 0)
        is_open = status.st_mode & others and not (is_parent and status.st_mode & stat.S_ISVTX)
        owners = (0, os.geteuid()) if is_parent else (os.geteuid(),)
        if is_open or status.st_uid not in owners:
            raise PermissionError(
                f"other users may write to {str(place)!r}, and what a cache holds is run; make it yours "
                "alone (chown, chmod go-w), or set OPERAD_CACHE_DIR to a folder that is"
            )
    return folder / path.name


@contextmanager
def _optional() -> Iterator[None]:
    try:
        yield
    except (OSError, OperadError) as error:
        if (folder := settings().cache_dir) not in _warned:
            _warned.add(folder)
            with suppress(RuntimeWarning):  # an `error` filter does not end the computation
                warnings.warn(
                    f"computing without the cache (OPERAD_CACHE_DIR): {error}", RuntimeWarning, stacklevel=4
                )
