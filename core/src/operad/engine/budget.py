"""The thread budget: operations running at once, times the threads inside each, stay within a total.

Each running operation's share is the total divided by the operations that run: a lone one has all
threads, and as others start its share falls for whatever it launches next. A share is not fixed for an
operation's whole life, because then a lone operation would hold every thread until its end and
two operations could never overlap unless they started together; the price is that a BLAS call
already in flight keeps its threads until it returns.

A product that one core finishes in a fraction of a millisecond runs on one thread, whatever the share:
its threads would have to meet at a barrier, and where another process holds a core they wait there for
it to be scheduled (measured with four busy cores: 53 ms instead of 0.3 ms).

BLAS pools are process-wide, so their limit follows the share. threadpoolctl's context manager takes
10 us to enter and leave; calling the library's own setter through its controller takes 1 us, and is
done only when the share changes (measured on 4 cores, OpenBLAS 0.3.31). Kernels with pools of their
own read `RunContext.num_threads`.
"""

from __future__ import annotations

import functools
import os
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from operator import attrgetter
from typing import Any, Final, TypeVar, final

from operad.engine.intra_op import PartFn, intra_op_pool
from operad.engine.operation import RunContext
from operad.engine.thread import local
from operad.first_use import import_module

T = TypeVar("T")

_FORK_WAITS_S: Final = 2.0
_IS_WORTH: Final = attrgetter("is_worth")


@final
class ThreadBudget:
    """Shares out `total` threads among the running operations.

    It needs no lock: the list of what runs changes by single atomic steps, the first `total` in it may run,
    and shares follow from its length.

    Attributes:
        total: Threads of the budget.
        running: The counted operations that run now, and for a moment what asked in vain.
        single: What runs now with one BLAS thread and is not counted: parts, and what callers run
            themselves. An element for each.
        applied: The limit the BLAS libraries were last given; 0 before the first, and while it changes.
    """

    __slots__ = ("__weakref__", "applied", "running", "single", "total")

    def __init__(self, total: int) -> None:
        self.total = total
        self.running: list[RunContext] = []
        self.single: list[object] = []
        self.applied = 0
        _budgets.add(self)

    @property
    def is_full(self) -> bool:
        """Return whether no further operation may start."""
        return len(self.running) >= self.total

    @property
    def share(self) -> int:
        """Threads that each running operation may use."""
        return self.total // (len(self.running) or 1) or 1

    @property
    def limit(self) -> int:
        """Threads that BLAS may use: one while anything runs that is not worth more."""
        if self.single or not all(map(_IS_WORTH, self.running)):
            return 1
        return self.total // (len(self.running) or 1) or 1  # `share`, without a further frame

    def start(self, run_ctx: RunContext) -> bool:
        """Count an operation in, the others' shares falling; False if the budget is full."""
        running = self.running
        if len(running) >= self.total:
            return False
        running.append(run_ctx)
        if running.index(run_ctx) < self.total:
            return True
        self.finish(run_ctx)  # another one was faster
        return False

    def finish(self, run_ctx: RunContext) -> None:
        """Count an operation out, if it is counted; the others' shares rise."""
        with suppress(ValueError):
            self.running.remove(run_ctx)
        self.restore()

    def use(self, run_ctx: RunContext, is_worth: bool) -> None:
        """Say, from inside a counted operation, whether what it does next is worth several threads.

        BLAS pools get the operation's share of the thread budget where it is, and no other operation says
        that it is not, else one thread: a small product gains little from more, and loses much where cores
        are busy. And its results would have other last bits, which must not depend on what else runs.
        """
        run_ctx.is_worth = is_worth
        # 0 while another thread changes it, for which `apply` waits.
        if self.applied != (self.limit if is_worth else 1):
            self.apply()

    @property
    def num_threads_now(self) -> int:
        """Number of threads for who asks, at this moment; 1 for parts, and what is worth no more."""
        run_ctx = local.state.run_ctx
        is_single = intra_op_pool.is_inside or (run_ctx and not run_ctx.is_worth)
        return 1 if is_single else self.share

    def use_now(self, is_worth: bool) -> None:
        """`use` of the calling thread's operation, if it is a counted one."""
        if run_ctx := local.state.run_ctx:
            self.use(run_ctx, is_worth)

    def run_single(self, function: Callable[..., T], *args: object) -> T:
        """Return what a function returns, BLAS having one thread meanwhile."""
        try:
            self.single.append(function)
            if self.applied != 1:
                self.apply()
            return function(*args)
        finally:
            with suppress(ValueError):
                self.single.remove(function)
            self.restore()

    def parallel(self, function: PartFn, count: int, width: int) -> None:
        """Compute the parts of an operation's work, called from inside it; returns when all are done.

        BLAS pools get one thread meanwhile.

        Args:
            function: Called as `function(part, slot)` for every part below `count`, from up to `width`
                threads. The result must not depend on which thread, slot or order a part gets.
            count: How many parts there are.
            width: How many may be computed at once, as `num_threads_now` said; slots are below it.
        """
        self.run_single(intra_op_pool.run, function, count, width)

    def restore(self) -> None:
        """Give BLAS pools back what an operation that is over did without."""
        if self.applied != self.limit:
            self.apply()

    def apply(self, is_over: bool = False) -> None:
        """Give the BLAS libraries their limit, if they have another.

        Args:
            is_over: Give them back the threads they had before any budget.
        """
        pools = list(_blas_pools().values())  # which imports, for the first time
        with blas_limits.lock:
            before = self.applied
            # What begins now sees this, and waits for the lock, or is seen by what follows.
            self.applied = 0
            limit = 0 if is_over else self.limit
            if is_over or limit != before:
                for set_num_threads, most in pools:
                    set_num_threads(min(limit or most, most))
            self.applied = limit

    def apply_if_restricted(self) -> None:
        """Apply at once where the budget is smaller than the machine, before any worker has started."""
        if self.total < (os.cpu_count() or 1):
            self.apply()

    def renew(self, own: RunContext | None) -> None:
        """Count nothing as running but what the calling thread runs, as in a forked child."""
        self.running[:] = [run_ctx for run_ctx in self.running if run_ctx is own]
        self.single.clear()


