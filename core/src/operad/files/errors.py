"""Errors of reading and writing files, as errors of ours that name the file."""

from __future__ import annotations

import struct
import zlib
from types import TracebackType
from typing import Final, final

from operad.errors import FormatError, OperadError, OutOfMemoryError, as_one_of_ours, class_of_both

_OF_CONTENTS: Final = (
    ValueError, TypeError, LookupError, ArithmeticError, AttributeError,
    NotImplementedError,  # a library meets a variant of its format that it does not read
    SyntaxError,  # of `np.dtype` and of literals
    EOFError, RecursionError, struct.error, zlib.error,
)  # fmt: skip
"""Errors that code which trusts a file raises where the file holds something else."""


@final
class translated:  # noqa: N801 - a context manager, called as a function
    """Inside `with`, errors of the system and of parsers become errors of ours.

    Those of the operating system stay instances of their own class too, such as `FileNotFoundError`.

    Args:
        what: The file, for messages: "symbol file 'net.json'".
        expected: What it should hold, and what to do where it does not.
    Raises:
        FormatError: The contents are not what was expected.
        OutOfMemoryError: There is no memory for them.
        OperadError: The operating system refused; it is an `OSError` too.
    """

    __slots__ = ("_expected", "_what")

    def __init__(self, what: str, expected: str) -> None:
        self._what, self._expected = what, expected

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None or isinstance(error, OperadError):
            return
        if isinstance(error, UnicodeDecodeError):
            raise FormatError(
                f"{self._what}: byte {error.start} is not UTF-8 text, expected {self._expected}"
            ) from error
        if isinstance(error, OSError):
            raise _of_the_system(self._what, error) from error
        if isinstance(error, MemoryError):
            raise OutOfMemoryError(
                f"{self._what}: there is not enough memory for it; free some, or divide the file"
            ) from error
        if isinstance(error, _OF_CONTENTS):
            detail = f"{type(error).__name__}: {error}"
            raise FormatError(f"{self._what}: expected {self._expected}, got {detail}") from error


def _of_the_system(what: str, error: OSError) -> OperadError:
    if error.errno is None:  # made by a program, of a text alone
        return as_one_of_ours(OperadError, error)
    wanted = class_of_both(OperadError, type(error))
    return wanted(error.errno, f"{what}: {error.strerror}")
