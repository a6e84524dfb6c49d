"""Work that is done once, when it is first used: without a lock that operad does not own.

A thread may fork at any moment, and a child finds every lock that another thread held taken for good. What
operad owns it renews (`locks`); a lock of Python's is beyond it: `functools.cached_property` has one in
Python 3.11, every module has one while it is imported, and the parser must not be entered twice. So
properties are kept without one here, and imports and parsing stand under one lock, which a fork waits for.

A thread that Python has importing something may hold the lock of a module that another thread waits for,
under this lock; and a module may start a thread in its import, and wait for it. So a thread that is importing
does not wait for this lock, and no thread waits long. A holder that is found slow is not waited for again:
others go on beside it, as they would anywhere, and a fork waits for them too. What fails meanwhile may be a
fault of the order in which modules were imported (`was_alone`).
"""

from __future__ import annotations

import importlib
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import Any, Final, Generic, Self, TypeVar, final, overload

from operad.system import at_fork

T = TypeVar("T")

_POLL_S: Final = 0.001
_FEW_POLLS: Final = 200
"""Looks after which the lock's holder is slow."""
_MOST_POLLS: Final = 2000
_MOST_TRIES: Final = 10


@final
class _Lock:
    """Free while the slot `token` is there, else `owner`'s; see `engine.lock`.

    Attributes:
        owner: A thread, or minus a thread that forks.
        slow: An owner that a thread has waited long for.
        beside: Threads that have gone on without the lock.
    """

    __slots__ = ("beside", "owner", "slow", "token")

    def __init__(self) -> None:
        self.owner: int | None = None
        self.slow: int | None = None
        self.beside: set[int] = set()
        self.token = None


_lock: Final = _Lock()


@final
class cached_property(Generic[T]):  # noqa: N801 - as Python's
    """A property that is worked out once, and is an attribute from then on.

    As `functools.cached_property`, which has one lock for all objects up to Python 3.11. Two threads may work
    it out at once; both get what the first one found.
    """

    def __init__(self, function: Callable[[Any], T]) -> None:
        # `__set_name__` would tell the name, but what comes out of it is a RuntimeError up to Python 3.11, an
        # interrupt too.
        self._function, self._name = function, function.__name__
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> Self | T:
        """The value, once it was worked out."""
        if instance is None:
            return self
        found: T = vars(instance).setdefault(self._name, self._function(instance))
        return found


def is_importing() -> bool:
    """Return whether the calling thread is inside an import."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


def first_use(function: Callable[..., T], *args: Any) -> T:
    """Call `function(*args)`, which imports, parses or compiles something, under the lock; reentrant."""
    me = threading.get_ident()
    if _lock.owner == me or me in _lock.beside or is_importing():
        return function(*args)
    for poll in range(_MOST_POLLS):
        if _lock.slow is not None and _lock.slow == _lock.owner:
            break
        try:
            # commit: begin
            del _lock.token
            _lock.owner = me
            # commit: end
        except AttributeError:  # another thread has it
            owner = _lock.owner or 0
            if poll >= _FEW_POLLS and owner > 0:  # a fork is soon over
                _lock.slow = owner
            time.sleep(_POLL_S)
        else:
            try:
                return function(*args)
            finally:
                _lock.slow = _lock.owner = _lock.token = None  # commit
    try:
        _lock.beside.add(me)
        return function(*args)
    finally:
        _lock.beside.discard(me)


def was_alone() -> bool:
    """Return whether no other thread can have imported anything in this first use."""
    me = threading.get_ident()
    return not (is_importing() or _lock.slow == me or me in _lock.beside)


def import_module(name: str) -> Any:
    """`importlib.import_module`, under the lock where the module is not there yet."""
    module = sys.modules.get(name)
    if module is None or getattr(module.__spec__, "_initializing", False):
        return first_use(importlib.import_module, name)
    return module


def parse_source(text: str, mode: str = "exec") -> Any:
    """`ast.parse`, of which Python 3.11 allows one at a time; the program may be inside another."""
    ast = import_module("ast")
    for _ in range(_MOST_TRIES):
        with suppress(SystemError):  # "AST constructor recursion depth mismatch"
            return first_use(partial(ast.parse, text, mode=mode))
    return ast.parse(text, mode=mode)


# Before a fork, no other thread is to be inside something here: not even of the first import of the
# engine, which has handlers of its own.


def hold_for_fork() -> None:
    """Take the lock, if the fork has not yet; a thread that never gives it back is not waited for."""
    me = threading.get_ident()
    forking = -me
    for _ in range(_MOST_POLLS):
        try:
            # commit: begin
            del _lock.token
            _lock.owner = forking
            # commit: end
        except AttributeError:
            if _lock.owner in (me, forking) and not _lock.beside - {me}:
                return  # it goes on in both processes
            time.sleep(_POLL_S)
        else:
            continue  # beside it others may be at work


def _release_after_fork() -> None:
    """The parent goes on."""
    if _lock.owner == -threading.get_ident():
        _lock.owner = _lock.token = None  # commit


def _renew_after_fork() -> None:
    """The child finds the lock free, unless it forked under it."""
    _lock.beside &= {threading.get_ident()}
    if _lock.owner != threading.get_ident():
        _lock.slow = _lock.owner = _lock.token = None  # commit


for _ in range(2):  # an exception from outside may end one call of each
    at_fork(before=hold_for_fork, after_in_parent=_release_after_fork, after_in_child=_renew_after_fork)
