"""The `on_complete` that an asynchronous operation is given."""

from __future__ import annotations

import reprlib
import threading
from collections.abc import Callable
from typing import final

from operad.errors import EngineError


@final
class Completion:
    """The `on_complete` of one run of an asynchronous operation.

    Args:
        title: What messages call the operation.
        finish: Called once, with the operation's error or None.
    """

    __slots__ = ("_closed", "_finish", "_title")

    def __init__(self, title: str, finish: Callable[[BaseException | None], None]) -> None:
        self._title = title
        self._finish = finish
        self._closed = threading.Lock()  # taken by the first who completes, and never released

    def __call__(self, error: BaseException | None = None) -> None:
        """The operation is done, or failed with `error`; what is no exception is an EngineError too.

        Raises:
            EngineError: It was done already.
        """
        if not self.close(error):
            raise EngineError(f"{self._title}: on_complete was called twice; call it once for each run")

    def close(self, error: object) -> bool:
        """Finish the operation unless it is finished; whether this call did."""
        if not self._closed.acquire(False):
            return False
        found: BaseException | None = None
        try:
            if error is not None:
                found = error if isinstance(error, BaseException) else self._misuse(error)
        finally:  # whatever was given: what waits for this operation would wait for ever
            self._finish(found)
        return True

    def _misuse(self, error: object) -> EngineError:
        given = reprlib.repr(error)
        return EngineError(f"{self._title}: on_complete was given {given}, expected an exception or None")

    def __del__(self) -> None:
        if not self._closed.locked():
            self.close(
                EngineError(f"{self._title}: on_complete was dropped without being called; call it once")
            )
