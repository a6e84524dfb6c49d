"""Deprecation of operators, of their names and of their parameters.

Each is declared where the thing itself is, with the version of the package that ends it. Calls and files warn
of what they name; what an operator holds, and writes, has present names alone.

Source: the form of the messages, and the attribute `__deprecated__`: PEP 702. MXNet 1.x has none.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple, final


@final
class Deprecated(NamedTuple):
    """Declaration that an operator or a parameter will be gone.

    Attributes:
        until: First version of its package that is without it.
        use: Name of the operator, or of the parameter, to use instead; "" where there is none.
        why: What else a user should know, without a full stop; "" for nothing.
    """

    until: str
    use: str = ""
    why: str = ""

    def in_words(self, package: str) -> str:
        """End of a message: when it ends, and the way out."""
        use = f"use {self.use!r}" if self.use else ""
        end = f"is deprecated and ends with {package} {self.until}"
        return "; ".join(filter(None, [end, use, self.why]))


def deprecations(op: type[Any], name: str) -> dict[str, str]:
    """Warnings for users of an operator, by what they name.

    Args:
        op: The operator's property class.
        name: What it is called.
    Returns:
        Messages by name of a parameter; the key "" is the operator itself, or this name of it.
    """
    package = op.__module__.partition(".")[0].replace("__main__", "version")
    found = {}
    if op.deprecated is not None:
        found[""] = f"operator {name!r} {op.deprecated.in_words(package)}"
    elif name in op.old_names:
        found[""] = f"operator {name!r} is {op.name!r} now; {_ends(package, op.old_names[name])}"
    for declared in op.params.values():
        for old, until in declared.old_names.items():
            found[old] = f"{op.name}: parameter {old!r} is {declared.name!r} now; {_ends(package, until)}"
        if declared.deprecated is not None:
            words = declared.deprecated.in_words(package)
            found[declared.name] = f"{op.name}: parameter {declared.name!r} {words}"
    return found


def _ends(package: str, until: str) -> str:
    return f"the old name ends with {package} {until}"


def warn_of(messages: Mapping[str, str], given: Collection[str], source: str = "") -> None:
    """Warn of the operator, and of the parameters that are given, at the nearest line outside the core.

    Args:
        messages: As `deprecations` gives them.
        given: Names of the parameters that a call or a file gives.
        source: The file that gives them; "": a call.
    """
    for name, message in messages.items():
        if not name or name in given:
            where = f"; {source} names it, save it again" if source else ""
            warnings.warn(f"{message}{where}", DeprecationWarning, stacklevel=_level_of_caller())


def _level_of_caller() -> int:
    """Number of frames from the caller of this function to the first that is not the core's."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "operad":
        level, frame = level + 1, frame.f_back
    return level
