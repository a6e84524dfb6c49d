"""Locks, threads and clocks that operad's code finds, so that a scheduler knows which thread waits for what.

`install` is called before operad is imported. Afterwards `threading.Lock()` and its like give what is
defined here to modules of operad, and the real thing to everybody else. Without a scheduler, and in threads
that none controls, all of it behaves as the real thing.
"""

from __future__ import annotations

import _thread
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Final, final

from tests.reliability.laboratory.scheduler import Scheduler, Task

_PACKAGES: Final = ("operad.", "operad_", "tests.reliability.laboratory.programs")


@final
class _World:
    """The process's scheduler, while there is one."""

    scheduler: ClassVar[Scheduler | None] = None


def enter(scheduler: Scheduler | None) -> None:
    """Have the primitives ask `scheduler` from now on."""
    _World.scheduler = scheduler


def _scheduler() -> Scheduler | None:
    """The scheduler, if it controls the calling thread."""
    found = _World.scheduler
    return found if found is not None and found.controls_caller() else None


class Lock:
    """A `threading.Lock` whose waiters a scheduler knows."""

    __slots__ = ("__weakref__", "_real")

    def __init__(self) -> None:
        self._real = self._new()

    @staticmethod
    def _new() -> Any:
        return _thread.allocate_lock()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """See `threading.Lock`."""
        if self._real.acquire(False):
            return True
        if not blocking:
            return False
        scheduler = _scheduler()
        if scheduler is None:
            return bool(self._real.acquire(True, timeout))
        deadline_s = scheduler.now_s + timeout
        while True:
            left_s = None if timeout < 0 else max(deadline_s - scheduler.now_s, 0.0)
            is_woken = scheduler.wait(self, left_s)
            if self._real.acquire(False):
                return True
            if not is_woken:
                return False

    def release(self) -> None:
        """See `threading.Lock`."""
        self._real.release()
        scheduler = _scheduler()
        if scheduler is not None:
            scheduler.wake(self)

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def locked(self) -> bool:
        """See `threading.Lock`."""
        return bool(self._real.locked())

    def _at_fork_reinit(self) -> None:
        self._real._at_fork_reinit()


@final
class RLock(Lock):
    """A `threading.RLock` whose waiters a scheduler knows."""

    __slots__ = ()

    @staticmethod
    def _new() -> Any:
        return _thread.RLock()

    def _is_owned(self) -> bool:
        return bool(self._real._is_owned())


def _start(self: threading.Thread) -> None:
    scheduler = _scheduler()
    if scheduler is not None:
        task = scheduler.adopt(self.name)
        _tasks[self] = task
        self.run = partial(scheduler.run, task, self.run)  # type: ignore[method-assign]
    _real_thread_start(self)


def _join(self: threading.Thread, timeout: float | None = None) -> None:
    scheduler, task = _scheduler(), _tasks.get(self)
    if scheduler is None or task is None:
        _real_join(self, timeout)
    elif not task.is_done:
        scheduler.wait(task, timeout)


def _is_alive(self: threading.Thread) -> bool:
    task = _tasks.get(self)
    return _real_is_alive(self) if task is None else not task.is_done


_tasks: Final[weakref.WeakKeyDictionary[threading.Thread, Task]] = weakref.WeakKeyDictionary()
_real_thread_start: Final = threading.Thread.start
_real_join: Final = threading.Thread.join
_real_is_alive: Final = threading.Thread.is_alive


def _start_new_thread(function: Callable[..., object], args: tuple[Any, ...], kwargs: Any = None) -> int:
    if _scheduler() is None:
        return _real_start(function, args, kwargs or {})
    function(*args, **(kwargs or {}))  # of `start_thread`: it calls `Thread.start`, and has no points
    return 0


_real_start: Final = _thread.start_new_thread
_real_sleep: Final = time.sleep


def sleep(seconds: float) -> None:
    """See `time.sleep`."""
    scheduler = _scheduler()
    if scheduler is None:
        _real_sleep(seconds)
    else:
        scheduler.wait(object(), seconds)


def _clock(real: Callable[[], float]) -> Callable[[], float]:
    def read() -> float:
        scheduler = _scheduler()
        return real() if scheduler is None else scheduler.now_s

    return read


def _for_operad(real: Any, ours: Any) -> Callable[..., Any]:
    """A function that calls `ours` for modules of operad and of these programs, and `real` for all others."""

    def choose(*args: Any, **kwargs: Any) -> Any:
        name = sys._getframe(1).f_globals.get("__name__", "")
        is_operad = name == "operad" or name.startswith(_PACKAGES)
        return (ours if is_operad else real)(*args, **kwargs)

    return choose


def install() -> None:
    """Put the primitives where operad's modules find them; operad must not be imported yet."""
    assert "operad" not in sys.modules, "operad has found the real locks already"
    threading.Lock = _for_operad(threading.Lock, Lock)  # type: ignore[assignment]
    threading.RLock = _for_operad(threading.RLock, RLock)  # type: ignore[assignment]
    _thread.allocate_lock = _for_operad(_thread.allocate_lock, Lock)
    _thread.start_new_thread = _for_operad(_thread.start_new_thread, _start_new_thread)
    _thread.RLock = _for_operad(_thread.RLock, RLock)  # type: ignore[assignment,misc]
    time.sleep = _for_operad(time.sleep, sleep)
    for name in ("monotonic", "perf_counter", "time"):
        real = getattr(time, name)
        setattr(time, name, _for_operad(real, _clock(real)))
    threading.Thread.start = _start  # type: ignore[method-assign]
    threading.Thread.join = _join  # type: ignore[method-assign]
    threading.Thread.is_alive = _is_alive  # type: ignore[method-assign]
    os.register_at_fork(after_in_child=_in_child)


def _in_child() -> None:
    if _World.scheduler is not None:
        _World.scheduler.stay_alone()
