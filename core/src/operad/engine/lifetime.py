"""Engines before and after a fork, and at the end of the process.

A fork copies one thread, so a child would find workers gone and a lock held for good. Before a fork, engines
come to rest and their locks are taken; afterwards the parent lets go, and the child's engines make
their locks again and hire workers when next needed. Work that is still pending, asynchronous or beside a
fork from inside an operation, stays the parent's: the child must not wait for its variables. Last of all a
fork waits for a thread that sets the limits of the BLAS libraries.

An exception from outside may end any of these functions, also at its entry; Python only prints it, and
forks all the same. So Python calls each twice, and each does what is not done already.

At exit, what can still run is run, and other threads' new work waits meanwhile; asynchronous operations
that are not completed are dropped, since waiting for them could take for ever. Failures that no wait
has raised are reported on one line.
"""

from __future__ import annotations

import atexit
import sys
import threading
import weakref
from typing import Any

from operad import first_use
from operad.engine.budget import blas_limits
from operad.engine.quiescence import Quiescence
from operad.engine.thread import NESTED, OPERATION, local
from operad.system import at_fork

_known: list[weakref.ref[Quiescence]] = []  # no `WeakSet`, whose callbacks lose what comes from outside
_forking: Any = threading.RLock()  # held by the thread that forks
_held: list[Quiescence] = []  # that came to rest for this fork


def watch(engine: Quiescence) -> None:
    """Tell `engine` of forks and of the end."""
    _known.append(weakref.ref(engine, _known.remove))


def _engines() -> list[Quiescence]:
    return [engine for known in tuple(_known) if (engine := known()) is not None]


def _before_fork() -> None:
    # Before its own handler, since what another thread does under it may be held back by an engine at rest.
    first_use.hold_for_fork()
    if not _forking._is_owned():
        _forking.acquire()
    waiting = [engine for engine in _engines() if engine not in _held]
    if waiting:
        blas_limits.release_after_fork()  # what an engine runs until it rests may set the limit
    for engine in waiting:
        engine.hold_for_fork()
        _held.append(engine)
    blas_limits.hold_for_fork()
    for engine in _engines():
        engine.let_end()


def _in_parent() -> None:
    if not _forking._is_owned():
        return
    blas_limits.release_after_fork()
    for engine in _engines():  # also those that an exception ended on the way to rest
        engine.release_after_fork()
    _held.clear()
    _forking.release()


def _in_child() -> None:
    global _forking
    _forking = threading.RLock()
    _held.clear()
    for engine in _engines():  # also where an exception kept the parent from holding them
        engine.renew_after_fork()
    blas_limits.renew_after_fork()
    if local.state.inside in (OPERATION, NESTED):  # the child is free of it, and may wait
        local.state.renew()


def _at_exit() -> None:
    for engine in _engines():
        unread = engine.finish_at_exit()
        if unread:
            listed = "; ".join(f"{failure.note}: {failure.error!r}" for failure in unread)
            sys.stderr.write(f"operad: {len(unread)} failure(s) that nothing waited for: {listed}\n")


atexit.register(_at_exit)
for _ in range(2):
    at_fork(before=_before_fork, after_in_parent=_in_parent, after_in_child=_in_child)
