"""A function of another library, described by an expression and a shape line."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, final

from operad.errors import ArgumentError
from operad_check.foreign.backend import Backend
from operad_check.foreign.definition import definition_of
from operad_sdk.contract import Contract
from operad_sdk.shapes import parse


@final
@dataclass(frozen=True, kw_only=True)
class ForeignFunction:
    """A function under test.

    Attributes:
        backend: Its library.
        name: For reports.
        expression: Python that calls it on the arguments of the line, by their names.
        line: Its shape line.
        contract: What no program can find out, such as a reference, or the domain of an argument.
        without_gradient: Arguments that no gradient is asked for.
        scope: Names in the expression beside arguments and modules.
        program: Lines by which another program has these names.
    """

    backend: Backend
    name: str
    expression: str
    line: str
    contract: Contract = field(default_factory=Contract)
    without_gradient: Sequence[str] = ()
    scope: Mapping[str, Any] = field(default_factory=dict)
    program: Sequence[str] = ()

    @cached_property
    def arguments(self) -> list[str]:
        """Names of the arguments."""
        return [item.name for item in parse(self.line).inputs]

    @cached_property
    def outputs(self) -> list[str]:
        """Names of the outputs."""
        return [item.name for item in parse(self.line).outputs]

    @cached_property
    def lines(self) -> list[str]:
        """Imports, and what else a program has before the expression."""
        return [*_imports(self), *self.program]

    @cached_property
    def call(self) -> Callable[..., Any]:
        """The function of the arguments.

        Raises:
            ArgumentError: A name in the expression leads nowhere.
        """
        scope = dict(self.scope)
        try:
            for line in _imports(self):
                exec(line, scope)  # noqa: S102 - the imports of an expression that the user wrote
            made: Callable[..., Any] = eval(f"lambda {', '.join(self.arguments)}: {self.expression}", scope)  # noqa: S307 - likewise
        except (ImportError, SyntaxError) as error:
            raise ArgumentError(f"check: cannot call {self.expression!r}: {error}") from error
        known = {*scope, *vars(builtins), *self.arguments}
        lost = sorted(_names(self.expression) - known)
        if lost:
            raise ArgumentError(
                f"check: {self.expression!r} names {lost[0]!r}, which is no argument of {self.line!r} and no "
                "module that is imported for it"
            )
        return made


def _names(expression: str) -> set[str]:
    """Names that an expression reads and does not bind itself."""
    nodes = list(ast.walk(ast.parse(expression, mode="eval")))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    bound = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    bound |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    return {node.id for node in names} - bound


def _imports(function: ForeignFunction) -> list[str]:
    """Lines that import the modules whose names the expression uses."""
    names = _names(function.expression) - {*function.arguments, *function.scope}
    return list(dict.fromkeys(filter(None, map(function.backend.imports.get, sorted(names)))))


def function_of(
    backend: Backend,
    function: str | Callable[..., Any],
    line: str,
    *,
    name: str = "",
    keywords: Mapping[str, Any] = MappingProxyType({}),
    **described: Any,
) -> ForeignFunction:
    """The function that a text or a callable means.

    Args:
        function: An expression of the line's arguments, `torch.median(x, -1).values`; or a module, or a
            file, and a name, `torch.nn.functional:normalize`; or the function itself.
        line: The shape line.
        name: For reports; "": that of the function.
        keywords: Further arguments of a call.
        described: Fields of `ForeignFunction`.

    Raises:
        ArgumentError: The text leads to no function, or the line is none of a function.
        SpecError: The line cannot be read.
    """
    spec = parse(line)
    for item in spec.items:
        if item.repeat is not None or item.condition is not None or item.is_state:
            raise ArgumentError(
                f"check: {item.text!r} in {line!r}: a function's line has no lists, conditions or states; "
                "name each argument and result"
            )
    words = [item.name for item in spec.inputs]
    arguments = ", ".join([*words, *[f"{key}={value!r}" for key, value in keywords.items()]])
    if not isinstance(function, str):
        own = getattr(function, "__name__", type(function).__name__)
        own = own if own.isidentifier() else "function"
        lines = definition_of(function, own) or [f"# {own} is the function that was checked"]
        found: dict[str, Any] = {
            "expression": f"{own}({arguments})", "scope": {own: function}, "program": lines,
        }  # fmt: skip
    elif ":" in function and "(" not in function:
        module, _, own = function.partition(":")
        lines, module = _module(module)
        _found(module, own)
        start = module.partition(".")[0]
        scope = {start: sys.modules[start]}
        found = {"expression": f"{module}.{own}({arguments})", "scope": scope, "program": lines}
    else:
        own, found = function, {"expression": function}
    return ForeignFunction(backend=backend, name=name or own, line=line, **found, **described)


def _module(module: str) -> tuple[list[str], str]:
    """Lines that import a module or a file, and the module's name."""
    path = Path(module)
    if path.suffix != ".py":
        return [f"import {module}"], module
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)
    return ["import sys", f"sys.path.insert(0, {folder!r})", f"import {path.stem}"], path.stem


def named(text: str) -> Callable[..., Any]:
    """The function that `module:function` or `file.py:function` names.

    Raises:
        ArgumentError: There is none.
    """
    module, _, attribute = text.partition(":")
    found: Callable[..., Any] = _found(_module(module)[1], attribute)
    return found


def _found(module: str, attribute: str) -> Any:
    try:
        found: Any = import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise ArgumentError(
            f"check: there is no {attribute!r} in {module!r}: {error}; expected module:function, or an "
            "expression such as 'torch.median(x, -1).values'"
        ) from error
    if not callable(found):
        raise ArgumentError(f"check: {module}:{attribute} is a {type(found).__name__}, expected a function")
    return found
