"""Writing forms with operators: the notation that slopes and expansions are written in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

from operad_sdk.mapper.builder import Builder


def _binary(op: str, *, is_reflected: bool = False) -> Callable[[Any, Any], Value]:
    def method(self: Value, other: Value | float) -> Value:
        return self._new(op, other, self) if is_reflected else self._new(op, self, other)

    return method


@final
class Value:
    """A value of a form being built; arithmetic and comparisons append instructions."""

    __hash__ = None  # type: ignore[assignment]  # `==` builds an instruction
    __slots__ = ("builder", "position")

    def __init__(self, builder: Builder, position: int) -> None:
        self.builder = builder
        self.position = position

    def _new(self, op: str, *operands: Value | float) -> Value:
        kinds = [self.builder.kind(one.position) for one in operands if isinstance(one, Value)]
        kind = next(
            (kind for kind in kinds if kind != "bool"), "real"
        )  # numbers are of the kind of the others
        return Value(self.builder, self.builder.apply(op, *(self._at(one, kind) for one in operands)))

    def _at(self, operand: Value | float, kind: str) -> int:
        return operand.position if isinstance(operand, Value) else self.builder.constant(operand, kind)

    def cast(self, kind: str) -> Value:
        """The same number as another kind."""
        return Value(self.builder, self.builder.cast(self.position, kind))

    __add__ = _binary("add")
    __radd__ = _binary("add", is_reflected=True)
    __sub__ = _binary("subtract")
    __rsub__ = _binary("subtract", is_reflected=True)
    __mul__ = _binary("multiply")
    __rmul__ = _binary("multiply", is_reflected=True)
    __truediv__ = _binary("divide")
    __rtruediv__ = _binary("divide", is_reflected=True)
    __lt__ = _binary("less")
    __le__ = _binary("less_equal")
    __gt__ = _binary("greater")
    __ge__ = _binary("greater_equal")
    __eq__ = _binary("equal")  # type: ignore[assignment]  # builds an instruction
    __ne__ = _binary("not_equal")  # type: ignore[assignment]  # builds an instruction
    __and__ = _binary("logical_and")
    __or__ = _binary("logical_or")

    def __neg__(self) -> Value:
        return self._new("negative", self)

    @property
    def number(self) -> float | None:
        """The number of a constant; None for any other value."""
        found: float | None = self.builder.number(self.position)
        return found


def call(op: str, first: Value, *rest: Value | float) -> Value:
    """The primitive `op` of values."""
    return first._new(op, first, *rest)


def select(condition: Value, then: Value | float, other: Value | float) -> Value:
    """`then` where `condition` holds, else `other`."""
    return condition._new("select", condition, then, other)
