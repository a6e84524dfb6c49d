"""Calls of the system that Python makes for a program: counted, and one of them failing.

Functions of `os`, `open` and what it opens, and sockets. Modules that bind such a function to a name of their
own before are not reached; `strace` reaches those (see `test_failing_calls.py`).
"""

from __future__ import annotations

import builtins
import io
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, final
from unittest import mock

OF_OS: Final = (
    "access", "chmod", "fdopen", "fstat", "fsync", "ftruncate", "listdir", "lstat", "mkdir", "open", "pread",
    "readlink", "remove", "rename", "replace", "rmdir", "scandir", "stat", "statvfs", "truncate", "unlink",
    "utime", "write",
)  # fmt: skip
OF_FILES: Final = ("readinto", "readall", "write", "seek", "truncate")
OF_SOCKETS: Final = ("accept", "connect", "recv", "recv_into", "send", "sendall", "setsockopt")


@final
class Calls:
    """Counts calls, and has one fail.

    Args:
        number: Of the call that fails, from 1 on; 0: none.
        error: Its errno.
        is_counted: Whether a call counts, asked in it.
    Attributes:
        made: The names of the calls so far.
        failed: That of the one that failed; empty: none.
    """

    def __init__(
        self, number: int = 0, error: int = 0, is_counted: Callable[[], bool] = lambda: True
    ) -> None:
        self.made: list[str] = []
        self.failed = ""
        self._is_counted = is_counted
        self._number, self._error, self._lock = number, error, threading.Lock()

    def next(self, name: str, *given: object) -> None:
        """Count a call, or raise what it fails with."""
        if not self._is_counted():
            return
        with self._lock:
            self.made.append(name)
            if len(self.made) != self._number:
                return
        self.failed = f"{name}{given[:1]}"
        named = [given[0]] if given and isinstance(given[0], (str, os.PathLike)) else []
        raise OSError(self._error, os.strerror(self._error), *named)

    def counted(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function, each call of which counts."""

        def call(*given: Any, **named: Any) -> Any:
            self.next(name, *given)
            return function(*given, **named)

        return call

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Inside `with`, calls of all threads are counted."""
        raw = type("Raw", (io.FileIO,), {one: self._method(io.FileIO, one) for one in OF_FILES})
        sockets = {one: self._method(socket.socket, one) for one in OF_SOCKETS}
        kept = {one: vars(socket.socket).get(one) for one in OF_SOCKETS}

        def opened(
            file: Any, mode: str = "r", buffering: int = -1, encoding: str | None = None,
            errors: str | None = None, newline: str | None = None, closefd: bool = True, opener: Any = None,
        ) -> Any:  # fmt: skip
            self.next("open", file)
            letters = mode.replace("b", "").replace("t", "")
            found: Any = raw(file, letters, closefd, opener)
            if buffering == 0:
                return found
            is_reader = letters == "r"
            kind = (
                io.BufferedRandom if "+" in letters else io.BufferedReader if is_reader else io.BufferedWriter
            )
            buffered = kind(found)
            if "b" in mode:
                return buffered
            text = io.TextIOWrapper(buffered, encoding, errors, newline, buffering == 1)
            text.mode = mode  # type: ignore[misc]
            return text

        with mock.patch.multiple(
            os, **{one: self.counted(one, getattr(os, one)) for one in OF_OS if one != "fdopen"},
            fdopen=lambda descriptor, *given, **named: opened(descriptor, *given, **named),
        ), mock.patch.object(builtins, "open", opened), mock.patch.object(io, "open", opened):  # fmt: skip
            for name, function in sockets.items():
                setattr(socket.socket, name, function)
            try:
                yield
            finally:
                for name, found in kept.items():
                    if found is None:
                        delattr(socket.socket, name)
                    else:
                        setattr(socket.socket, name, found)

    def _method(self, owner: type, name: str) -> Callable[..., Any]:
        real = getattr(owner, name)

        def call(this: Any, *given: Any) -> Any:
            self.next(name, *given)
            return real(this, *given)

        return call
