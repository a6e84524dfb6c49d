"""Keys of operators that are the same for a compiler: class and parameters, or else identity."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from functools import cache
from typing import Any, Final, Generic, TypeVar, final

from operad.first_use import cached_property
from operad.op import OperatorProperty

T = TypeVar("T")

_EXACT: Final = frozenset({int, bool, str, type(None)})
"""Types whose values are equal only if they act alike; `0.0 == -0.0`, say, does not."""
_PLAIN: Final = _EXACT | {float}


def signature(op: OperatorProperty) -> Hashable:
    """A key that two properties share only if every answer they give, and what they compute, is alike.

    All that an instance knows is in its `__dict__`, where cached properties follow from the rest. Values
    other than numbers, texts and tuples of them are compared by identity, so the key holds no longer than
    the property lives.
    """
    cls = op.__class__
    derived = _derived(cls)
    parts: list[Hashable] = [cls]
    for name, value in vars(op).items():
        if name in derived:
            continue
        kind = value.__class__
        if kind in _EXACT:
            parts += (name, kind, value)
        elif kind is float or (kind is tuple and all(item.__class__ in _PLAIN for item in value)):
            parts += (name, kind, repr(value))
        else:
            parts += (name, kind, id(value))
    return tuple(parts)


_CACHED: Final = (cached_property, functools.cached_property)


@cache
def _derived(cls: type) -> frozenset[str]:
    """The cached properties of a class."""
    found = [(name, value) for base in cls.__mro__ for name, value in vars(base).items()]
    return frozenset(name for name, value in found if isinstance(value, _CACHED))


@final
class Memo(Generic[T]):
    """Memo of what operators say, asked once for all that are alike."""

    def __init__(self) -> None:
        self._by_key: dict[Hashable, T] = {}

    def get(self, key: Hashable, ask: Callable[..., T], *args: Any) -> T:
        """The answer under `key`; the first time it is `ask(*args)`."""
        try:
            return self._by_key[key]
        except KeyError:
            found = self._by_key[key] = ask(*args)
            return found
