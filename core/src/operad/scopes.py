"""Scopes that no exception from outside leaves open.

The interpreter looks at signals at the entry of each function of Python. An `__exit__` that is one may be
ended there by Ctrl-C, before its first line: the `with` is over, and what it switched on stays on. So a
scope is opened by one store, the last thing that its `__enter__` does, and closed by functions of C alone,
which allocate nothing: there may be no memory. Of these, `io.IOBase.__exit__` is the one that takes what a
`with` gives and calls something to be chosen.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import repeat
from operator import attrgetter, itemgetter, not_
from typing import Any, Final, Generic, TypeVar, final

T = TypeVar("T")

_NEVER: Final = object()


@final
class Ending(io.IOBase):
    """Ending of a scope: its `__exit__` calls `close`, a function of C that gives something false."""

    __slots__ = ("close",)
    closed = True  # else its finalizer would close the scope once more

    def __init__(self, close: Callable[[], object]) -> None:
        self.close = close  # type: ignore[assignment, method-assign]


@final
class Exit:
    """The `__exit__` of a class of scopes.

    Args:
        find: Gives a scope's `Ending`.
    """

    def __init__(self, find: Callable[[Any], Ending]) -> None:
        self._find = find

    def __get__(self, scope: object, owner: type) -> Callable[..., None]:
        return self if scope is None else self._find(scope).__exit__

    def __call__(self, scope: object, *raised: object) -> None:
        """Close a scope, as `contextlib.ExitStack` asks the class to."""
        self._find(scope).__exit__(*raised)  # type: ignore[arg-type]


def closing(owner: object, levels: str, *names: str) -> Callable[[], bool]:
    """A function of C that leaves the innermost of an owner's scopes; it gives False.

    Args:
        owner: Has all the attributes.
        levels: The attribute that is the innermost level: what `names` are to be again, and then the level
            around it.
        names: More attributes that the scope has changed.
    """
    level = iter(partial(attrgetter(levels), owner), _NEVER)
    positions = enumerate((*names, levels), start=not names)
    return _storing(owner, {name: map(itemgetter(position), level) for position, name in positions})


def as_now(owner: object, *names: str) -> Callable[[], bool]:
    """A function of C that gives an owner's attributes the values that they have now; it gives False."""
    return _storing(owner, {name: repeat(getattr(owner, name)) for name in names})


def _storing(owner: object, values: Mapping[str, Iterable[object]]) -> Callable[[], bool]:
    """A function of C that gives each attribute its next value, without an allocation, which could fail."""
    steps = [map(partial(setattr, owner, name), found) for name, found in values.items()]
    return partial(next, map(not_, zip(*steps, strict=False)))


class Levels(threading.local, Generic[T]):
    """The nested scopes that each thread is in; an `__enter__` ends with `levels.top = value, levels.top`.

    Args:
        first: Makes what the thread has outside of any.

    Attributes:
        top: What the innermost one gives, and the level around it.
        ending: Closes it.
    """

    def __init__(self, first: Callable[[], T]) -> None:
        self.top: tuple[T, Any] = first(), None
        self.ending = Ending(closing(self, "top"))
