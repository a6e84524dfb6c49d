"""Arithmetic of the shape language.

Expressions are Python's, restricted: names, integers, `+ - * // %`, comparison, `and or not`,
`a if test else b`, indexing, and the functions below. A name is a number, or a sequence of numbers
(`S` in `*S`); a starred expression is evaluated once for each index of its sequences, so
`*((S + 2*pad - kernel)//stride + 1)` is one line for any number of axes.

An expression can be evaluated, where the value of an unknown name is None and so is everything
computed from it, and it can be solved for its only unknown name where it is affine in it. Nothing
else is solved: `(W - 3)//2 + 1 == 5` leaves W unknown, because 11 and 12 both fit.

A function of whole sequences may give a sequence, and then stands under a star for all its axes:
`*broadcast(A, B)`, `*reduced(S, axis, keepdims)`, or a function of the operator's own.
"""

from __future__ import annotations

import ast
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from math import prod
from typing import Any, Final, final

from operad.errors import ShapeError
from operad_sdk.errors import SpecError

Env = Mapping[str, Any]
"""Values of names: a number, a tuple whose items may be None, or None."""

Affine = tuple[int, int]
"""`(a, b)` for `a * x + b`, where x is the unknown."""


@final
class GivenTuple(tuple[Any, ...]):
    """A parameter's tuple, in which None is a value and not an unknown length."""

    __slots__ = ()


def ceil_div(a: int, b: int) -> int:
    """`a / b`, rounded up."""
    return -int(_BINARY[ast.FloorDiv](-a, b))


