"""Reading data files: their bytes count against the budgets of the process.

What opens them is the core's door (`operad.files`): regular files alone.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, final

from operad.config import settings
from operad.errors import LimitError
from operad.files import check_text, open_descriptor, translated
from operad_files.limits import Deadline, check_entries, reading
from operad_files.settings import MAX_EXPANDED_BYTES

Path = str | os.PathLike[str]

_GZIP: Final = b"\x1f\x8b"
_LINES_BETWEEN_CHECKS: Final = 4096


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
            check_text(len(line), f"{what}: line {number}")
            if number % _LINES_BETWEEN_CHECKS == 0:
                deadline.check()
                check_entries(number, what)
            yield number, line
        check_entries(number, what)


@final
class _Inflated(io.RawIOBase):
    """Contents of a gzip stream; refuses to give more than the limits allow."""

    def __init__(self, file: Any, what: str, growth: float) -> None:
        import gzip  # noqa: PLC0415 - few programs read compressed files

        self._unpacked = gzip.GzipFile(fileobj=file, mode="rb")
        self._what = what
        self._limit = MAX_EXPANDED_BYTES.read()
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
