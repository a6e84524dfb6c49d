"""The operator under test, with its origin and its declarations."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final, final

from operad import registry
from operad.errors import ArgumentError
from operad.operator import OperatorProperty
from operad_check.trials.case import Case
from operad_sdk.contract import Contract, contract_of

IN_PROCESS = "this process"
_importing: Final = threading.local()


@final
class ReachedCheck(BaseException):
    """A module that is executed for a check asks for a check itself: what it has defined is enough."""


@contextmanager
def importing() -> Iterator[None]:
    """Execute an author's module for a check: whatever asks for another one there raises `ReachedCheck`."""
    _importing.is_on = True
    try:
        yield
    finally:
        _importing.is_on = False


@final
@dataclass(frozen=True, slots=True)
class Subject:
    """An operator under test.

    Attributes:
        name: What it was asked for by: the entry point's name, or its own.
        cls: Its property class.
        distribution: Who provides it; `version` is that distribution's.
        is_registered: Whether `operad.registry` finds it by that name.
        program: Lines and an expression by which another process gets it; None: those that follow.
        writer: Writes the program that shows a finding, from the check's id, the cases and the message; None:
            it calls the check. Subjects that have one are functions of other libraries, and may refuse
            arguments for their values.
        forget: Empties what its library keeps for itself, up to some size; None: there is no such thing.
    """

    name: str
    cls: type[OperatorProperty]
    distribution: str = IN_PROCESS
    version: str = ""
    is_registered: bool = False
    program: tuple[str, str] | None = None
    writer: Callable[[str, Sequence[Case], str], str] | None = None
    forget: Callable[[], None] | None = None

    @property
    def contract(self) -> Contract:
        """Contract that the operator's author declared."""
        return contract_of(self.cls)

    @property
    def provider(self) -> str:
        """Distribution and version."""
        return f"{self.distribution} {self.version}".strip()

    def reference(self) -> tuple[str, str]:
        """Import lines (empty where none is needed) and the expression that then means the operator."""
        if self.program is not None:
            return self.program
        if self.is_registered and self.distribution != IN_PROCESS:
            return "", repr(self.name)
        found = self.place()
        return ("", repr(self.name)) if found is None else (f"from {found[0]} import {found[1]}", found[1])

    def place(self) -> tuple[str, str] | None:
        """Module and name by which the operator can be imported, preferably from its own module; or None."""
        record = registry.find(self.name) if self.is_registered else None
        if record is not None and self.distribution != IN_PROCESS:
            module_name, _, attribute = record.value.partition(":")
            return module_name, attribute
        elsewhere = None
        for module_name, module in list(sys.modules.items()):
            if (
                module_name.startswith(("operad_check.", "operad_sdk.", "operad."))
                or module_name == "__main__"
            ):
                continue
            for attribute, value in list(_names_in(module).items()):
                if not attribute.isidentifier() or value is not self.cls:
                    continue
                if self.cls.__module__ == module_name:
                    return module_name, attribute
                elsewhere = elsewhere or (module_name, attribute)
        return elsewhere


def subject_of(operator: Any) -> Subject:
    """The subject that `operator` means: a name or a property class.

    Raises:
        ArgumentError: It is none of these.
        OperatorNotFoundError: No operator of that name is installed; and what else `registry.get` raises.
        ReachedCheck: The calling thread executes an author's module for a check.
    """
    if getattr(_importing, "is_on", False):
        raise ReachedCheck
    if isinstance(operator, Subject):
        return operator
    if isinstance(operator, str):
        cls = registry.get(operator)
        record = registry.find(operator)
        if record is None:
            return Subject(operator, cls)
        return Subject(operator, cls, record.distribution, record.version, is_registered=True)
    found = property_class(operator)
    if found is None:
        raise ArgumentError(
            f"check: got {operator!r}, expected an operator's name or a property class, "
            "which is what @operator, @unary, @binary and define return"
        )
    record = registry.find(found.name)
    if record is not None and registry.get(found.name) is found:
        return Subject(found.name, found, record.distribution, record.version, is_registered=True)
    return Subject(found.name, found)


def property_class(value: Any) -> type[OperatorProperty] | None:
    """The value, if it is a property class; else None."""
    # Not `issubclass`: of an abstract class it asks every subclass about every class there is, and keeps
    # the answers. In a process with a few hundred operators that was ten seconds, and as long at its end.
    return value if isinstance(value, type) and OperatorProperty in value.__mro__ else None


# A process holds modules of anybody, and objects in them that import, warn or raise as soon as anything
# is asked of them: even isinstance reads `__class__`. So of those, only what Python itself keeps is read:
# a module's dictionary, and an object's type.
_namespace: Final = vars(ModuleType)["__dict__"].__get__
_bases: Final = vars(type)["__mro__"].__get__


def _names_in(module: object) -> dict[Any, Any]:
    """Attributes of a module now; empty for an object that only poses as a module."""
    return _namespace(module) if ModuleType in _bases(type(module)) else {}
