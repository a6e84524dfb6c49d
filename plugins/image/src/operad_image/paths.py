"""Paths that come out of files."""

from __future__ import annotations

import os

from operad.errors import FormatError
from operad_image.settings import OUTSIDE_ROOT


def inside(root: str | os.PathLike[str], path: str, what: str) -> str:
    """The path that `path` is below the folder `root`, where a file such as a list has named it.

    An absolute path that leads into `root` counts as below it. With `OPERAD_OUTSIDE_ROOT=1` every path does.

    Args:
        what: The file that names it, for messages.
    Raises:
        FormatError: It leads elsewhere: by `..`, as an absolute path, or by a symbolic link.
    """
    joined = os.path.join(root, path)
    if OUTSIDE_ROOT.read():
        return joined
    try:
        top, real = os.path.realpath(root), os.path.realpath(joined)
        is_inside = os.path.commonpath((top, real)) == top
    except ValueError as error:  # a null byte
        raise FormatError(f"{what} names {path!r}, expected a path: {error}") from error
    if not is_inside:
        raise FormatError(
            f"{what} names {path!r}, which is {real!r} and outside the folder {os.fspath(root) or '.'!r}; "
            "give the folder that holds all of it as root, '/' for any absolute path, or set "
            "OPERAD_OUTSIDE_ROOT=1 if the list is to be trusted"
        )
    return joined
