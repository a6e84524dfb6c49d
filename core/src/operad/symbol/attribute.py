"""Attributes that symbols created in a scope carry.

Source: AttrScope, python/mxnet/attribute.py.
"""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Final, final

from operad.errors import GraphError


@final
class AttrScope:
    """`with AttrScope(ctx_group="dev1"):` gives the attribute to every symbol made inside.

    Scopes nest, the inner one wins; they are the thread's own. Values are strings.
    """

    def __init__(self, **attrs: str) -> None:
        for key, value in attrs.items():
            if not isinstance(value, str):
                raise GraphError(f"AttrScope: attribute {key!r} is {value!r}, expected a string")
        self._own = {hidden_key(key): value for key, value in attrs.items()}
        self._merged: dict[str, str] = {}

    def get(self, attrs: dict[str, str] | None) -> dict[str, str]:
        """The scope's attributes with `attrs` on top."""
        return {**self._merged, **(attrs or {})}

    def __enter__(self) -> AttrScope:
        self._merged = {**current()._merged, **self._own}
        _stack.scopes.append(self)
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        _stack.scopes.pop()


_MIRRORED: Final = ("ctx_group", "lr_mult", "wd_mult", "force_mirroring", "mirror_stage")


def hidden_key(key: str) -> str:
    """The key under which MXNet 1.x's files keep a known user attribute: `lr_mult` -> `__lr_mult__`."""
    return f"__{key}__" if key in _MIRRORED else key


class _Stack(threading.local):
    def __init__(self) -> None:
        self.scopes: list[AttrScope] = [AttrScope()]


_stack = _Stack()


def current() -> AttrScope:
    """The thread's innermost scope."""
    return _stack.scopes[-1]
