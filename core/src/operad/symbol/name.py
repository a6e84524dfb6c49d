"""Automatic names of symbols.

Source: NameManager and Prefix, python/mxnet/name.py.
"""

from __future__ import annotations

from typing import ClassVar, Final, final

from operad.scopes import Exit, Levels


class _Current:
    """The attribute of the class that is the thread's innermost manager."""

    def __get__(self, instance: object, owner: type) -> NameManager:
        return _managers.top[0]


class NameManager:
    """Numbers the symbols of each operator: `fullyconnected0`, `fullyconnected1`, ...

    `with NameManager():` starts the numbering again inside. The current manager, `NameManager.current`, is
    the thread's own.
    """

    current: ClassVar = _Current()

    def __init__(self) -> None:
        self._counter: dict[str, int] = {}

    def get(self, name: str | None, hint: str) -> str:
        """`name` if given, else the next automatic name that begins with `hint`."""
        if name is not None:
            return name
        number = self._counter.get(hint, 0)
        self._counter[hint] = number + 1
        return f"{hint}{number}"

    def __enter__(self) -> NameManager:
        _managers.top = self, _managers.top
        return self

    __exit__ = Exit(lambda _: _managers.ending)


@final
class Prefix(NameManager):
    """Puts a prefix before every name, given ones too."""

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._prefix = prefix

    def get(self, name: str | None, hint: str) -> str:
        """The prefixed name."""
        return self._prefix + super().get(name, hint)


_managers: Final[Levels[NameManager]] = Levels(NameManager)
