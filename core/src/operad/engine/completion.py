"""The `on_complete` that an asynchronous operation is given."""

from __future__ import annotations

import reprlib
import time
from collections.abc import Callable
from itertools import filterfalse, repeat
from typing import TYPE_CHECKING, Any, final

from operad.engine.lock import Request
from operad.engine.operation import RAN
from operad.errors import EngineError

if TYPE_CHECKING:
    from operad.engine.dispatch import Dispatcher
    from operad.engine.failure import Failure
    from operad.engine.operation import OprBlock


@final
class Rest(Request):
    """The function of an asynchronous block has returned."""

    __slots__ = ("is_counted",)

    def __init__(self, step: Callable[[Rest], object]) -> None:
        super().__init__(step)
        self.is_counted = False


@final
class AsyncRun:
    """One run of an asynchronous block, until it is completed.

    Args:
        dispatcher: Takes the block back.
        title: The operation, for messages.
        profiling: Whether the run is reported to the profiler.
        rest: What counts the function as returned; it may be requested twice.

    Attributes:
        block: What runs; None before its function is called, and once it is completed.
    """

    __slots__ = ("_dispatcher", "_is_left", "_rest", "_start_s", "_title", "block")

    def __init__(self, dispatcher: Dispatcher, title: str, profiling: bool, rest: Request) -> None:
        self._dispatcher = dispatcher
        self._title = title
        self._rest = rest
        self._is_left = False
        self.block: OprBlock | None = None
        self._start_s = time.perf_counter() if profiling else 0.0

    def close(self, error: object) -> bool:
        """Finish the operation unless it is finished; whether this call did."""
        found = error if error is None or isinstance(error, BaseException) else self._misuse(error)
        dispatcher = self._dispatcher
        lock, retire = dispatcher.lock, dispatcher.retire
        # commit: begin
        block = self.block
        if block is None:
            return False
        self.block = None
        block.error = found
        block.state = RAN
        block.step = retire
        lock.tail.next = lock.tail = block
        # commit: end
        dispatcher.started.discard(self)
        if block.profiling:
            dispatcher.report(self._title, block.ctx, self._start_s)
        lock.catch_up()
        return True

    def leave(self, why: Callable[[OprBlock], Failure]) -> None:
        """In a forked child: the parent completes it. A completion here does nothing.

        Args:
            why: Gives the failure of its block.
        """
        block, rest, lock, retire = self.block, self._rest, self._dispatcher.lock, self._dispatcher.retire
        if block is not None:
            failure, again = why(block), Request(lambda _: rest.step(rest))
            # commit: begin
            self.block = None
            self._is_left = True
            block.error = failure
            block.state = RAN
            block.step = retire
            lock.tail.next = lock.tail = block
            lock.tail.next = lock.tail = again
            # commit: end
        self._dispatcher.started.discard(self)

    def close_once(self, error: object) -> None:
        """Finish the operation.

        Raises:
            EngineError: It was done already.
        """
        if not self.close(error) and not self._is_left:
            raise EngineError(f"{self._title}: on_complete was called twice; call it once for each run")

    def drop(self) -> None:
        """Nothing can complete the operation any more."""
        if self.block is not None:
            self.close(
                EngineError(f"{self._title}: on_complete was dropped without being called; call it once")
            )

    def _misuse(self, error: object) -> EngineError:
        given = reprlib.repr(error)
        return EngineError(f"{self._title}: on_complete was given {given}, expected an exception or None")


@final
class Completion(filterfalse):  # type: ignore[type-arg]
    """The `on_complete` of one run; its death is noted in `Dispatcher.dropped`, by a function of C.

    A `__del__` in Python would swallow whatever exception comes in it from outside; see `imperative.chunk`,
    which has the same form.
    """

    __slots__ = ("_run",)
    _run: AsyncRun
    __del__ = filterfalse.__next__

    def __new__(cls, run: AsyncRun, dispatcher: Dispatcher) -> Completion:
        """A completion of `run`."""
        made: Any = super().__new__(cls, None, map(dispatcher.dropped.append, repeat(run)))
        made._run = run
        return made  # type: ignore[no-any-return]

    def __call__(self, error: BaseException | None = None) -> None:
        """The operation is done, or failed with `error`; what is no exception is an EngineError too.

        Raises:
            EngineError: It was done already.
        """
        self._run.close_once(error)
