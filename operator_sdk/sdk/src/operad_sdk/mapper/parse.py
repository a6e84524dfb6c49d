"""From restricted Python to a form.

The function's syntax tree is walked once, with an environment that maps each local name to the
value it holds at that point. An `if` is translated by translating both sides from the same
environment and merging: a name that differs becomes a `select`. A side that returns takes the rest
of the block no further; the other one goes on with it.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, Final, final

from operad.first_use import parse_source
from operad.operator import ScalarForm
from operad_sdk.mapper.errors import MapperError
from operad_sdk.mapper.expressions import Environment, Expressions, described, refusal

MAX_BLOCKS: Final = 5_000
"""Blocks that may be translated: an `if` that only sometimes returns doubles what follows it."""


def parse(function: Callable[..., Any]) -> ScalarForm:
    """The form of a function written in restricted Python.

    Raises:
        MapperError: The function cannot be read, or uses something that mappers do not have; the
            message names file, line, construct and what is allowed.
    """
    if not isinstance(function, FunctionType):
        raise MapperError(f"@mapper: expected a function defined with def, got {function!r}")
    name, file, first = function.__name__, function.__code__.co_filename, function.__code__.co_firstlineno
    try:
        tree = parse_source(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError) as error:
        raise MapperError(
            f"mapper {name!r} ({file}:{first}): its source cannot be read; define it with def in a file"
        ) from error
    definition = tree.body[0]
    if not isinstance(definition, ast.FunctionDef):
        raise MapperError(f"mapper {name!r} ({file}:{first}): expected a function defined with def")
    return _Statements(function, definition, first).form()


@final
class _Statements:
    def __init__(self, function: FunctionType, definition: ast.FunctionDef, first_line: int) -> None:
        self._definition = definition
        self._blocks = 0
        inputs = _inputs(function, definition, first_line)
        assigned = (node for node in ast.walk(definition) if isinstance(node, ast.Name))
        local = frozenset(node.id for node in assigned if isinstance(node.ctx, ast.Store))
        self._on = Expressions(function, inputs, local, first_line)

    def form(self) -> ScalarForm:
        builder = self._on.builder
        result = self._block(
            self._definition.body, {name: position for position, name in enumerate(builder.inputs)}
        )
        if result is None:
            self._on.refuse(self._definition.body[-1], "reaching the end without a return")
        return builder.finish(result)

    def _block(self, body: Sequence[ast.stmt], env: Environment) -> int | None:
        """The value a block returns, or None if it runs to its end."""
        self._blocks += 1
        if self._blocks > MAX_BLOCKS:
            self._on.refuse(self._definition, "a definition with this many nested ifs that sometimes return")
        for index, statement in enumerate(body):
            if isinstance(statement, ast.Return):
                if statement.value is None:
                    self._on.refuse(statement, "a return without a value")
                return self._on.value(statement.value, env)
            if isinstance(statement, ast.If):
                if _returns(statement):
                    return self._branch(statement, body[index + 1 :], env)
                self._merge(statement, env)
            else:
                self._statement(statement, env)
        return None

    def _branch(self, statement: ast.If, rest: Sequence[ast.stmt], env: Environment) -> int:
        """An `if` that returns somewhere: each side goes on with the rest of the block."""
        condition = self._on.condition(statement.test, env)
        then = self._block([*statement.body, *rest], dict(env))
        other = self._block([*statement.orelse, *rest], dict(env))
        if then is None or other is None:
            self._on.refuse(statement, "an if of which only one side ends in a return")
        return self._on.select(condition, then, other)

    def _merge(self, statement: ast.If, env: Environment) -> None:
        """An `if` that only assigns."""
        condition = self._on.condition(statement.test, env)
        then, other = dict(env), dict(env)
        self._block(statement.body, then)
        self._block(statement.orelse, other)
        for name in {**then, **other}:
            if name in then and name in other:
                env[name] = self._on.select(condition, then[name], other[name])
            else:
                self._on.partial.add(name)

    def _statement(self, statement: ast.stmt, env: Environment) -> None:
        match statement:
            case ast.Pass() | ast.Expr(value=ast.Constant(value=str())):
                pass
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._assign(target, value, env)
            case ast.AnnAssign(target=ast.Name() as target, value=ast.expr() as value):
                self._assign(target, value, env)
            case ast.AugAssign(target=ast.Name() as target, op=op, value=value):
                left = self._on.read(target, env)
                env[target.id] = self._on.binary(statement, op, left, self._on.value(value, env))
            case _:
                self._on.refuse(statement, described(statement))

    def _assign(self, target: ast.expr, value: ast.expr, env: Environment) -> None:
        if isinstance(target, ast.Name):
            env[target.id] = self._on.value(value, env)
        elif (
            isinstance(target, ast.Tuple)
            and isinstance(value, ast.Tuple)
            and len(target.elts) == len(value.elts)
        ):
            values = [self._on.value(element, env) for element in value.elts]
            for element, position in zip(target.elts, values, strict=True):
                if not isinstance(element, ast.Name):
                    self._on.refuse(element, f"assigning to {described(element)}")
                env[element.id] = position
        else:
            self._on.refuse(target, f"assigning to {described(target)}")


def _inputs(function: FunctionType, definition: ast.FunctionDef, first_line: int) -> list[str]:
    arguments = definition.args
    for extra in (arguments.vararg, arguments.kwarg, *arguments.kwonlyargs):
        if extra is not None:
            what = f"argument {extra.arg!r} (a mapper takes plain positional arguments)"
            raise refusal(function, extra.lineno + first_line - 1, what)
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    if not names:
        what = "a definition without arguments (it needs at least one)"
        raise refusal(function, definition.lineno + first_line - 1, what)
    return names


def _returns(statement: ast.If) -> bool:
    return any(isinstance(node, ast.Return) for node in ast.walk(statement))
