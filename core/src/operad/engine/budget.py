"""The thread budget: operations running at once, times the threads inside each, stay within a total.

Each running operation's share is the total divided by the operations whose functions run: a lone one has all
threads, also where the worker of the one before has not gone to rest yet, and as others start its share falls
for whatever it launches next. Kernels with pools of their own
read `RunContext.num_threads`, and so does who divides work into parts.

BLAS has one thread while anything of the engine's runs. The last bits of a product depend on its number of
threads: sums of more than a few hundred products are cut in other places. That number belongs to the
process, so a product beside another operation, or beside an import that put it back, would have other bits
than alone. And threads of BLAS meet at a barrier, where they wait for cores that another process holds
(measured with four busy cores: 53 ms instead of 0.3 ms). Large products are divided by operators, into
parts that shapes alone decide (`ThreadBudget.parallel`).

The program's own products have BLAS's threads again when nothing runs and it reads an array or waits for
everything, or when the last worker goes to rest. threadpoolctl's context manager takes 10 us to enter
and leave; calling the library's own setter through its controller takes 1 us, and is done only when the limit
changes (measured on 4 cores, OpenBLAS 0.3.31).
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, TypeVar, final

from operad.engine.intra_op import PartFn, intra_op_pool
from operad.engine.operation import RunContext
from operad.engine.thread import local
from operad.first_use import import_module

T = TypeVar("T")

_FORK_WAITS_S: Final = 2.0
UNLIMITED: Final = 1 << 30
"""As many threads as a library had before."""


@final
class ThreadBudget:
    """Shares out `total` threads among the running operations.

    It needs no lock: the list of what runs changes by single atomic steps, the first `total` in it may run,
    and shares follow from its length.

    Attributes:
        total: Threads of the budget.
        running: The counted operations that run now, and for a moment what asked in vain.
    """

    __slots__ = ("running", "total")

    def __init__(self, total: int) -> None:
        self.total = total
        self.running: list[RunContext] = []

    @property
    def is_full(self) -> bool:
        """Return whether no further operation may start."""
        return len(self.running) >= self.total

    @property
    def share(self) -> int:
        """Threads that each running operation may use."""
        return self.total // (sum(run_ctx.is_running for run_ctx in self.running) or 1) or 1

    def start(self, run_ctx: RunContext) -> bool:
        """Count an operation in, the others' shares falling; False if the budget is full."""
        running = self.running
        if len(running) >= self.total:
            return False
        running.append(run_ctx)
        if running.index(run_ctx) < self.total:
            blas_limits.begin(run_ctx)
            return True
        self.finish(run_ctx)  # another one was faster
        return False

    def start_beyond(self, run_ctx: RunContext) -> None:
        """Count an operation in, however many there are."""
        self.running.append(run_ctx)
        blas_limits.begin(run_ctx)

    def finish(self, run_ctx: RunContext) -> None:
        """Count an operation out, if it is counted; the others' shares rise."""
        # In this order: what an exception keeps counted in `running`, `_put_down` finishes once more.
        blas_limits.end(run_ctx)
        with suppress(ValueError):
            self.running.remove(run_ctx)

    @property
    def num_threads_now(self) -> int:
        """Number of threads for who asks, at this moment; 1 for parts, and what is worth no more."""
        run_ctx = local.state.run_ctx
        is_single = intra_op_pool.is_inside or (run_ctx and not run_ctx.is_worth)
        return 1 if is_single else self.share

    def parallel(self, function: PartFn, count: int, width: int) -> None:
        """Compute the parts of an operation's work, called from inside it; returns when all are done.

        Args:
            function: Called as `function(part, slot)` for every part below `count`, from up to `width`
                threads. The result must not depend on which thread, slot or order a part gets.
            count: How many parts there are.
            width: How many may be computed at once, as `num_threads_now` said; slots are below it.
        """
        run_single(intra_op_pool.run, function, count, width)

    def limit_blas(self) -> None:
        """Give BLAS no more threads while nothing runs, where the budget is smaller than the machine."""
        blas_limits.rest_at(self.total if self.total < (os.cpu_count() or 1) else UNLIMITED)

    def renew(self, own: RunContext | None) -> None:
        """Count nothing as running but what the calling thread runs, as in a forked child."""
        self.running[:] = [run_ctx for run_ctx in self.running if run_ctx is own]