def _by_nonzero(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def divide(a: Any, b: Any) -> Any:
        if b == 0:
            raise ShapeError(f"{a} is divided by a size or parameter that is 0, expected another")
        return function(a, b)

    return divide


_BINARY: Final[dict[type[ast.AST], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: _by_nonzero(operator.floordiv),
    ast.Mod: _by_nonzero(operator.mod),
}
_COMPARE: Final[dict[type[ast.AST], Callable[[Any, Any], Any]]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda item, items: item in items,
}


def broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that arrays of these shapes broadcast to.

    Raises:
        ShapeError: They do not broadcast.
    """
    rank = max(map(len, shapes), default=0)
    result = []
    for position in range(-rank, 0):
        lengths = {shape[position] for shape in shapes if len(shape) >= -position} - {1}
        if len(lengths) > 1:
            raise ShapeError(
                f"shapes {' and '.join(map(str, shapes))} do not broadcast: axis {rank + position} is "
                f"{' and '.join(map(str, sorted(lengths)))}, expected equal lengths or 1"
            )
        result.append(lengths.pop() if lengths else 1)
    return tuple(result)


def reduced(
    shape: tuple[int, ...], axis: Any, keepdims: bool = False, exclude: bool = False
) -> tuple[int, ...]:
    """The shape that is left when `axis` (one, several, or all where None or ()) is reduced.

    As in MXNet 1.x nothing is ever 0-d: where no axis is left there is one of length 1. Lengths may be
    None in a shape line, where they are not known yet.

    Raises:
        ShapeError: An axis is not there, or named twice.
    """
    axes = reduced_axes(len(shape), axis, exclude)
    if keepdims:
        return tuple(1 if position in axes else length for position, length in enumerate(shape))
    return tuple(length for position, length in enumerate(shape) if position not in axes) or (1,)


def reduced_axes(ndim: int, axis: Any, exclude: bool = False) -> tuple[int, ...]:
    """The axes that `axis` names, or with `exclude` all others, counted from the front and in order.

    None and () name all axes; as in MXNet 1.x, `exclude` then changes nothing.

    Raises:
        ShapeError: An axis is not there, or named twice.
    """
    given = (axis,) if isinstance(axis, int) else tuple(axis or ())
    for one in given:
        if not -ndim <= one < ndim:
            raise ShapeError(f"axis is {one}, expected {-ndim} to {ndim - 1} for {ndim} axes")
    named = [one % ndim for one in given]
    if len(set(named)) < len(named):
        raise ShapeError(f"axis is {axis}, which names an axis twice")
    if not given:
        return tuple(range(ndim))
    return tuple(position for position in range(ndim) if (position in named) != exclude)


_OF_NUMBERS: Final[dict[str, Callable[..., Any]]] = {"max": max, "min": min, "ceil_div": ceil_div}
_OF_SEQUENCES: Final[dict[str, Callable[..., Any]]] = {"prod": prod, "sum": sum, "len": len}
_GIVE_SEQUENCES: Final[dict[str, Callable[..., Any]]] = {"broadcast": broadcast, "reduced": reduced}
_TAKE_UNKNOWN_LENGTHS: Final = frozenset(("reduced",))
"""Functions that only choose among lengths, so that an unknown one stays what it is."""


class Expression(ABC):
    """One node of an expression.

    Attributes:
        names: Every name in it.
        indexed: Names that stand for one item of a sequence when the expression is starred.
        tests: Names that decide between expressions; they must be parameters.
        functions: Functions of the operator's own that it calls.
        gives_sequence: Whether its value is a whole sequence.
    """

    __slots__ = ("functions", "gives_sequence", "indexed", "names", "tests")

    def __init__(self, *parts: Expression) -> None:
        self.names: frozenset[str] = frozenset[str]().union(*(part.names for part in parts))
        self.indexed: frozenset[str] = frozenset[str]().union(*(part.indexed for part in parts))
        self.tests: frozenset[str] = frozenset[str]().union(*(part.tests for part in parts))
        self.functions: frozenset[str] = frozenset[str]().union(*(part.functions for part in parts))
        self.gives_sequence = False

    @abstractmethod
    def value(self, env: Env, index: int | None) -> Any:
        """The value, or None where a name is unknown; `index` selects from sequences."""

    def affine(self, env: Env, index: int | None, unknown: str) -> Affine | None:
        """The expression as `a * unknown + b`; None if it does not have that form."""
        value = self.value(env, index)
        return None if value is None else (0, value)


@final
class _Constant(Expression):
    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        super().__init__()
        self._value = value

    def value(self, env: Env, index: int | None) -> Any:
        return self._value


@final
class Name(Expression):
    """A name, or `...` for the anonymous sequence."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.names = self.indexed = frozenset([name])

    def value(self, env: Env, index: int | None) -> Any:
        """The value of the name."""
        value = env.get(self.name)
        return value[index] if index is not None and type(value) is tuple else value

    def affine(self, env: Env, index: int | None, unknown: str) -> Affine | None:
        """`1 * unknown + 0` for the unknown itself; any other name is constant."""
        return (1, 0) if self.name == unknown else super().affine(env, index, unknown)


@final
class _Binary(Expression):
    __slots__ = ("_function", "_left", "_op", "_right")

    def __init__(self, op: ast.operator, left: Expression, right: Expression) -> None:
        super().__init__(left, right)
        self._op = type(op)
        self._function = _BINARY[self._op]
        self._left = left
        self._right = right

    def value(self, env: Env, index: int | None) -> Any:
        left, right = self._left.value(env, index), self._right.value(env, index)
        return None if left is None or right is None else self._function(left, right)

    def affine(self, env: Env, index: int | None, unknown: str) -> Affine | None:
        left, right = self._left.affine(env, index, unknown), self._right.affine(env, index, unknown)
        if left is None or right is None:
            return None
        (a, b), (c, d) = left, right
        if a == 0 and c == 0:
            return 0, self._function(b, d)
        if self._op in (ast.Add, ast.Sub):
            return self._function(a, c), self._function(b, d)
        if self._op is ast.Mult and 0 in (a, c):
            return a * d + b * c, b * d
        if self._op is ast.FloorDiv and c == 0 and d != 0 and a % d == 0:
            return a // d, b // d  # (k*d*x + b)//d is k*x + b//d exactly
        return None


@final
class _Call(Expression):
    """A function of known values; `unindexed` arguments see whole sequences."""

    __slots__ = ("_function", "_parts", "_unindexed")

    def __init__(self, function: Callable[..., Any], parts: list[Expression], unindexed: bool) -> None:
        super().__init__(*parts)
        self._function = function
        self._parts = parts
        self._unindexed = unindexed
        if unindexed:
            self.indexed = frozenset()

    def value(self, env: Env, index: int | None) -> Any:
        values = [part.value(env, None if self._unindexed else index) for part in self._parts]
        for value in values:
            if value is None or (type(value) is tuple and None in value):
                return None
        return self._function(*values)


@final
class _Whole(Expression):
    """A function of whole sequences and parameters that gives a sequence.

    A parameter that is None is a value like any other; a name that is not in the environment is
    unknown, and so is a sequence with an unknown length in it.
    """

    __slots__ = ("_name", "_parts")

    def __init__(self, name: str, parts: list[Expression]) -> None:
        super().__init__(*parts)
        self._name = name
        self._parts = parts
        self.indexed = frozenset()
        self.gives_sequence = True
        if name not in _GIVE_SEQUENCES:
            self.functions = self.functions | {name}

    def value(self, env: Env, index: int | None) -> Any:
        values = []
        for part in self._parts:
            if any(name not in env for name in part.names):
                return None
            value = part.value(env, None)
            is_taken = isinstance(value, tuple) and self._name in _TAKE_UNKNOWN_LENGTHS
            if not is_taken and _has_unknown(value, part):
                return None
            values.append(value)
        shape = (_GIVE_SEQUENCES.get(self._name) or env[self._name])(*values)
        return shape if index is None or shape is None else shape[index]


def _has_unknown(value: Any, part: Expression) -> bool:
    if value is None:
        return not isinstance(part, Name)  # a name's value is a parameter's
    if type(value) is not tuple or isinstance(part, _Constant):
        return False
    return any(item is None or (isinstance(item, tuple) and None in item) for item in value)


@final
class _Test(Expression):
    """Plain Python over parameters, for which None is a value like any other."""

    __slots__ = ("_function", "_parts")

    def __init__(self, function: Callable[..., Any], parts: list[Expression]) -> None:
        super().__init__(*parts)
        self._function = function
        self._parts = parts
        self.indexed = frozenset()
        self.tests = self.names

    def value(self, env: Env, index: int | None) -> Any:
        return self._function(*[part.value(env, None) for part in self._parts])


@final
class _Choice(Expression):
    __slots__ = ("_no", "_test", "_yes")

    def __init__(self, test: Expression, yes: Expression, no: Expression) -> None:
        super().__init__(test, yes, no)
        self.indexed = yes.indexed | no.indexed
        self.tests = self.tests | test.names
        self._test, self._yes, self._no = test, yes, no

    def value(self, env: Env, index: int | None) -> Any:
        return (self._yes if self._test.value(env, None) else self._no).value(env, index)

    def affine(self, env: Env, index: int | None, unknown: str) -> Affine | None:
        return (self._yes if self._test.value(env, None) else self._no).affine(env, index, unknown)


def compile_expression(node: ast.expr) -> Expression:
    """The expression that a Python syntax tree stands for.

    Raises:
        SpecError: It has a construct that the language lacks.
    """
    compiled = compile_expression
    match node:
        case ast.Constant(value=v) if v is ...:
            return Name("...")
        case ast.Constant(value=int() | str() | None as v):  # True and False are ints
            return _Constant(v)
        case ast.Name(id=name):
            return Name(name)
        case ast.Tuple(elts=items):
            return _Test(lambda *values: values, [compiled(item) for item in items])
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _Binary(op, compiled(left), compiled(right))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _Binary(ast.Sub(), _Constant(0), compiled(operand))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _Test(operator.not_, [compiled(operand)])
        case ast.Subscript(value=value, slice=item):
            return _Call(operator.getitem, [compiled(value), compiled(item)], unindexed=True)
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARE:
            return _Test(_COMPARE[type(op)], [compiled(left), compiled(right)])
        case ast.BoolOp(op=op, values=parts):
            every = isinstance(op, ast.And)
            return _Test(lambda *values: (all if every else any)(values), [compiled(part) for part in parts])
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return _Choice(compiled(test), compiled(body), compiled(orelse))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _OF_NUMBERS | _OF_SEQUENCES:
            function = (_OF_NUMBERS | _OF_SEQUENCES)[name]
            return _Call(function, [compiled(arg) for arg in args], unindexed=name in _OF_SEQUENCES)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            return _Whole(name, [compiled(arg) for arg in args])
    functions = ", ".join([*_OF_NUMBERS, *_OF_SEQUENCES, *_GIVE_SEQUENCES])
    raise SpecError(
        f"cannot use {ast.unparse(node)!r}; expected names, integers, + - * // %, comparisons, "
        f"and/or/not, if-else, indexing, and {functions}"
    )
