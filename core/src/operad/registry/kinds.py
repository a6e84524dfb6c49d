"""Kinds of objects that entry points of each group name, and their adaptation to the core."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Final, NamedTuple, final

from operad import config
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


def instance_of(cls: type, expected: str) -> Kind:
    """The kind of the instances of `cls`."""
    return Kind(expected, lambda candidate: candidate if isinstance(candidate, cls) else None)


ANYTHING: Final = Kind("any object but None", lambda candidate: candidate)
_CALLED: Final = Kind("a class or function", lambda candidate: candidate if callable(candidate) else None)
KINDS: Final[dict[str, Kind]] = {
    OPERATORS: Kind("an OperatorProperty subclass, or an object whose operad_property is one", property_of),
    KERNELS: Kind("an operad.operator.Kernel, or an object whose operad_kernel is one", kernel_of),
    **dict.fromkeys((NAMESPACES, "operad.onnx"), instance_of(ModuleType, "a module")),
    config.PLUGIN_SETTINGS: instance_of(config.Option, "an operad.config.plugin_setting"),
    **dict.fromkeys(("operad.iterators", "operad.kvstores", "operad.check_backends"), _CALLED),
}
"""By group; packages that use groups of objects of their own add these."""
