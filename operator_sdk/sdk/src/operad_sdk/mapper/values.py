"""Writing forms with operators: the notation that slopes and expansions are written in."""

from __future__ import annotations

from typing import final

from operad_sdk.mapper.builder import Builder


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

    def __add__(self, other: Value | float) -> Value:
        return self._new("add", self, other)

    def __radd__(self, other: float) -> Value:
        return self._new("add", other, self)

    def __sub__(self, other: Value | float) -> Value:
        return self._new("subtract", self, other)

    def __rsub__(self, other: float) -> Value:
        return self._new("subtract", other, self)

    def __mul__(self, other: Value | float) -> Value:
        return self._new("multiply", self, other)

    def __rmul__(self, other: float) -> Value:
        return self._new("multiply", other, self)

    def __truediv__(self, other: Value | float) -> Value:
        return self._new("divide", self, other)

    def __rtruediv__(self, other: float) -> Value:
        return self._new("divide", other, self)

    def __neg__(self) -> Value:
        return self._new("negative", self)

    def __lt__(self, other: Value | float) -> Value:
        return self._new("less", self, other)

    def __le__(self, other: Value | float) -> Value:
        return self._new("less_equal", self, other)

    def __gt__(self, other: Value | float) -> Value:
        return self._new("greater", self, other)

    def __ge__(self, other: Value | float) -> Value:
        return self._new("greater_equal", self, other)

    def __eq__(self, other: Value | float) -> Value:  # type: ignore[override]  # builds an instruction
        return self._new("equal", self, other)

    def __ne__(self, other: Value | float) -> Value:  # type: ignore[override]  # builds an instruction
        return self._new("not_equal", self, other)

    def __and__(self, other: Value) -> Value:
        return self._new("logical_and", self, other)

    def __or__(self, other: Value) -> Value:
        return self._new("logical_or", self, other)

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
