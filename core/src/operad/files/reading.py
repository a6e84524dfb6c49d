"""Reading files: regular ones alone, none larger than the limits say.

A pipe, a terminal or a device is refused, since nothing says how much it gives, or whether it ever does.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import Any, Final, NoReturn

from operad.config import readings, settings
from operad.errors import ConfigError, FormatError, LimitError
from operad.files.errors import translated

Path = str | os.PathLike[str]

_FLAGS: Final = (
    os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
)
"""Without blocking, for opening a pipe waits until another process writes to it."""


def check_file(path: Path, what: str) -> None:
    """Make sure that `path` is a regular file of no more than a text may have; others may be missing.

    For files that another library's code reads.

    Raises:
        FormatError: It is none.
        LimitError: It is larger.
    """
    try:
        status = os.stat(path)
    except OSError:
        return  # its reader will say so
    with translated(what, "a file"):
        _check_kind(status, what)
    check_text(status.st_size, what)


def open_descriptor(path: Path, what: str) -> tuple[int, int]:
    """A descriptor of a regular file, to be closed by the caller, and the file's size in bytes.

    Raises:
        FormatError: It is a pipe, a device or a socket.
        OperadError: It cannot be opened; an `OSError` too.
    """
    with translated(what, "a path"):
        descriptor = os.open(path, _FLAGS)
        try:
            status = os.fstat(descriptor)
            _check_kind(status, what)
        except BaseException:
            os.close(descriptor)
            raise
    return descriptor, status.st_size


def read_bytes(path: Path, what: str) -> bytes:
    """The bytes of a file of at most `OPERAD_MAX_FILE_BYTES`.

    Raises:
        LimitError: It is larger.
        FormatError, OperadError: As of `open_descriptor`.
    """
    descriptor, size = open_descriptor(path, what)
    with translated(what, "a whole file"), os.fdopen(descriptor, "rb") as file:
        check_bytes(size, what)
        return file.read(size)


def read_text(path: Path, what: str) -> str:
    """The text of a file of at most `OPERAD_MAX_TEXT_BYTES`, which is UTF-8.

    Raises:
        LimitError: It is larger.
        FormatError, OperadError: As of `open_descriptor`; it is not UTF-8.
    """
    descriptor, size = open_descriptor(path, what)
    with translated(what, "UTF-8 text"), os.fdopen(descriptor, "rb") as file:
        check_text(size, what)
        return file.read(size).decode()


def parse_json(text: str | bytes, what: str, *, constants: bool = False) -> Any:
    """The value of a JSON text of at most `OPERAD_MAX_TEXT_BYTES`.

    Args:
        constants: Whether to take NaN and Infinity, which Python writes and JSON does not have.

    Raises:
        LimitError: It is longer.
        FormatError: It is none.
    """
    import json  # noqa: PLC0415 - 3 ms that `import operad` need not pay

    check_text(len(text), what)
    try:
        return json.loads(text, parse_constant=None if constants else _refuse_constant)
    except (ValueError, RecursionError) as error:  # of text that is not UTF-8, too
        raise FormatError(f"{what}: this is not JSON: {error}") from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


def _check_kind(status: os.stat_result, what: str) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder, expected a file")
    if not stat.S_ISREG(status.st_mode):
        raise FormatError(
            f"{what} is a pipe, a device or a socket, expected a regular file; copy what it gives into one"
        )


def check_bytes(size: int, what: str) -> None:
    """Refuse a part of a file of more than `OPERAD_MAX_FILE_BYTES`.

    Raises:
        LimitError: It is too large.
    """
    most = settings().max_file_bytes
    if size > most:
        raise LimitError(
            f"{what} asks for {size:,} bytes of a file, expected at most {most:,}; if it is to be trusted, "
            "set OPERAD_MAX_FILE_BYTES to more"
        )


def check_text(size: int, what: str) -> None:
    """Refuse a text, or a line, of more than `OPERAD_MAX_TEXT_BYTES`.

    Raises:
        LimitError: It is longer.
    """
    try:
        most = settings().max_text_bytes
    except ConfigError:  # `operad doctor` reads files where another setting cannot be used, too
        most = next(one.value for one in readings() if one.option.field == "max_text_bytes")
    if size > most:
        raise LimitError(
            f"{what} has more than {most:,} bytes of text; if it is to be trusted, set "
            "OPERAD_MAX_TEXT_BYTES to more"
        )
