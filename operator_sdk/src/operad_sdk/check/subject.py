"""The operator under test: where it comes from, and what it is."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, final

from operad import registry
from operad.errors import ArgumentError
from operad.operator import OperatorProperty
from operad_sdk.contract import Contract, contract_of

IN_PROCESS = "this process"


@final
@dataclass(frozen=True, slots=True)
class Subject:
    """An operator under test.

    Attributes:
        name: What it was asked for by: the entry point's name, or its own.
        cls: Its property class.
        distribution: Who provides it; `version` is that distribution's.
        is_registered: Whether `operad.registry` finds it by that name.
    """

    name: str
    cls: type[OperatorProperty]
    distribution: str = IN_PROCESS
    version: str = ""
    is_registered: bool = False

    @property
    def contract(self) -> Contract:
        """What its author declared."""
        return contract_of(self.cls)

    @property
    def provider(self) -> str:
        """Distribution and version."""
        return f"{self.distribution} {self.version}".strip()

    def reference(self) -> tuple[str, str]:
        """An import line (empty where none is needed) and the expression that then means the operator."""
        if self.is_registered and self.distribution != IN_PROCESS:
            return "", repr(self.name)
        found = self.place()
        return ("", repr(self.name)) if found is None else (f"from {found[0]} import {found[1]}", found[1])

    def place(self) -> tuple[str, str] | None:
        """A module that has it, the one that defines it if that does, and its name there; None: none has."""
        record = registry.find(self.name) if self.is_registered else None
        if record is not None and self.distribution != IN_PROCESS:
            module_name, _, attribute = record.value.partition(":")
            return module_name, attribute
        found = []
        for module_name, module in list(sys.modules.items()):
            if module_name.startswith(("operad_sdk.", "operad.")) or module_name == "__main__":
                continue
            for attribute, value in list(getattr(module, "__dict__", {}).items()):
                if attribute.isidentifier() and property_class(value) is self.cls:
                    is_elsewhere = getattr(value, "__module__", module_name) != module_name
                    found.append((is_elsewhere, (module_name, attribute)))
        return min(found, key=lambda each: each[0])[1] if found else None


def subject_of(operator: Any) -> Subject:
    """The subject that `operator` means: a name, a property class, or what a decorator returned.

    Raises:
        ArgumentError: It is none of these.
        OperatorNotFoundError: No operator of that name is installed; and what else `registry.get` raises.
    """
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
            f"check: got {operator!r}, expected an operator's name, a property class, "
            "or what @unary, @binary or @operator returned"
        )
    record = registry.find(found.name)
    if record is not None and registry.get(found.name) is found:
        return Subject(found.name, found, record.distribution, record.version, is_registered=True)
    return Subject(found.name, found)


def property_class(value: Any) -> type[OperatorProperty] | None:
    """The property class that a value is or stands for; None: neither."""
    # Asked of the type: modules hold objects that answer to any attribute.
    cls = value.operad_property if hasattr(type(value), "operad_property") else value
    # Not `issubclass`: of an abstract class it asks every subclass about every class there is, and keeps
    # the answers. In a process with a few hundred operators that was ten seconds, and as long at its end.
    return cls if isinstance(cls, type) and OperatorProperty in cls.__mro__ else None
