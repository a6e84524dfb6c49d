"""Classes by their lower-case name, as `create("adam")` finds them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Generic, TypeVar, final

from operad_sdk import ParamError

T = TypeVar("T")


@final
class Registered(Generic[T]):
    """One kind of class, by name.

    Args:
        kind: What they are, for messages.
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._classes: dict[str, type[T]] = {}

    @property
    def classes(self) -> Mapping[str, type[T]]:
        """Registered classes by names in lower case; a view that follows."""
        return MappingProxyType(self._classes)

    def add(self, cls: type[T], *names: str) -> None:
        """Make `cls` known by its own name and by `names`; a later class takes over a name."""
        for name in (cls.__name__, *names):
            self._classes[name.lower()] = cls

    def find(self, name: str) -> type[T]:
        """The class of that name, in any case.

        Raises:
            ParamError: There is none.
        """
        found = self._classes.get(name.lower())
        if found is None:
            close = difflib.get_close_matches(name.lower(), self._classes, n=1)
            advice = (
                f"did you mean {close[0]!r}?" if close else f"there are {', '.join(sorted(self._classes))}"
            )
            raise ParamError(f"unknown {self._kind} {name!r}; {advice}")
        return found
