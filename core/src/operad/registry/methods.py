"""Methods that plugins add to classes of the core.

An entry point of the group `operad.faces` called `Symbol.summary` names a function of a symbol; every symbol
then has it as a method. It is imported when it is first asked for.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from types import MethodType
from typing import Any, ClassVar

from operad.registry.entries import names_on_face, on_face
from operad.registry.operators import find, list_operators
from operad.registry.packages import packages
from operad.registry.plugins import FACES


class Extensible:
    """A class that plugins add methods to; its own come first."""

    __slots__ = ()

    _nothing_else: ClassVar[str] = "and no plugin adds it"
    """What errors say of a name that nothing provides."""

    def __getattr__(self, name: str) -> Any:
        """The method that a plugin adds, bound to this object."""
        face = type(self).__name__
        added: Any = None if name.startswith("__") else on_face(face, name)
        if added is None:
            known = packages(FACES).get(f"{face}.{name}")
            how = f"a plugin adds it: {known.install_line()}" if known else self._nothing_else
            raise AttributeError(f"{face} has no attribute {name!r}, {how}")
        return MethodType(added, self)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *names_on_face(type(self).__name__)})


class OperatorMethods(Extensible):
    """A class with every operator as a method: `x.tanh()` is `nd.tanh(x)`."""

    __slots__ = ()

    _nothing_else: ClassVar[str] = "and no installed plugin provides an operator of that name"

    @abstractmethod
    def _function_of(self, operator: str) -> Callable[..., Any]:
        """The operator as a function of such objects."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or find(name) is None:
            return super().__getattr__(name)
        return MethodType(self._function_of(name), self)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(n for n in list_operators() if not n.startswith("_"))})
