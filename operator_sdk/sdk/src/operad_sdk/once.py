"""Things that several threads ask for at once, and one of them makes: compiled kernels.

A lock for each key, not one for all: a thread that finds its kernel does not wait for another one's. The
maker works under the lock of first uses as well, which a fork waits for: LLVM has a lock of its own, and a
child that was forked meanwhile would find it taken for good.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final, Generic, TypeVar, final

from operad.first_use import first_use
from operad.locks import new_lock

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@final
class _Pending:
    """A thing that a thread is making.

    Attributes:
        lock: The maker's.
        error: What making it has raised, for the threads that wait.
    """

    __slots__ = ("error", "lock")

    def __init__(self) -> None:
        self.lock: Final = new_lock()
        self.error: Exception | None = None


@final
class Once(Generic[K, V]):
    """Things by key, each made by one thread; none of them is None.

    Attributes:
        found: Those that there are.
    """

    def __init__(self) -> None:
        self.found: Final[dict[K, V]] = {}
        self._pending: Final[dict[K, _Pending]] = {}

    def get(self, key: K, make: Callable[..., V], *args: Any) -> V:
        """The thing of a key: that which is there, or what `make(*args)` returns.

        Raises:
            Exception: Of `make`, in all threads that waited for it. A later call tries again.
        """
        found = self.found.get(key)
        if found is not None:
            return found
        pending = self._pending.setdefault(key, _Pending())
        with pending.lock:
            if pending.error is not None:
                raise pending.error
            # invariant: an interruption or a fork leaves a free lock behind, and the next thread makes it
            if key not in self.found:
                try:
                    self.found[key] = first_use(make, *args)
                except Exception as error:
                    pending.error = error
                    raise
                finally:
                    self._forget(key, pending)
            else:
                self._forget(key, pending)
            return self.found[key]

    def _forget(self, key: K, pending: _Pending) -> None:
        if self._pending.get(key) is pending:
            self._pending.pop(key, None)
