"""Kinds of objects that entry points of each group name, and their adaptation to the core."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Final, NamedTuple, final

from operad.op import Kernel, OperatorProperty
from operad.registry.plugins import KERNELS, NAMESPACES, OPERATORS


@final
class Kind(NamedTuple):
    """Kind of object that a group's entry points name.

    Attributes:
        expected: In words.
        adapt: Gives what the core works with, or None where the object is of another kind.
    """

    expected: str
    adapt: Callable[[object], object | None]


def property_of(candidate: object) -> type[OperatorProperty] | None:
    """The property class that `candidate` is or carries; None where there is none."""
    for found in (candidate, getattr(candidate, "operad_property", None)):
        if isinstance(found, type) and issubclass(found, OperatorProperty):
            return found
    return None


def kernel_of(candidate: object) -> Kernel | None:
    """The kernel that `candidate` is or carries; None where there is none."""
    kernel = getattr(candidate, "operad_kernel", candidate)
    return kernel if isinstance(kernel, Kernel) else None


def _module_of(candidate: object) -> ModuleType | None:
    return candidate if isinstance(candidate, ModuleType) else None


ANYTHING: Final = Kind("any object but None", lambda candidate: candidate)
KINDS: Final[Mapping[str, Kind]] = {
    OPERATORS: Kind(
        "an OperatorProperty subclass, or an object whose operad_property is such a subclass",
        property_of,
    ),
    KERNELS: Kind("an operad.operator.Kernel, or an object whose operad_kernel is one", kernel_of),
    NAMESPACES: Kind("a module", _module_of),
}
