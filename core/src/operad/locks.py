"""Locks that a forked child finds free.

A thread that holds a lock while another one forks does not go on in the child, where no thread would ever
give the lock back. So the child makes every lock of this module new that another thread held, before any
other code of operad runs there.

What a lock guards may then be half changed. So code under one changes it by single assignments in an
order in which any first part of them does no harm, or repairs it in a fork handler of its own.

Refused: taking every lock before the fork. Locks nest (resources make variables of the engine, which
has its own gate for forks), so a fork could wait for a thread that waits for the fork.
"""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager
from typing import Any, Final
from weakref import WeakSet

from operad.system import at_fork

Lock = AbstractContextManager[bool, None]

_locks: Final[WeakSet[Any]] = WeakSet()


def new_lock() -> Lock:
    """A reentrant lock, which a finalizer that runs inside it may take again."""
    lock = threading.RLock()
    _locks.add(lock)
    return lock


def _renew() -> None:
    for lock in _locks:
        if not lock._is_owned():  # the forking thread goes on, and gives back what it holds
            lock._at_fork_reinit()  # what Python's own modules use, such as `logging`


for _ in range(2):  # an exception from outside may end one call
    at_fork(after_in_child=_renew)
