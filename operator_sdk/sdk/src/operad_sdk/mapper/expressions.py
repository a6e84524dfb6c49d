"""Expressions of mapper code: each becomes the position of a value in the form being built."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import Any, Final, NoReturn, Protocol, final, runtime_checkable

from operad.operator import ScalarForm
from operad_sdk.mapper import scope
from operad_sdk.mapper.arguments import arrange
from operad_sdk.mapper.builder import Builder
from operad_sdk.mapper.errors import MapperError
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

Environment = dict[str, int]


@runtime_checkable
class HasForm(Protocol):
    """Members of another mapper that the parser reads."""

    @property
    def form(self) -> ScalarForm:
        """The form to inline."""

    @property
    def defaults(self) -> Mapping[str, float]:
        """Inputs that a call may leave out."""


@final
class Expressions:
    """Translates the expressions of one function.

    Attributes:
        builder: The form so far.
        partial: Names that only some branches assigned.
    """

    def __init__(
        self, function: FunctionType, inputs: Sequence[str], local: frozenset[str], first_line: int
    ) -> None:
        self.builder = Builder(function.__name__, inputs)
        self.partial: set[str] = set()
        self._function = function
        self._locals = local
        self._first_line = first_line

    def refuse(self, node: ast.AST, what: str) -> NoReturn:
        """Raise the error that names mapper, file, line, construct and what is allowed."""
        line = getattr(node, "lineno", 1) + self._first_line - 1
        raise refusal(self._function, line, what) from None

    def value(self, node: ast.expr, env: Environment) -> int:
        """The position of an expression's value."""
        match node:
            case ast.Constant(value=bool() | int() | float() as number):
                return self.builder.constant(number)
            case ast.Name():
                return self.read(node, env)
            case ast.Attribute():
                return self._constant(node, self._object(node))
            case ast.BinOp(left=left, op=op, right=right):
                return self.binary(node, op, self.value(left, env), self.value(right, env))
            case ast.UnaryOp(op=op, operand=operand):
                return self._unary(node, op, operand, env)
            case ast.BoolOp(op=op, values=values):
                name = "logical_and" if isinstance(op, ast.And) else "logical_or"
                return self._chain(name, [self.condition(value, env) for value in values])
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                return self._compare(node, [left, *comparators], ops, env)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                condition = self.condition(test, env)
                return self.select(condition, self.value(body, env), self.value(orelse, env))
            case ast.Call():
                return self._call(node, env)
            case _:
                pass
        return self.refuse(node, described(node))

    def condition(self, node: ast.expr, env: Environment) -> int:
        """The position of a boolean."""
        position = self.value(node, env)
        if self.builder.kind(position) != "bool":
            self.refuse(node, f"the number {ast.unparse(node)!r} as a condition (compare it, as in x != 0)")
        return position

    def read(self, node: ast.Name, env: Environment) -> int:
        """The value a name has here."""
        if node.id in env:
            return env[node.id]
        if node.id in self.partial:
            self.refuse(node, f"reading {node.id!r}, which only some branches assign,")
        if node.id in self._locals:
            self.refuse(node, f"reading {node.id!r} before it is assigned")
        return self._constant(node, self._object(node))

    def _object(self, node: ast.expr) -> Any:
        """The object a free name, or an attribute of one, stands for."""
        try:
            match node:
                case ast.Name(id=name) if name in self._locals or name in self.builder.inputs:
                    self.refuse(node, f"calling the local {name!r}")
                case ast.Name(id=name) if name == self._function.__name__:
                    self.refuse(node, "a mapper that calls itself")
                case ast.Name(id=name):
                    return scope.lookup(self._function, name)
                case ast.Attribute(value=owner, attr=name):
                    return getattr(self._object(owner), name)
                case _:
                    self.refuse(node, described(node))
        except (NameError, AttributeError):
            self.refuse(node, f"the unknown name {ast.unparse(node)!r}")

    def _constant(self, node: ast.expr, value: Any) -> int:
        number = scope.as_number(value)
        if number is None:
            self.refuse(node, f"{ast.unparse(node)!r}, a {type(value).__name__},")
        return self.builder.constant(number)

    def _unary(self, node: ast.expr, op: ast.unaryop, operand: ast.expr, env: Environment) -> int:
        if isinstance(op, ast.Not):
            return self.builder.apply("logical_not", self.condition(operand, env))
        if isinstance(op, ast.Invert):
            self.refuse(node, "the operator '~' (use not)")
        value = self._real(operand, self.value(operand, env))
        return self._apply(node, "negative", value) if isinstance(op, ast.USub) else value

    def binary(self, node: ast.AST, op: ast.operator, left: int, right: int) -> int:
        """An arithmetic operator of two values."""
        name = _BINARY.get(type(op))
        if name is None:
            self.refuse(node, f"the operator {type(op).__name__}")
        return self._apply(node, name, self._real(node, left), self._real(node, right))

    def _compare(
        self, node: ast.expr, operands: Sequence[ast.expr], ops: Sequence[ast.cmpop], env: Environment
    ) -> int:
        unknown = [op for op in ops if type(op) not in _COMPARE]
        if unknown:
            self.refuse(node, f"the comparison {type(unknown[0]).__name__}")
        values = [self._real(operand, self.value(operand, env)) for operand in operands]
        pairs = zip(ops, values, values[1:], strict=False)
        links = [self._apply(node, _COMPARE[type(op)], left, right) for op, left, right in pairs]
        return self._chain("logical_and", links)

    def _chain(self, op: str, values: Sequence[int]) -> int:
        result = values[0]
        for value in values[1:]:
            result = self.builder.apply(op, result, value)
        return result

    def _call(self, node: ast.Call, env: Environment) -> int:
        target = self._object(node.func)
        if any(isinstance(arg, ast.Starred) for arg in node.args) or any(
            k.arg is None for k in node.keywords
        ):
            self.refuse(node, "unpacking arguments with * or **")
        args = [self.value(arg, env) for arg in node.args]
        named = {str(keyword.arg): self.value(keyword.value, env) for keyword in node.keywords}
        if isinstance(target, HasForm):
            return self._inline(node, target, args, named)
        if named:
            self.refuse(node, f"calling {ast.unparse(node.func)!r} with named arguments")
        if target is builtins.min or target is builtins.max:
            return self._extreme(node, "smaller" if target is builtins.min else "larger", args)
        name = scope.primitive_of(target)
        if name is None:
            hint = scope.hint_for(target)
            self.refuse(node, f"calling {ast.unparse(node.func)!r}" + (f" ({hint})" if hint else ""))
        return self._primitive(node, name, args)

    def _primitive(self, node: ast.Call, name: str, args: list[int]) -> int:
        if len(args) != PRIMITIVES[name].arity:
            expected = PRIMITIVES[name].arity
            self.refuse(
                node, f"calling {ast.unparse(node.func)!r} with {len(args)} arguments, not {expected},"
            )
        if name == "select":
            if self.builder.kind(args[0]) != "bool":
                self.refuse(node, f"the number {ast.unparse(node.args[0])!r} as a condition (compare it)")
            return self.select(*args)
        return self._apply(node, name, *(self._real(node, arg) for arg in args))

    def _extreme(self, node: ast.Call, choice: str, args: list[int]) -> int:
        """Python's own min and max: the first argument stays unless a later one compares better."""
        if len(args) < 2:
            self.refuse(node, f"calling {ast.unparse(node.func)!r} with fewer than two numbers")
        best = self._real(node, args[0])
        for arg in args[1:]:
            best = self._apply(node, choice, best, self._real(node, arg))
        return best

    def _inline(self, node: ast.Call, target: HasForm, args: list[int], named: dict[str, int]) -> int:
        defaults = {name: self.builder.constant(number) for name, number in target.defaults.items()}
        try:
            positions = arrange(target.form.name, target.form.inputs, defaults, args, named)
        except TypeError as error:
            self.refuse(node, f"the call {ast.unparse(node)!r} ({error})")
        return self.builder.inline(target.form, [self._real(node, position) for position in positions])

    def _apply(self, node: ast.AST, op: str, *args: int) -> int:
        try:
            return self.builder.apply(op, *args)
        except (ZeroDivisionError, OverflowError) as error:
            assert isinstance(node, (ast.expr, ast.stmt))
            self.refuse(node, f"the constant {ast.unparse(node)!r} ({error})")

    def _real(self, node: ast.AST, position: int) -> int:
        if self.builder.kind(position) == "bool":
            # NumPy's booleans know no minus, so the mapper would not run as plain Python.
            self.refuse(node, "a boolean as a number (write where(condition, 1, 0))")
        return position

    def _as_number(self, position: int) -> int:
        if self.builder.kind(position) == "real":
            return position
        return self.builder.select(position, self.builder.constant(1), self.builder.constant(0))

    def select(self, condition: int, then: int, other: int) -> int:
        """One of two values; a boolean beside a number becomes one."""
        if self.builder.kind(then) != self.builder.kind(other):
            then, other = self._as_number(then), self._as_number(other)
        return self.builder.select(condition, then, other)


def refusal(function: FunctionType, line: int, what: str) -> MapperError:
    """The error for a construct that mappers do not have."""
    where = f"{function.__code__.co_filename}:{line}"
    return MapperError(f"mapper {function.__name__!r} ({where}): {what} is not allowed here; {ALLOWED}")


def described(node: ast.AST) -> str:
    """A statement or expression in the author's words."""
    text = ast.unparse(node).splitlines()[0]
    return f"{type(node).__name__} {text!r}"
