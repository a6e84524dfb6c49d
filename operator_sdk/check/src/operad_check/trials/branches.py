"""Branch coverage of a mapper's Python function: which branches are entered.

The function is compiled once more from its source, with every condition wrapped so that its value is
noted. Mappers that it calls are replaced in the same way.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from types import FunctionType
from typing import Any, Final, final

import numpy as np

from operad_sdk.mapper import Mapper, where

_NOTE: Final = "__note_condition"


@final
class Branches:
    """The conditions of a mapper and the values that they have had.

    Attributes:
        function: Computes what the mapper's function does, and notes.

    Raises:
        OSError: Its source cannot be read; so it is for mappers that were not written as functions.
    """

    def __init__(self, mapper: Mapper) -> None:
        self._seen: dict[str, set[bool]] = {}
        self._made: dict[int, Callable[..., Any]] = {}
        self.function = self._instrumented(mapper)

    def missing(self) -> list[tuple[str, bool]]:
        """Conditions, and the value that each of them never had."""
        return [
            (text, value)
            for text, values in self._seen.items()
            for value in (True, False)
            if value not in values
        ]

    @property
    def count(self) -> int:
        """Number of branches."""
        return 2 * len(self._seen)

    def note(self, text: str, value: Any) -> Any:
        """Note the value of a condition, and return it."""
        self._seen[text].add(bool(value))
        return value

    def _instrumented(self, mapper: Mapper) -> Callable[..., Any]:
        found = self._made.get(id(mapper))
        if found is not None:
            return found
        function = mapper.function
        assert isinstance(function, FunctionType)
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        definition = tree.body[0]
        assert isinstance(definition, ast.FunctionDef)
        definition.decorator_list = []
        outer = inspect.getclosurevars(function)
        names: dict[str, Any] = {**function.__globals__, **outer.nonlocals}
        is_where = {name for name in function.__code__.co_names if names.get(name) is where}
        noting = _Noting(mapper.__name__, is_where)
        noted = ast.fix_missing_locations(noting.visit(tree))
        self._seen.update({text: set() for text in noting.texts})
        for name in (*function.__code__.co_names, *outer.nonlocals):
            if _is_authors(names.get(name)):
                names[name] = self._instrumented(names[name])
        names[_NOTE] = self.note
        exec(compile(noted, f"<conditions of {mapper.__name__}>", "exec"), names)  # noqa: S102 - the author's code
        made: Callable[..., Any] = names[definition.name]
        self._made[id(mapper)] = made
        return made


@final
class _Noting(ast.NodeTransformer):
    """Wraps every condition."""

    def __init__(self, owner: str, is_where: set[str]) -> None:
        self._owner = owner
        self._is_where = is_where
        self.texts: list[str] = []

    def visit_If(self, node: ast.If | ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        node.test = self._wrapped(node.test)
        return node

    visit_IfExp = visit_If  # noqa: N815 - a name of `ast`

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in self._is_where and node.args:
            node.args[0] = self._wrapped(node.args[0])
        return node

    def _wrapped(self, test: ast.expr) -> ast.expr:
        text = f"`{ast.unparse(test)}` in {self._owner}, line {test.lineno} of it"
        self.texts.append(text)
        name = ast.Name(_NOTE, ast.Load())
        return ast.Call(name, [ast.Constant(text), test], [])


def _is_authors(value: Any) -> bool:
    """Return whether a value is a mapper that an author wrote as a function, and not the toolkit's."""
    if not isinstance(value, Mapper) or value.__module__.startswith(("operad_sdk.", "operad_check.")):
        return False
    try:
        inspect.getsource(value.function)
    except OSError:
        return False
    return True


def enter(branches: Branches, args: tuple[Any, ...], dtype: np.dtype[Any]) -> None:
    """Evaluate the function for each element of the broadcast arguments."""
    columns = np.broadcast_arrays(*[np.asarray(arg, dtype) for arg in args])
    with np.errstate(all="ignore"):
        for values in zip(*[column.flat for column in columns], strict=True):
            branches.function(*values)
