"""Reading files: regular ones alone, none larger than the limits say.

A pipe, a terminal or a device is refused, since nothing says how much it gives, or whether it ever does.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, NoReturn, final

from operad.config import readings, settings
from operad.errors import ConfigError, FormatError, LimitError
from operad.files.errors import translated
from operad.files.limits import Deadline, check_entries, reading

Path = str | os.PathLike[str]

_GZIP: Final = b"\x1f\x8b"
_FLAGS: Final = (
    os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
)
"""Without blocking, for opening a pipe waits until another process writes to it."""
_LINES_BETWEEN_CHECKS: Final = 4096


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
    _check_text(status.st_size, what)


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


@contextmanager
def opened(path: Path, what: str, *, growth: float | None = None) -> Iterator[io.BufferedReader]:
    """A regular file, open for reading inside `with`; its bytes count against the budget of the process.

    Args:
        what: The file, for messages.
        growth: Given: a file that gzip has compressed is given as what it was, as long as that many times
            the bytes, which is what the reader makes of them, stay within `OPERAD_MAX_EXPANDED_BYTES`.
    Raises:
        LimitError: It is too large.
        FormatError: It is no regular file.
        OperadError: It cannot be opened; an `OSError` too.
    """
    with _opened(path, what, growth) as (file, size), reading(size, what):
        yield file


@contextmanager
def _opened(path: Path, what: str, growth: float | None = None) -> Iterator[tuple[io.BufferedReader, int]]:
    """The file, or what it was before gzip, and its size in bytes as it is."""
    descriptor, size = open_descriptor(path, what)
    with translated(what, "a whole file"), os.fdopen(descriptor, "rb") as file:
        if growth is not None and file.peek(2)[:2] == _GZIP:
            yield io.BufferedReader(_Inflated(file, what, growth), 1 << 18), size
        else:
            yield file, size


def read_bytes(path: Path, what: str) -> bytes:
    """The bytes of a file.

    Raises:
        LimitError, FormatError, OperadError: As of `opened`.
    """
    with _opened(path, what) as (file, size), reading(size, what):
        return file.read(size)


def read_text(path: Path, what: str) -> str:
    """The text of a file of at most `OPERAD_MAX_TEXT_BYTES`, which is UTF-8.

    Raises:
        LimitError, FormatError, OperadError: As of `opened`; it is not UTF-8.
    """
    with _opened(path, what) as (file, size), translated(what, "UTF-8 text"):
        _check_text(size, what)
        return file.read(size).decode()


def read_lines(path: Path, what: str, *, growth: float | None = None) -> Iterator[tuple[int, str]]:
    """The lines of a file that is UTF-8, with their numbers from 1; one line is in memory at a time.

    Args:
        growth: As of `opened`.
    Raises:
        LimitError: There are more than `OPERAD_MAX_ENTRIES`, or one is longer than `OPERAD_MAX_TEXT_BYTES`.
        FormatError, OperadError: As of `opened`; it is not UTF-8.
    """
    deadline, longest, number = Deadline(what), settings().max_text_bytes, 0
    with _opened(path, what, growth) as (file, _), translated(what, "lines of UTF-8 text"):
        lines = io.TextIOWrapper(file, encoding="utf-8")
        while line := lines.readline(longest + 1):
            number += 1
            _check_text(len(line), f"{what}: line {number}")
            if number % _LINES_BETWEEN_CHECKS == 0:
                deadline.check()
                check_entries(number, what)
            yield number, line
        check_entries(number, what)


def parse_json(text: str | bytes, what: str, *, constants: bool = False) -> Any:
    """The value of a JSON text of at most `OPERAD_MAX_TEXT_BYTES`.

    Args:
        constants: Whether to take NaN and Infinity, which Python writes and JSON does not have.

    Raises:
        LimitError: It is longer.
        FormatError: It is none.
    """
    import json  # noqa: PLC0415 - 3 ms that `import operad` need not pay

    _check_text(len(text), what)
    try:
        return json.loads(text, parse_constant=None if constants else _refuse_constant)
    except (ValueError, RecursionError) as error:  # of text that is no UTF-8, too
        raise FormatError(f"{what}: this is not JSON: {error}") from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


def _check_kind(status: os.stat_result, what: str) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder, expected a file")
    if not stat.S_ISREG(status.st_mode):
        raise FormatError(
            f"{what} is a pipe, a device or a socket, expected a regular file; copy what it gives into one"
        )


def _check_text(size: int, what: str) -> None:
    try:
        most = settings().max_text_bytes
    except ConfigError:  # `operad doctor` reads files where another setting cannot be used, too
        most = next(one.value for one in readings() if one.option.field == "max_text_bytes")
    if size > most:
        raise LimitError(
            f"{what} has more than {most:,} bytes of text; if it is to be trusted, set "
            "OPERAD_MAX_TEXT_BYTES to more"
        )


@final
class _Inflated(io.RawIOBase):
    """Contents of a gzip stream; refuses to give more than the limits allow."""

    def __init__(self, file: Any, what: str, growth: float) -> None:
        import gzip  # noqa: PLC0415 - few programs read compressed files

        self._unpacked = gzip.GzipFile(fileobj=file, mode="rb")
        self._what = what
        self._limit = settings().max_expanded_bytes
        self._left = int(self._limit / growth)
        self._deadline = Deadline(what)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with translated(self._what, "a whole gzip file"):
            found = self._unpacked.readinto(buffer)
        self._left -= found
        if self._left < 0:
            raise LimitError(
                f"{self._what} expands to more than OPERAD_MAX_EXPANDED_BYTES={self._limit:,} allow; "
                "if it is to be trusted, set that to more"
            )
        self._deadline.check()
        return found
