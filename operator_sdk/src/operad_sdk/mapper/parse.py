"""From restricted Python to a program.

The function's syntax tree is walked once, with an environment that maps each local name to the
value it holds at that point. An `if` is translated by translating both sides from the same
environment and merging: a name that differs becomes a `select`. A side that returns takes the rest
of the block no further; the other one goes on with it.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any, Final, NoReturn, Protocol, final, runtime_checkable

from operad_sdk.mapper import scope
from operad_sdk.mapper.arguments import arrange
from operad_sdk.mapper.errors import MapperError
from operad_sdk.mapper.ir import Builder, Program
from operad_sdk.mapper.primitives import PRIMITIVES

ALLOWED: Final = (
    "a mapper may use arithmetic, comparisons, and/or/not, if/elif/else, conditional expressions, "
    "local assignments, numbers, other mappers and the functions of operad_sdk.mapper.functions"
)

_BINARY: Final[dict[type[ast.operator], str]] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.FloorDiv: "floor_divide",
    ast.Mod: "remainder",
    ast.Pow: "power",
}
_COMPARE: Final[dict[type[ast.cmpop], str]] = {
    ast.Lt: "less",
    ast.LtE: "less_equal",
    ast.Gt: "greater",
    ast.GtE: "greater_equal",
    ast.Eq: "equal",
    ast.NotEq: "not_equal",
}

MAX_BLOCKS: Final = 5_000
"""Blocks that may be translated: an `if` that only sometimes returns doubles what follows it."""

Environment = dict[str, int]


@runtime_checkable
class HasProgram(Protocol):
    """What another mapper looks like to the parser."""

    @property
    def program(self) -> Program:
        """The program to inline."""

    @property
    def defaults(self) -> Mapping[str, float]:
        """Inputs that a call may leave out."""


def parse(function: Callable[..., Any]) -> Program:
    """The program of a function written in restricted Python.

    Raises:
        MapperError: The function cannot be read, or uses something that mappers do not have; the
            message names file, line, construct and what is allowed.
    """
    if not isinstance(function, FunctionType):
        raise MapperError(f"@mapper: expected a function defined with def, got {function!r}")
    name, file, first = function.__name__, function.__code__.co_filename, function.__code__.co_firstlineno
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError) as error:
        raise MapperError(
            f"mapper {name!r} ({file}:{first}): its source cannot be read; define it with def in a file"
        ) from error
    definition = tree.body[0]
    if not isinstance(definition, ast.FunctionDef):
        raise MapperError(f"mapper {name!r} ({file}:{first}): expected a function defined with def")
    return _Translator(function, definition, first).program()


@final
class _Translator:
    def __init__(self, function: FunctionType, definition: ast.FunctionDef, first_line: int) -> None:
        self._function = function
        self._definition = definition
        self._first_line = first_line
        self._locals = {
            node.id
            for node in ast.walk(definition)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        self._partial: set[str] = set()  # names that only some branches assigned
        self._blocks = 0
        self._builder = Builder(function.__name__, self._inputs())

    def _inputs(self) -> list[str]:
        arguments = self._definition.args
        for extra in (arguments.vararg, arguments.kwarg, *arguments.kwonlyargs):
            if extra is not None:
                self._refuse(extra, f"argument {extra.arg!r} (a mapper takes plain positional arguments)")
        names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
        if not names:
            self._refuse(self._definition, "a definition without arguments (it needs at least one)")
        return names

    def _refuse(self, node: ast.AST, what: str) -> NoReturn:
        line = getattr(node, "lineno", 1) + self._first_line - 1
        where = f"{self._function.__code__.co_filename}:{line}"
        raise MapperError(
            f"mapper {self._function.__name__!r} ({where}): {what} is not allowed here; {ALLOWED}"
        ) from None

    def program(self) -> Program:
        environment = {name: position for position, name in enumerate(self._builder.inputs)}
        result = self._block(self._definition.body, environment)
        if result is None:
            self._refuse(self._definition.body[-1], "reaching the end without a return")
        return self._builder.finish(result)

    # Statements: each block gives the value it returns, or None if it runs to its end.

    def _block(self, body: Sequence[ast.stmt], env: Environment) -> int | None:
        self._blocks += 1
        if self._blocks > MAX_BLOCKS:
            self._refuse(self._definition, "a definition with this many nested ifs that sometimes return")
        for index, statement in enumerate(body):
            if isinstance(statement, ast.Return):
                if statement.value is None:
                    self._refuse(statement, "a return without a value")
                return self._expression(statement.value, env)
            if isinstance(statement, ast.If):
                if _returns(statement):
                    return self._branch(statement, body[index + 1 :], env)
                self._merge(statement, env)
            else:
                self._statement(statement, env)
        return None

    def _branch(self, statement: ast.If, rest: Sequence[ast.stmt], env: Environment) -> int:
        """An `if` that returns somewhere: each side goes on with the rest of the block."""
        condition = self._condition(statement.test, env)
        then = self._block([*statement.body, *rest], dict(env))
        other = self._block([*statement.orelse, *rest], dict(env))
        if then is None or other is None:
            self._refuse(statement, "an if of which only one side ends in a return")
        return self._select(condition, then, other)

    def _merge(self, statement: ast.If, env: Environment) -> None:
        """An `if` that only assigns."""
        condition = self._condition(statement.test, env)
        then, other = dict(env), dict(env)
        self._block(statement.body, then)
        self._block(statement.orelse, other)
        for name in {**then, **other}:
            if name in then and name in other:
                env[name] = self._select(condition, then[name], other[name])
            else:
                self._partial.add(name)

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
                left = self._read(target, env)
                env[target.id] = self._binary(statement, op, left, self._expression(value, env))
            case _:
                self._refuse(statement, _described(statement))

    def _assign(self, target: ast.expr, value: ast.expr, env: Environment) -> None:
        if isinstance(target, ast.Name):
            env[target.id] = self._expression(value, env)
        elif (
            isinstance(target, ast.Tuple)
            and isinstance(value, ast.Tuple)
            and len(target.elts) == len(value.elts)
        ):
            values = [self._expression(element, env) for element in value.elts]
            for element, position in zip(target.elts, values, strict=True):
                if not isinstance(element, ast.Name):
                    self._refuse(element, f"assigning to {_described(element)}")
                env[element.id] = position
        else:
            self._refuse(target, f"assigning to {_described(target)}")

    # Expressions: each gives the position of its value.

    def _expression(self, node: ast.expr, env: Environment) -> int:
        match node:
            case ast.Constant(value=bool() | int() | float() as number):
                return self._builder.constant(number)
            case ast.Name():
                return self._read(node, env)
            case ast.Attribute():
                return self._constant(node, self._object(node))
            case ast.BinOp(left=left, op=op, right=right):
                return self._binary(node, op, self._expression(left, env), self._expression(right, env))
            case ast.UnaryOp(op=op, operand=operand):
                return self._unary(node, op, operand, env)
            case ast.BoolOp(op=op, values=values):
                name = "logical_and" if isinstance(op, ast.And) else "logical_or"
                return self._chain(name, [self._condition(value, env) for value in values])
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                return self._compare(node, [left, *comparators], ops, env)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                condition = self._condition(test, env)
                return self._select(condition, self._expression(body, env), self._expression(orelse, env))
            case ast.Call():
                return self._call(node, env)
            case _:
                pass
        return self._refuse(node, _described(node))

    def _condition(self, node: ast.expr, env: Environment) -> int:
        position = self._expression(node, env)
        if self._builder.kind(position) != "bool":
            self._refuse(node, f"the number {ast.unparse(node)!r} as a condition (compare it, as in x != 0)")
        return position

    def _read(self, node: ast.Name, env: Environment) -> int:
        if node.id in env:
            return env[node.id]
        if node.id in self._partial:
            self._refuse(node, f"reading {node.id!r}, which only some branches assign,")
        if node.id in self._locals:
            self._refuse(node, f"reading {node.id!r} before it is assigned")
        return self._constant(node, self._object(node))

    def _object(self, node: ast.expr) -> Any:
        """The object a free name, or an attribute of one, stands for."""
        try:
            match node:
                case ast.Name(id=name) if name in self._locals or name in self._builder.inputs:
                    self._refuse(node, f"calling the local {name!r}")
                case ast.Name(id=name) if name == self._function.__name__:
                    self._refuse(node, "a mapper that calls itself")
                case ast.Name(id=name):
                    return scope.lookup(self._function, name)
                case ast.Attribute(value=owner, attr=name):
                    return getattr(self._object(owner), name)
                case _:
                    self._refuse(node, _described(node))
        except (NameError, AttributeError):
            self._refuse(node, f"the unknown name {ast.unparse(node)!r}")

    def _constant(self, node: ast.expr, value: Any) -> int:
        number = scope.as_number(value)
        if number is None:
            self._refuse(node, f"{ast.unparse(node)!r}, a {type(value).__name__},")
        return self._builder.constant(number)

    def _unary(self, node: ast.expr, op: ast.unaryop, operand: ast.expr, env: Environment) -> int:
        if isinstance(op, ast.Not):
            return self._builder.apply("logical_not", self._condition(operand, env))
        if isinstance(op, ast.Invert):
            self._refuse(node, "the operator '~' (use not)")
        value = self._real(operand, self._expression(operand, env))
        return self._apply(node, "negative", value) if isinstance(op, ast.USub) else value

    def _binary(self, node: ast.AST, op: ast.operator, left: int, right: int) -> int:
        name = _BINARY.get(type(op))
        if name is None:
            self._refuse(node, f"the operator {type(op).__name__}")
        return self._apply(node, name, self._real(node, left), self._real(node, right))

    def _compare(
        self, node: ast.expr, operands: Sequence[ast.expr], ops: Sequence[ast.cmpop], env: Environment
    ) -> int:
        unknown = [op for op in ops if type(op) not in _COMPARE]
        if unknown:
            self._refuse(node, f"the comparison {type(unknown[0]).__name__}")
        values = [self._real(operand, self._expression(operand, env)) for operand in operands]
        pairs = zip(ops, values, values[1:], strict=False)
        links = [self._apply(node, _COMPARE[type(op)], left, right) for op, left, right in pairs]
        return self._chain("logical_and", links)

    def _chain(self, op: str, values: Sequence[int]) -> int:
        result = values[0]
        for value in values[1:]:
            result = self._builder.apply(op, result, value)
        return result

    def _call(self, node: ast.Call, env: Environment) -> int:
        target = self._object(node.func)
        if any(isinstance(arg, ast.Starred) for arg in node.args) or any(
            k.arg is None for k in node.keywords
        ):
            self._refuse(node, "unpacking arguments with * or **")
        args = [self._expression(arg, env) for arg in node.args]
        named = {str(keyword.arg): self._expression(keyword.value, env) for keyword in node.keywords}
        if isinstance(target, HasProgram):
            return self._inline(node, target, args, named)
        if named:
            self._refuse(node, f"calling {ast.unparse(node.func)!r} with named arguments")
        if target is builtins.min or target is builtins.max:
            return self._extreme(node, "less" if target is builtins.min else "greater", args)
        name = scope.primitive_of(target)
        if name is None:
            hint = scope.hint_for(target)
            self._refuse(node, f"calling {ast.unparse(node.func)!r}" + (f" ({hint})" if hint else ""))
        return self._primitive(node, name, args)

    def _primitive(self, node: ast.Call, name: str, args: list[int]) -> int:
        if len(args) != PRIMITIVES[name].arity:
            expected = PRIMITIVES[name].arity
            self._refuse(
                node, f"calling {ast.unparse(node.func)!r} with {len(args)} arguments, not {expected},"
            )
        if name == "select":
            if self._builder.kind(args[0]) != "bool":
                self._refuse(node, f"the number {ast.unparse(node.args[0])!r} as a condition (compare it)")
            return self._select(*args)
        return self._apply(node, name, *(self._real(node, arg) for arg in args))

    def _extreme(self, node: ast.Call, comparison: str, args: list[int]) -> int:
        """Python's own min and max: the first argument stays unless a later one compares better."""
        if len(args) < 2:
            self._refuse(node, f"calling {ast.unparse(node.func)!r} with fewer than two numbers")
        best = self._real(node, args[0])
        for arg in args[1:]:
            value = self._real(node, arg)
            best = self._select(self._apply(node, comparison, value, best), value, best)
        return best

    def _inline(self, node: ast.Call, target: HasProgram, args: list[int], named: dict[str, int]) -> int:
        defaults = {name: self._builder.constant(number) for name, number in target.defaults.items()}
        try:
            positions = arrange(target.program.name, target.program.inputs, defaults, args, named)
        except TypeError as error:
            self._refuse(node, f"the call {ast.unparse(node)!r} ({error})")
        return self._builder.inline(target.program, [self._real(node, position) for position in positions])

    def _apply(self, node: ast.AST, op: str, *args: int) -> int:
        try:
            return self._builder.apply(op, *args)
        except (ZeroDivisionError, OverflowError) as error:
            assert isinstance(node, (ast.expr, ast.stmt))
            self._refuse(node, f"the constant {ast.unparse(node)!r} ({error})")

    def _real(self, node: ast.AST, position: int) -> int:
        if self._builder.kind(position) == "bool":
            # NumPy's truth values know no minus, so the mapper would not run as plain Python.
            self._refuse(node, "a truth value as a number (write where(condition, 1, 0))")
        return position

    def _as_number(self, position: int) -> int:
        if self._builder.kind(position) == "real":
            return position
        return self._builder.select(position, self._builder.constant(1), self._builder.constant(0))

    def _select(self, condition: int, then: int, other: int) -> int:
        if self._builder.kind(then) != self._builder.kind(other):
            then, other = self._as_number(then), self._as_number(other)
        return self._builder.select(condition, then, other)


def _returns(statement: ast.If) -> bool:
    return any(isinstance(node, ast.Return) for node in ast.walk(statement))


def _described(node: ast.AST) -> str:
    """A statement or expression in the author's words."""
    text = ast.unparse(node).splitlines()[0]
    return f"{type(node).__name__} {text!r}"
