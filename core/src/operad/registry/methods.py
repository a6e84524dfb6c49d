"""Attributes that plugins add to modules and classes of the core.

An entry point of the group `operad.attributes` called `Symbol.summary` names a function of a symbol, which
every symbol then has as a method; `nd.random` names what `od.nd` has as `random`. It is imported when it is
first asked for. From then on the class or module has it as its own, until what is installed or registered
changes, so that the next use costs what that of any attribute costs.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any, ClassVar, Final, final

from operad.boundary import boundary
from operad.dtypes import DType
from operad.registry import loading
from operad.registry.entries import attribute_names, find_attribute, star_names, way_to
from operad.registry.operators import find, follow, list_operators


@final
class _Inserted:
    """Attributes that were found, and the modules and classes that have them now."""

    def __init__(self) -> None:
        self._found: list[tuple[Any, str, object]] = []

    def insert(self, owner: Any, name: str, found: object) -> None:
        """Give `found` to a module or class."""
        setattr(owner, name, found)
        self._found.append((owner, name, found))

    def clear(self) -> None:
        """Take everything back, save where another value has been put since."""
        while self._found:
            owner, name, found = self._found.pop()
            if vars(owner).get(name) is found:
                delattr(owner, name)


_inserted: Final = follow(_Inserted())


@boundary
def module_attribute(module: object, owner: str, name: str, function_of: Callable[[str], object]) -> Any:
    """Return what a plugin adds to a module of operators, or an operator's function: its `__getattr__`.

    Raises:
        AttributeError: The name is one of Python's own.
        OperatorNotFoundError: Nothing installed provides it.
    """
    if name == "__all__":
        return star_names(module)
    if name.startswith("__"):
        raise AttributeError(f"module 'operad.{owner}' has no attribute {name!r}")
    added = find_attribute(owner, name)
    found = function_of(name) if added is None else added
    _inserted.insert(module, name, found)
    return found


class _Extended(type):
    """A class that has what plugins add, as its objects do: `NDArray.flatten(x)`."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):  # Python and NumPy ask for many
            raise AttributeError(f"{cls.__name__} has no attribute {name!r}")
        extensible: Any = cls
        found = extensible._added(name)
        if found is None:
            how = way_to(f"{cls.__name__}.{name}") or extensible._nothing_else
            raise AttributeError(f"{cls.__name__} has no attribute {name!r}, {how}")
        if isinstance(found, FunctionType):  # other callables are no methods of a class that has them
            _inserted.insert(cls, name, found)
        return found


class Extensible(metaclass=_Extended):
    """A class that plugins add methods to; its own come first."""

    __slots__ = ()

    _nothing_else: ClassVar[str] = "and no plugin adds it"
    """Text of errors about a name that nothing provides."""

    @classmethod
    def _added(cls, name: str) -> Any:
        """The function behind a method that is not the class's own; None where there is none."""
        return find_attribute(cls.__name__, name)

    def __getattr__(self, name: str) -> Any:
        """The method that a plugin adds, bound to this object."""
        return MethodType(_Extended.__getattr__(type(self), name), self)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *attribute_names(type(self).__name__)})


class OperatorMethods(Extensible):
    """A class with every operator as a method: `x.tanh()` is `nd.tanh(x)`."""

    __slots__ = ()

    _nothing_else: ClassVar[str] = "and no installed plugin provides an operator of that name"

    @classmethod
    @abstractmethod
    def _function_of(cls, operator: str) -> Callable[..., Any]:
        """The operator as a function of such objects."""

    @classmethod
    def _added(cls, name: str) -> Any:
        added = super()._added(name)
        is_operator = added is None and not name.startswith("_") and find(name) is not None
        return cls._function_of(name) if is_operator else added

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(n for n in list_operators() if not n.startswith("_"))})


_shown: Final[dict[DType, Any]] = follow({})


def shown_dtype(dtype: DType) -> Any:
    """Return the class of numbers that a plugin makes of a dtype, for users; else the dtype."""
    found = _shown.get(dtype)
    if found is None:
        made = loading.current().added("dtypes.element_type")
        found = _shown[dtype] = dtype if made is None else made(dtype)
    return found
