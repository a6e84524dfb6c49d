"""State of a thread that the engine keeps, and the events that threads wait for."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from operad.scopes import Ending, closing

if TYPE_CHECKING:
    from operad.engine.operation import Claim, RunContext

_SLICE_S: Final = 0.2

OUTSIDE, OPERATION, STEP, NESTED = range(4)


@final
class ThreadState:
    """State of one thread, for all engines; get the calling thread's by `local.state`.

    Attributes:
        bulk_size: What `engine.set_bulk_size` was told last.
        inside: OUTSIDE the engine, inside an OPERATION (workers always are), NESTED in one that calls
            operators, or in a STEP that holds a queue's lock or is about to take it. Code that sets it
            restores what it was. It is set before the lock is tried: a signal handler or finalizer may
            run between any two bytecodes, and must learn that it interrupted a step.
        mode: What imperative calls of the thread do; it belongs to `imperative.state`, and stands here so
            that a call reads one thread-local value.
        scopes: The scopes of modes that it is in, the innermost first: the mode around it, and the next.
        ending: Leaves the innermost one; both belong to `imperative.state`, too.
        num_deferred: Pushes that it left to the lock's holder since it last waited for one of them; a heavy
            one counts as several.
        run: `run(function, *args)` calls a function with NumPy's error state of operators: IEEE
            results, no warnings, no errors, as in MXNet; whatever the thread's own error state is. (A
            call in a `contextvars` context of its own, since NumPy keeps the state in a context
            variable: 20 ns, where `np.errstate` takes 3 us.) It cannot be nested.
        run_ctx: The context of the counted operations that it runs.
        spare_claim: What the thread's inline functions hold their variables by, while it is not in use.
        trace: What notes its calls while it traces a function; it belongs to `compiled`.
        worker: The worker that it is, or is for while it waits; it belongs to `threaded`.
    """

    __slots__ = (
        "bulk_size", "ending", "inside", "mode", "num_deferred", "run", "run_ctx", "scopes", "spare_claim",
        "trace", "worker",
    )  # fmt: skip

    def __init__(self) -> None:
        self.mode = 0
        self.trace: Any = None
        self.scopes: tuple[int, Any] | None = None
        self.ending = Ending(closing(self, "scopes", "mode"))
        self.bulk_size = self.num_deferred = 0
        self.renew()

    def renew(self) -> None:
        """Stand outside again, as the only thread of a forked child does."""
        self.inside = OUTSIDE
        self.spare_claim: Claim | None = None
        self.worker: Any = None
        self.run_ctx: RunContext | None = None
        context = contextvars.Context()
        context.run(np.seterr, all="ignore")
        self.run = context.run


class _Local(threading.local):
    def __init__(self) -> None:
        self.state = ThreadState()


local: Final = _Local()


def is_inside() -> bool:
    """Return whether the calling thread is inside an operation, where it must not wait for others."""
    return local.state.inside != OUTSIDE


def new_event() -> threading.Lock:
    """An event for one waiting thread: a held lock, which `release` sets and `wait_for` waits for."""
    try:
        event = threading.Lock()
    except RecursionError:
        raise
    except RuntimeError as error:  # what Python says where there is no memory for a lock
        raise MemoryError("not enough memory for an event") from error
    event.acquire()
    return event


def wait_for(event: threading.Lock, timeout_s: float | None = None, heal: Callable[[], object] = int) -> bool:
    """Wait until `event` is set, or `timeout_s` have passed; whether it was set.

    In slices: a signal that comes between the last bytecode and the system call would otherwise be
    handled when the wait is over.

    Args:
        event: Made by `new_event`.
        timeout_s: How long at most; None: for ever.
        heal: Called after each slice: who waits goes on with what an exception ended in any thread.
    """
    if timeout_s is not None:
        return event.acquire(True, timeout_s)
    while not event.acquire(True, _SLICE_S):
        heal()
    return True
