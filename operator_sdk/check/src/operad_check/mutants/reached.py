"""Functions of an author's package that an operator reaches: its own, its kernels', and those they call."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, final

from operad_check.trials.cause import is_library
from operad_check.trials.subject import Subject
from operad_sdk.contract import Contract
from operad_sdk.loops import CompiledLoops


@final
@dataclass(frozen=True, slots=True)
class Reached:
    """Functions of one module.

    Attributes:
        module: Its name; `path` is its file.
        spans: First and last lines of the functions.
    """

    module: str
    path: Path
    spans: tuple[tuple[int, int], ...]


def reached(subject: Subject) -> list[Reached]:
    """Modules of the operator's own package, with the functions in them that its runs may call."""
    place = subject.place()
    package = (place[0] if place is not None else subject.cls.__module__).partition(".")[0]
    found: dict[str, set[tuple[int, int]]] = defaultdict(set)
    for function in _Walk(package).functions(subject.cls):
        code = function.__code__
        lines = [line for _, _, line in code.co_lines() if line is not None]
        found[function.__module__].add((code.co_firstlineno, max(lines, default=code.co_firstlineno)))
    modules = [
        Reached(name, Path(str(sys.modules[name].__file__)), tuple(sorted(spans)))
        for name, spans in sorted(found.items())
        if getattr(sys.modules.get(name), "__file__", None)
    ]
    return [one for one in modules if one.path.suffix == ".py"]


@final
class _Walk:
    """Walks from a class to whatever its functions name, in one package; other objects are looked through."""

    def __init__(self, package: str) -> None:
        self._package = package
        self._seen: set[int] = set()
        self._kept: list[Any] = []  # so that no identity is used twice

    def functions(self, cls: type) -> Iterator[FunctionType]:
        """Functions of the package, each once."""
        left: list[Any] = [cls, *vars(cls).values()]  # a class that is made has another module
        while left:
            one = left.pop()
            if id(one) in self._seen or isinstance(one, Contract | str | bytes | int | float):
                continue
            self._seen.add(id(one))
            self._kept.append(one)
            if isinstance(one, FunctionType) and self._is_own(one):
                yield one
            left += self._named_by(one)

    def _is_own(self, one: Any) -> bool:
        return str(getattr(one, "__module__", "")).partition(".")[0] == self._package

    def _named_by(self, one: Any) -> list[Any]:
        if isinstance(one, FunctionType):
            cells = [cell.cell_contents for cell in one.__closure__ or () if _is_filled(cell)]
            named = self._of_code(one.__code__, one.__globals__) if self._is_own(one) else []
            return [*cells, *(one.__defaults__ or ()), *vars(one).values(), *named]
        if isinstance(one, type):
            if not self._is_own(one):
                return []
            return [value for base in one.__mro__ if self._is_own(base) for value in vars(base).values()]
        if isinstance(one, CompiledLoops):
            if one.rejection(is_host=True, size=None) is not None:
                return []  # no run here calls them; importing them may fail, for want of numba
            return [value for name, value in vars(import_module(one.module)).items() if name[:2] != "__"]
        if isinstance(one, staticmethod | classmethod | MethodType):
            return [one.__func__]
        if isinstance(one, property):
            return [each for each in (one.fget, one.fset) if each is not None]
        if isinstance(one, partial):
            return [one.func, *one.args, *one.keywords.values()]
        if isinstance(one, tuple | list | set | frozenset):
            return list(one)
        if isinstance(one, dict):
            return list(one.values())
        if isinstance(one, ModuleType) or not hasattr(type(one), "__module__"):
            return []
        held = getattr(one, "__dict__", None)
        slots = [
            getattr(one, name, None) for cls in type(one).__mro__ for name in getattr(cls, "__slots__", ())
        ]
        is_of_tools = is_library(type(one).__module__) and type(one).__module__.startswith(
            ("operad", "numba")
        )
        return [*(held or {}).values(), *slots] if is_of_tools or self._is_own(type(one)) else []

    def _of_code(self, code: CodeType, names: dict[str, Any]) -> list[Any]:
        """Globals that a function's code names, and attributes of modules of the package among them."""
        found = [names[name] for name in code.co_names if name in names]
        for module in [one for one in found if isinstance(one, ModuleType) and self._is_of_package(one)]:
            found += [getattr(module, name) for name in code.co_names if hasattr(module, name)]
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                found += self._of_code(constant, names)
        return found

    def _is_of_package(self, module: ModuleType) -> bool:
        return module.__name__.partition(".")[0] == self._package


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - that is how one asks
    except ValueError:
        return False
    return True
