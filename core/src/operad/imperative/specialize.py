"""Copies of a function in which some parameters are constants, and what they decide is left out.

The hot path is one function for one to four arrays, with run-time values or without. What tells these
cases apart is known when a function of `od.nd` is generated; asking again in every call takes 0.2 us of the
1 to 1.3 us of a call.
"""

from __future__ import annotations

import ast
import inspect
import operator
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, Final, final

from operad.first_use import first_use, parse_source

_COMPARE: Final[dict[type, Callable[[Any, Any], bool]]] = {ast.Eq: operator.eq, ast.Gt: operator.gt}
_source_lines: Final = cache(inspect.getsourcelines)  # half of what a copy takes


def specialized(
    function: Callable[..., Any], lengths: Mapping[str, int] | None = None, **known: object
) -> Callable[..., Any]:
    """A copy of `function` without the keyword parameters `known`, which have these values in it.

    They may stand in comparisons, and wherever a number may. The copy's lines are those of `function`, for
    tracebacks, debuggers and Ctrl-C. Where there is no source text it is `function` itself, with the values
    passed along.

    Args:
        function: Must not use names of functions around it.
        lengths: How long tuples are that it hands on with a star: they are written out, which is a call the
            interpreter makes sooner.
        known: Values by name.
    """
    try:
        lines, first = _source_lines(function)
    except OSError:
        return partial(function, **known)
    module = parse_source("".join(lines))
    ast.increment_lineno(module, first - 1)
    [definition] = module.body
    assert isinstance(definition, ast.FunctionDef)
    definition.args.kwonlyargs = [arg for arg in definition.args.kwonlyargs if arg.arg not in known]
    definition.args.kw_defaults = [None] * len(definition.args.kwonlyargs)
    module = ast.fix_missing_locations(_Specialize(known, lengths or {}).visit(module))
    made: dict[str, Any] = {}
    # The compiler reads the tree.
    exec(first_use(compile, module, function.__code__.co_filename, "exec"), function.__globals__, made)  # noqa: S102
    return made[function.__name__]  # type: ignore[no-any-return]  # it is the function


@final
class _Specialize(ast.NodeTransformer):
    """Puts in what is known; the compiler leaves out what then is never reached."""

    def __init__(self, known: Mapping[str, object], lengths: Mapping[str, int]) -> None:
        self._known = known
        self._lengths = lengths

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        node.args = [one for arg in node.args for one in self._written_out(arg)]
        return node

    def _written_out(self, arg: ast.expr) -> list[ast.expr]:
        star = arg.value if isinstance(arg, ast.Starred) else None
        if not isinstance(star, ast.Name) or star.id not in self._lengths:
            return [arg]
        positions = map(ast.Constant, range(self._lengths[star.id]))
        return [ast.copy_location(ast.Subscript(star, position, ast.Load()), arg) for position in positions]

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self._known:
            return node
        return ast.copy_location(ast.Constant(self._known[node.id]), node)  # type: ignore[arg-type]

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        compare, other = _COMPARE.get(type(node.ops[0])), node.comparators[0]
        if compare and isinstance(node.left, ast.Constant) and isinstance(other, ast.Constant):
            return ast.copy_location(ast.Constant(compare(node.left.value, other.value)), node)
        return node
