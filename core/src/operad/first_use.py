"""Work that is done once, when it is first used: without a lock that operad does not own.

A thread may fork at any moment, and a child finds every lock that another thread held taken for good. What
operad owns it renews (`locks`); a lock of Python's is beyond it: `functools.cached_property` has one in
Python 3.11, every module has one while it is imported, and the parser must not be entered twice. So
properties are kept without one here, and imports and parsing stand under one lock, which a fork waits for.

A thread that Python has importing something may hold the lock of a module that another thread waits for,
under this lock; and a module may start a thread in its import, and wait for it. So a thread that is importing
does not wait for this lock, and no thread waits long: it goes on without, as it would anywhere.
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
_MOST_POLLS: Final = 2000
_MOST_TRIES: Final = 10


@final
class _Lock:
    """Free while the slot `token` is there, else `owner`'s; see `engine.lock`.

    Attributes:
        owner: A thread, or minus a thread that forks.
    """

    __slots__ = ("owner", "token")

    def __init__(self) -> None:
        self.owner: int | None = None
        self.token = None


_lock: Final = _Lock()


@final
class cached_property(Generic[T]):  # noqa: N801 - as Python's
    """A property that is worked out once, and is an attribute from then on.

    As `functools.cached_property`, which has one lock for all objects up to Python 3.11. Two threads may work
    it out at once; both get what the first one found.
    """

    def __init__(self, function: Callable[[Any], T]) -> None:
        self._function = function
        self.__doc__ = function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

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
    """Return whether the calling thread is in the midst of an import."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


def first_use(function: Callable[..., T], *args: Any) -> T:
    """Call `function(*args)`, which imports, parses or compiles something, under the lock; reentrant."""
    me = threading.get_ident()
    if _lock.owner == me or is_importing():
        return function(*args)
    for _ in range(_MOST_POLLS):
        try:
            # commit: begin
            del _lock.token
            _lock.owner = me
            # commit: end
        except AttributeError:  # another thread has it
            time.sleep(_POLL_S)
        else:
            try:
                return function(*args)
            finally:
                _lock.owner = _lock.token = None  # commit
    return function(*args)


def import_module(name: str) -> Any:
    """`importlib.import_module`, under the lock where the module is not there yet."""
    module = sys.modules.get(name)
    if module is None or getattr(module.__spec__, "_initializing", False):
        return first_use(importlib.import_module, name)
    return module


def parse_source(text: str, mode: str = "exec") -> Any:
    """`ast.parse`, of which Python 3.11 bears one at a time; the program may be in the midst of another."""
    ast = import_module("ast")
    for _ in range(_MOST_TRIES):
        with suppress(SystemError):  # "AST constructor recursion depth mismatch"
            return first_use(partial(ast.parse, text, mode=mode))
    return ast.parse(text, mode=mode)


# Before a fork, no other thread is to be in the midst of something here: not even of the first import of the
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
            if _lock.owner in (me, forking):
                return  # it goes on in both processes
            time.sleep(_POLL_S)
        else:
            return


def _release_after_fork() -> None:
    """The parent goes on."""
    if _lock.owner == -threading.get_ident():
        _lock.owner = _lock.token = None  # commit


def _renew_after_fork() -> None:
    """The child finds the lock free, unless it forked under it."""
    if _lock.owner != threading.get_ident():
        _lock.owner = _lock.token = None  # commit


for _ in range(2):  # an exception from outside may end one call of each
    at_fork(before=hold_for_fork, after_in_parent=_release_after_fork, after_in_child=_renew_after_fork)
