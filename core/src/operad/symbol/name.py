"""Automatic names of symbols.

Source: NameManager and Prefix, python/mxnet/name.py.
"""

from __future__ import annotations

import threading
from typing import ClassVar, final


class _Current:
    """The attribute of the class that is the thread's innermost manager."""

    def __get__(self, instance: object, owner: type) -> NameManager:
        return _stack.managers[-1]


class NameManager:
    """Numbers the symbols of each operator: `fullyconnected0`, `fullyconnected1`, ...

    `with NameManager():` starts the numbering anew inside. The current manager, `NameManager.current`, is
    the thread's own.
    """

    current: ClassVar = _Current()

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def get(self, name: str | None, hint: str) -> str:
        """`name` if given, else the next automatic name that begins with `hint`."""
        if name is not None:
            return name
        number = self._counts.get(hint, 0)
        self._counts[hint] = number + 1
        return f"{hint}{number}"

    def __enter__(self) -> NameManager:
        _stack.managers.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _stack.managers.pop()


@final
class Prefix(NameManager):
    """Puts a prefix before every name, given ones too."""

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._prefix = prefix

    def get(self, name: str | None, hint: str) -> str:
        """The prefixed name."""
        return self._prefix + super().get(name, hint)


class _Stack(threading.local):
    def __init__(self) -> None:
        self.managers: list[NameManager] = [NameManager()]


_stack = _Stack()