@final
class BlasLimits:
    """The limit of the BLAS libraries, which is the process's: one for all engines.

    One thread at a time sets it, and none while another one forks. OpenBLAS ends its threads before a fork,
    and the next call that sets a limit starts them again, under a lock of its own. A child that is forked
    meanwhile would find that lock taken for good.

    Attributes:
        lock: Held by who sets a limit.
        users: An element for each operation that runs now: BLAS has one thread while there is any.
        idle: The limit while there is none.
        applied: The limit in force; 0 while it changes.
    """

    __slots__ = ("_is_held", "applied", "idle", "lock", "users")

    def __init__(self) -> None:
        self.lock: Any = threading.RLock()  # a finalizer may fork, or run operations, inside
        self._is_held = False
        self.users: list[object] = []
        self.idle = self.applied = UNLIMITED

    def begin(self, user: object) -> None:
        """Have BLAS compute with one thread from now on, until `end`."""
        self.users.append(user)
        # invariant: who reads 1 here was in the list before any later `apply` looks at it. 0: another thread
        # is in `apply`, and may have looked before; this waits for that one and sets the limit again.
        if self.applied != 1:
            self.apply()

    def end(self, user: object) -> None:
        """Do without it. The limit stays, since another product may follow; see `restore`."""
        with suppress(ValueError):
            self.users.remove(user)

    def restore(self) -> None:
        """Give the program's own products their threads back, if nothing runs."""
        if self.applied != self.idle and not self.users:
            self.apply()

    def rest_at(self, limit: int) -> None:
        """Change the limit while nothing runs."""
        self.idle = limit
        self.restore()

    def apply(self) -> None:
        """Give the libraries their limit, if they have another."""
        import_module("threadpoolctl")
        with self.lock:
            pools = _blas_pools()  # under the lock, or one thread might note the limit that another one sets
            before = self.applied
            self.applied = 0
            limit = 1 if self.users else self.idle
            if limit != before:
                for set_num_threads, most in pools.values():
                    set_num_threads(min(limit, most))
            self.applied = limit

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
        """The child finds the lock free, unless its thread forked under it, and only its own operation."""
        if not self.lock._is_owned():
            self.lock = threading.RLock()
        own = local.state.run_ctx
        self.users[:] = [] if own is None else [own]
        self.release_after_fork()


blas_limits: Final = BlasLimits()


def run_single(function: Callable[..., T], *args: object) -> T:
    """Return what a function returns, BLAS having one thread meanwhile: for what no budget counts."""
    users = blas_limits.users
    try:
        users.append(function)  # as in `begin` and `end`, at whose entry an exception would leave it there
        if blas_limits.applied != 1:
            blas_limits.apply()
        return function(*args)
    finally:
        try:  # noqa: SIM105 - a call may be interrupted
            users.remove(function)
        except ValueError:  # a child that was forked inside
            pass


@contextmanager
def kept_blas_threads() -> Iterator[None]:
    """Around an import: undo what it does to the BLAS libraries' threads, and limit what it loads.

    Operations begin and end meanwhile in other threads. So what was there before is put back only where
    the limit is the one of then; else what it is now holds.
    """
    import_module("threadpoolctl")
    with blas_limits.lock:
        known = _blas_pools()
        limit, before = blas_limits.applied, [(pool, pool.num_threads) for pool in _loaded_blas()]
    try:
        yield
    finally:
        with blas_limits.lock:
            for pool, num_threads in before:
                if blas_limits.applied != limit and pool.filepath in known:
                    num_threads = min(blas_limits.applied, known[pool.filepath][1])
                if pool.num_threads != num_threads:
                    _setter(pool)(num_threads)
            added = [pool for pool in _loaded_blas() if pool.filepath not in known]
            known.update((pool.filepath, _limits(pool)) for pool in added)
            for set_num_threads, most in [known[pool.filepath] for pool in added]:
                set_num_threads(min(blas_limits.applied or 1, most))


@functools.cache
def _blas_pools() -> dict[str, tuple[Callable[[int], object], int]]:
    """By file, the setters of the BLAS libraries, each with the threads it had before any budget."""
    return {pool.filepath: _limits(pool) for pool in _loaded_blas()}


def _loaded_blas() -> list[Any]:
    threadpoolctl = import_module("threadpoolctl")  # 5 ms, paid when the first plugin is imported
    pools = list(threadpoolctl.ThreadpoolController().select(user_api="blas").lib_controllers)
    for pool in pools:  # a limit is set at once: no other thread is to take the interpreter meanwhile
        pool.dynlib = ctypes.PyDLL(pool.filepath, handle=pool.dynlib._handle)
    return pools


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
