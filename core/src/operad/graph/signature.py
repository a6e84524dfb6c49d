"""What makes two operators the same for a compiler: class and parameters, or else identity."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from operad.operator import OperatorProperty

_EXACT: Final = frozenset({int, bool, str, type(None)})
"""Types whose values are equal only if they act alike; `0.0 == -0.0`, say, does not."""


def signature(op: OperatorProperty) -> Hashable:
    """A key that two properties share only if every answer they give, and what they compute, is alike.

    All that an instance knows is in its `__dict__`. Values other than numbers, texts and tuples of them
    are compared by identity, so the key holds no longer than the property lives.
    """
    parts: list[Hashable] = [op.__class__]
    for name, value in vars(op).items():
        kind = value.__class__
        if kind in _EXACT:
            parts += (name, kind, value)
        elif kind is float or (kind is tuple and all(item.__class__ in _PLAIN for item in value)):
            parts += (name, kind, repr(value))
        else:
            parts += (name, kind, id(value))
    return tuple(parts)


_PLAIN: Final = _EXACT | {float}
