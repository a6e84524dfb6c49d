"""Operators of a file or module that no distribution provides: `--module my_ops.py`."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final, TypeGuard

import click

from operad import registry
from operad.errors import ArgumentError, OperatorNotFoundError
from operad.op import OperatorProperty

module_option: Final = click.option(
    "--module",
    metavar="FILE",
    help="Import this file, or module, first: OP is an operator that it declares or registers.",
)
"""Adds `--module FILE` as `module`: text, or None."""


def operator_named(name: str, module: str | None) -> type[OperatorProperty]:
    """Operator of that name, which is registered first where a module declares it.

    Args:
        module: What `--module` says.

    Raises:
        ArgumentError: There is no such module.
        OperatorNotFoundError: There is no such operator.
    """
    if module is not None:
        declared = declared_in(imported(*located(module)))
        if name in declared:
            registry.register(declared[name][1], override=True)
        elif registry.find(name) is None:
            raise OperatorNotFoundError(
                f"{module} neither declares nor registers an operator {name!r}; declared there: "
                f"{', '.join(sorted(declared)) or 'none'}"
            )
    return registry.get(name)


def located(text: str) -> tuple[str, str]:
    """Folder and name of a file `folder/my_ops.py` or a module `package.my_ops`, seen from here.

    Raises:
        ArgumentError: There is no such file.
    """
    path = Path(text)
    if path.suffix != ".py":
        return str(Path.cwd()), text
    if not path.is_file():
        raise ArgumentError(f"there is no file {text}; --module takes a file or a module's name")
    return str(path.resolve().parent), path.stem


def imported(folder: str, module: str) -> ModuleType:
    """The module of that name, looked for in the folder first.

    Raises:
        ArgumentError: There is none.
    """
    sys.path.insert(0, folder)
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise  # the module is there, and lacks another
        raise ArgumentError(
            f"No module named {error.name!r}; --module takes a file, or a module that Python finds from the "
            "working directory"
        ) from error


def declared_in(module: ModuleType) -> dict[str, tuple[str, type[OperatorProperty]]]:
    """Attribute and class of each operator that a module declares, by the operator's name."""
    found = ((key, value) for key, value in vars(module).items() if _is_property_class(value))
    return {cls.name: (key, cls) for key, cls in found if _is_of(module, cls)}


def _is_property_class(value: Any) -> TypeGuard[type[OperatorProperty]]:
    # Not `issubclass`: of an abstract class it asks every subclass about every class there is, and keeps the
    # answers.
    return isinstance(value, type) and OperatorProperty in value.__mro__


def _is_of(module: ModuleType, cls: type[OperatorProperty]) -> bool:
    """Return whether the module declares a class that it holds: no other module has it by that name.

    An operator made of a ufunc or a mapper has the module of what it was made of.
    """
    home = sys.modules.get(cls.__module__, module)
    return home is module or all(value is not cls for value in vars(home).values())
