"""How much files may ask for: of the whole process, whatever number of threads read them.

A `Budget` is a number of bytes that all threads together may hold for one purpose at a time. What exceeds it
alone is refused; what does not fit beside the others waits until they are done. A thread that holds a part
already does not wait, for it might wait for itself: it gets what fits now, or is refused.

The budgets have an order, `reading` before `expanding`: who holds some of the second asks for none of the
first. So threads that hold one and wait for the other do not wait in a circle.

Reserved is what reading holds while it goes on. What it returns is the program's own.
"""

from __future__ import annotations

import os
import threading
import time
from types import TracebackType
from typing import Final, final

from operad.config import settings
from operad.errors import LimitError
from operad.locks import new_lock


@final
class Budget:
    """Bytes that all threads may hold together.

    Args:
        field: The setting that says how many.
        purpose: What they are for, for messages.
    """

    def __init__(self, field: str, purpose: str) -> None:
        self._field, self._purpose = field, purpose
        # The lock is a new one in a forked child. Nobody waits there: what waited were other threads.
        self._changed = threading.Condition(new_lock())  # type: ignore[arg-type]  # it is an RLock
        self._used = 0
        self._own = threading.local()

    @property
    def limit(self) -> int:
        """The bytes in all."""
        return int(getattr(settings(), self._field))

    @property
    def used(self) -> int:
        """The bytes held now."""
        return self._used

    def acquire(self, size_bytes: int, what: str) -> None:
        """Take `size_bytes`; waits for other threads where they hold too much.

        Raises:
            LimitError: They could never be had.
        """
        limit, held = self.limit, self.held
        if held + size_bytes > limit:
            raise self.refusal(size_bytes, what, f"expected at most {limit - held:,}")
        with self._changed:
            # invariant: `held` is 0 for whoever waits, so those that are waited for never wait themselves.
            while self._used and self._used + size_bytes > limit:
                if held:
                    raise self.refusal(size_bytes, what, f"and other threads hold {self._used - held:,}")
                self._changed.wait()
            self._used += size_bytes
            self._own.held = held + size_bytes

    def release(self, size_bytes: int) -> None:
        """Give back what `acquire` gave this thread."""
        with self._changed:
            self._used -= size_bytes
            self._own.held = self.held - size_bytes
            self._changed.notify_all()

    def renew(self) -> None:
        """In a forked child: what threads of the parent held is free."""
        self._used = self.held

    @property
    def held(self) -> int:
        """The bytes of this thread."""
        return int(getattr(self._own, "held", 0))

    def refusal(self, size_bytes: int, what: str, expected: str) -> LimitError:
        """What a request that is refused raises."""
        return LimitError(
            f"{what} asks for {size_bytes:,} bytes {self._purpose}, {expected}; "
            f"if it is to be trusted, set OPERAD_{self._field.upper()} to more"
        )


@final
class _Reservation:
    """Holds bytes of a budget inside `with`."""

    __slots__ = ("_budget", "_size_bytes", "_what")

    def __init__(self, budget: Budget, size_bytes: int, what: str) -> None:
        self._budget, self._size_bytes, self._what = budget, size_bytes, what

    def __enter__(self) -> None:
        self._budget.acquire(self._size_bytes, self._what)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._budget.release(self._size_bytes)


_read: Final = Budget("max_file_bytes", "of a file")
_expanded: Final = Budget("max_expanded_bytes", "once it is expanded")


def reading(size_bytes: int, what: str) -> _Reservation:
    """Inside `with`: bytes of files as they are, up to `OPERAD_MAX_FILE_BYTES` of the process.

    Raises:
        LimitError: They are too many.
    """
    return _Reservation(_read, size_bytes, what)


def expanding(size_bytes: int, what: str) -> _Reservation:
    """Inside `with`: bytes that a file becomes by decoding, up to `OPERAD_MAX_EXPANDED_BYTES` of the process.

    Raises:
        LimitError: They are too many.
    """
    return _Reservation(_expanded, size_bytes, what)


def check_bytes(size_bytes: int, what: str) -> None:
    """Refuse a part of a file of more than `OPERAD_MAX_FILE_BYTES`.

    Raises:
        LimitError: It is too large.
    """
    if size_bytes > _read.limit:
        raise _read.refusal(size_bytes, what, f"expected at most {_read.limit:,}")


def check_entries(count: int, what: str) -> None:
    """Refuse more entries of a list than `OPERAD_MAX_ENTRIES`.

    Raises:
        LimitError: They are too many.
    """
    most = settings().max_entries
    if count > most:
        raise LimitError(
            f"{what} has more than {most:,} entries; divide it, or set OPERAD_MAX_ENTRIES to more"
        )


@final
class Deadline:
    """When reading a file has taken too long."""

    def __init__(self, what: str) -> None:
        self._what, self._seconds = what, settings().max_file_seconds
        self._end_s = time.monotonic() + self._seconds

    def check(self) -> None:
        """Raise where the time is over.

        Raises:
            LimitError: It is.
        """
        if time.monotonic() > self._end_s:
            raise LimitError(
                f"{self._what} takes more than {self._seconds} s to read; divide it, or set "
                "OPERAD_MAX_FILE_SECONDS to more"
            )


def _renew() -> None:
    _read.renew()
    _expanded.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
