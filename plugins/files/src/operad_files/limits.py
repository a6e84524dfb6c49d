"""Limits on what files may ask for: of the whole process, whatever number of threads read them.

A `Budget` is a number of bytes that all threads together may hold for one purpose at a time. What exceeds it
alone is refused; what does not fit beside the others waits until they are done. A thread that holds a part
already does not wait, for it might wait for itself: it gets what fits now, or is refused.

The budgets have an order, `reading` before `expanding`: who holds some of the second asks for none of the
first. So threads that hold one and wait for the other do not wait in a circle.

Reserved is what reading holds while it goes on. What it returns is the program's own.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Final, final
from weakref import WeakSet

from operad.config import settings
from operad.errors import LimitError
from operad.locks import new_lock
from operad.system import at_fork
from operad_files.settings import MAX_ENTRIES, MAX_EXPANDED_BYTES, MAX_FILE_SECONDS


@final
class Reservation:
    """Holds bytes of a budget inside `with`."""

    __slots__ = ("__weakref__", "_budget", "_what", "size_bytes", "thread")

    def __init__(self, budget: Budget, size_bytes: int, what: str) -> None:
        self._budget, self._what, self.size_bytes, self.thread = budget, what, size_bytes, 0

    def __enter__(self) -> None:
        self._budget.acquire(self, self._what)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._budget.release(self)


@final
class Budget:
    """Bytes that all threads may hold together.

    Args:
        variable: The setting that says how many.
        read: Gives them.
        purpose: What they are for, for messages.
    """

    def __init__(self, variable: str, read: Callable[[], int], purpose: str) -> None:
        self._variable, self._read, self._purpose = variable, read, purpose
        # The lock is a new one in a forked child. No thread waits there: what waited were other threads.
        self._changed = threading.Condition(new_lock())  # type: ignore[arg-type]  # it is an RLock
        # Weak: one whose `with` a signal has interrupted before it began is gone, and holds nothing.
        self._held: WeakSet[Reservation] = WeakSet()

    @property
    def limit(self) -> int:
        """The bytes in all."""
        return self._read()

    def used(self, thread: int | None = None) -> int:
        """The bytes that are held now, by all threads or by one."""
        with self._changed:
            return sum(one.size_bytes for one in self._held if thread in (None, one.thread))

    def reserve(self, size_bytes: int, what: str) -> Reservation:
        """Inside `with`: `size_bytes`, for the file that messages call `what`; see `acquire`."""
        return Reservation(self, size_bytes, what)

    def acquire(self, wanted: Reservation, what: str) -> None:
        """Take what is wanted; waits for other threads where they hold too much.

        Raises:
            LimitError: It could never be had.
        """
        limit, size_bytes, wanted.thread = self.limit, wanted.size_bytes, threading.get_ident()
        with self._changed:
            own = self.used(wanted.thread)
            if own + size_bytes > limit:
                raise self.refusal(size_bytes, what, f"expected at most {limit - own:,}")
            # invariant: who waits holds nothing, so those that hold something never wait themselves.
            while (used := self.used()) and used + size_bytes > limit:
                if own:
                    raise self.refusal(size_bytes, what, f"and other threads hold {used - own:,}")
                self._changed.wait(_LOOK_AGAIN_S)
            self._held.add(wanted)

    def release(self, held: Reservation) -> None:
        """Give back what `acquire` has taken."""
        with self._changed:
            self._held.discard(held)
            self._changed.notify_all()

    def renew(self) -> None:
        """In a forked child: what threads of the parent held is free."""
        self._held = WeakSet(one for one in self._held if one.thread == threading.get_ident())

    def refusal(self, size_bytes: int, what: str, expected: str) -> LimitError:
        """Error of a request that is refused."""
        return LimitError(
            f"{what} asks for {size_bytes:,} bytes {self._purpose}, {expected}; "
            f"if it is to be trusted, set {self._variable} to more"
        )


_LOOK_AGAIN_S: Final = 0.1
"""A reservation that a signal has taken away is not announced."""
_read: Final = Budget("OPERAD_MAX_FILE_BYTES", lambda: settings().max_file_bytes, "of a file")
_expanded: Final = Budget(MAX_EXPANDED_BYTES.variable, MAX_EXPANDED_BYTES.read, "once it is expanded")


def reading(size_bytes: int, what: str) -> Reservation:
    """Inside `with`: bytes of files as they are, up to `OPERAD_MAX_FILE_BYTES` of the process.

    Raises:
        LimitError: They are too many.
    """
    return _read.reserve(size_bytes, what)


def expanding(size_bytes: int, what: str) -> Reservation:
    """Inside `with`: bytes that a file becomes by decoding, up to `OPERAD_MAX_EXPANDED_BYTES` of the process.

    Raises:
        LimitError: They are too many.
    """
    return _expanded.reserve(size_bytes, what)


def check_entries(count: int, what: str) -> None:
    """Refuse more entries of a list than `OPERAD_MAX_ENTRIES`.

    Raises:
        LimitError: They are too many.
    """
    most = MAX_ENTRIES.read()
    if count > most:
        raise LimitError(
            f"{what} has more than {most:,} entries; divide it, or set OPERAD_MAX_ENTRIES to more"
        )


@final
class Deadline:
    """When reading a file has taken too long."""

    def __init__(self, what: str) -> None:
        self._what, self._seconds = what, MAX_FILE_SECONDS.read()
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


at_fork(after_in_child=_renew)