@final
class BlasLimits:
    """The limits of the BLAS libraries, which one thread at a time sets, and none while another one forks.

    OpenBLAS ends its threads before a fork, and the next call that sets a limit starts them again, under a
    lock of its own. A child that is forked meanwhile would find that lock taken for good.

    Attributes:
        lock: Held by who sets a limit.
    """

    __slots__ = ("_is_held", "lock")

    def __init__(self) -> None:
        self.lock: Any = threading.RLock()  # a finalizer may fork, or run operations, inside
        self._is_held = False

    def hold_for_fork(self) -> None:
        """Wait until no other thread sets a limit; not for ever, since a finalizer in it may wait for us."""
        if not self.lock._is_owned():
            self._is_held = True
            self.lock.acquire(timeout=_FORK_WAITS_S)

    def release_after_fork(self) -> None:
        """The parent goes on."""
        if self._is_held and self.lock._is_owned():
            self.lock.release()
        self._is_held = False

    def renew_after_fork(self) -> None:
        """The child finds the lock free, unless its thread forked under it."""
        if not self.lock._is_owned():
            self.lock = threading.RLock()
        self.release_after_fork()


blas_limits: Final = BlasLimits()
_budgets: Final[weakref.WeakSet[ThreadBudget]] = weakref.WeakSet()


@contextmanager
def kept_blas_threads() -> Iterator[None]:
    """Around an import: undo what it does to the BLAS libraries' threads, and limit what it loads."""
    known = _blas_pools()
    before = [(pool, pool.num_threads) for pool in _loaded_blas()]
    try:
        yield
    finally:
        with blas_limits.lock:
            for pool, num_threads in before:
                if pool.num_threads != num_threads:
                    _setter(pool)(num_threads)
        added = {pool.filepath: _limits(pool) for pool in _loaded_blas() if pool.filepath not in known}
        if added:
            known.update(added)
            for budget in list(_budgets):
                budget.applied = 0  # so that the next operation gives them their limit


@functools.cache
def _blas_pools() -> dict[str, tuple[Callable[[int], object], int]]:
    """By file, the setters of the BLAS libraries, each with the threads it had before any budget."""
    return {pool.filepath: _limits(pool) for pool in _loaded_blas()}


def _loaded_blas() -> list[Any]:
    threadpoolctl = import_module("threadpoolctl")  # 5 ms, paid when the first plugin is imported
    return list(threadpoolctl.ThreadpoolController().select(user_api="blas").lib_controllers)


def _limits(pool: Any) -> tuple[Callable[[int], object], int]:
    return _setter(pool), pool.num_threads or 1


def _setter(pool: Any) -> Callable[[int], object]:
    """The library's own setter.

    Newer threadpoolctl lets only the thread that asked first set OpenBLAS's limit and ignores the
    others, lest threads fight over it. Here any worker may be the one that applies the share, one at
    a time.
    """
    setter: Callable[[int], object] = getattr(pool, "_real_set_num_threads", pool.set_num_threads)
    return setter
