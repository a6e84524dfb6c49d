"""Building scalar forms: instructions are appended, shortened and made once."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import zip_longest
from types import MappingProxyType
from typing import Any, Final, final

import numpy as np

from operad.operator import Axes, Instruction, Result, ScalarForm
from operad_sdk.mapper.errors import MapperError
from operad_sdk.mapper.primitives import PRIMITIVES

MAX_INSTRUCTIONS: Final = 10_000
"""Forms may not grow beyond this; it guards against mappers that inline one another in towers."""


_ON_NUMBERS: Final[Mapping[str, Callable[..., Any]]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "remainder": operator.mod,
    "floor_divide": operator.floordiv,
    "power": operator.pow,
    "negative": operator.neg,
}


def _fold(op: str, values: Sequence[Any]) -> Any:
    """Compute on constants as Python itself would, so that typed rounding happens once, at the end."""
    if op in _ON_NUMBERS:
        return _ON_NUMBERS[op](*values)
    with np.errstate(all="ignore"):
        return PRIMITIVES[op].evaluate(*(np.float64(value) for value in values)).item()


@final
class Builder:
    """Appends instructions; equal instructions are made once, those on constants are computed."""

    def __init__(self, name: str, inputs: Sequence[str], kinds: Sequence[str] = ()) -> None:
        """Begin with the inputs, of kind `real` where `kinds` does not say another."""
        self.name = name
        self.inputs = tuple(inputs)
        self._steps: list[Instruction] = []
        self._constants: list[Any] = []
        self._positions: dict[tuple[Any, ...], int] = {}
        for name_, kind in zip_longest(self.inputs, kinds, fillvalue="real"):
            self._append(("input", name_), Instruction("input", (), kind, name_))

    def _append(self, key: tuple[Any, ...], step: Instruction, number: Any = None) -> int:
        position = self._positions.get(key)
        if position is None:
            if len(self._steps) >= MAX_INSTRUCTIONS:
                raise MapperError(
                    f"mapper {self.name!r} grows beyond {MAX_INSTRUCTIONS} operations; split it"
                )
            position = self._positions[key] = len(self._steps)
            self._steps.append(step)
            self._constants.append(number)
        return position

    def kind(self, position: int) -> str:
        """Kind of a value."""
        return self._steps[position].kind

    def number(self, position: int) -> Any:
        """The Python number of a constant; None for any other value."""
        return self._constants[position]

    def constant(self, number: float, kind: str = "real") -> int:
        """A constant. Integers stay exact until the form is finished; booleans are of kind `bool`.

        Raises:
            MapperError: The number is no int, float or bool, or too large for a float.
        """
        if type(number) not in (int, float, bool):
            raise MapperError(f"mapper {self.name!r}: {number!r} is no real number")
        kind = "bool" if isinstance(number, bool) else kind
        try:
            step = Instruction("constant", (), kind, float(number))
        except OverflowError as error:
            raise MapperError(f"mapper {self.name!r}: constant {number!r} is too large") from error
        # Of other kinds it is rounded, or cut, before it is computed with.
        known = number if kind in ("real", "bool") else None
        return self._append(("constant", type(number), repr(number), kind), step, known)

    def length(self, axis: int, kind: str = "real") -> int:
        """The length of an axis of the iteration space."""
        return self._append(("length", axis, kind), Instruction("length", (), kind, axis))

    def position(self, axis: int, kind: str = "int64") -> int:
        """The position along an axis of the iteration space."""
        return self._append(("position", axis, kind), Instruction("position", (), kind, axis))

    def cast(self, position: int, kind: str) -> int:
        """A value as another kind."""
        own = self.kind(position)
        if own == kind:
            return position
        if own == "bool" and kind == "real":
            return self.select(position, self.constant(1), self.constant(0))
        if own == "real" and kind == "bool":
            return self.apply("not_equal", position, self.constant(0))
        return self._append(("cast", position, kind), Instruction("cast", (position,), kind))

    def over_axes(self, op: str, position: int, axes: Sequence[int]) -> int:
        """The `sum`, `max` or `min` over axes of the space, counted from its end."""
        if not axes:  # NumPy begins a sum with 0, so that of -0 alone is 0
            return (
                self.apply("add", position, self.constant(0, self.kind(position)))
                if op == "sum"
                else position
            )
        inner = self._steps[position]
        before = [axis for axis in inner.axes or (-1,) if axis is not None]
        if inner.op == op and not set(before) & set(axes):  # in one walk
            return self.over_axes(op, inner.args[0], [*before, *axes])
        own = None if list(axes) == [-1] else tuple(sorted(axes))
        step = Instruction(op, (position,), self.kind(position), axes=own)
        return self._append((op, position, own), step)

    def apply(self, op: str, *args: int) -> int:
        """The primitive `op` of earlier values."""
        if op == "select":
            return self.select(*args)
        if op.startswith("logical"):
            return self._logic(op, args)
        numbers = [self.number(position) for position in args]
        if all(number is not None for number in numbers):
            return self.constant(_fold(op, numbers))
        return self._shortened(op, args, numbers)

    def _shortened(self, op: str, args: tuple[int, ...], numbers: list[Any]) -> int:
        """Drop operations that change no value, NaN and signed zero included."""
        if op in ("multiply", "divide", "power") and numbers[1] == 1:
            return args[0]
        if op == "multiply" and numbers[0] == 1:
            return args[1]
        if op == "power" and numbers[1] in (2, 3, -1, -2):
            return self._small_power(args[0], int(numbers[1]))
        if op == "power" and numbers[1] == 0.5:  # NumPy's, by which -inf has no root, and -0.0 its own
            return self.apply("sqrt", args[0])
        if op == "negative" and self._steps[args[0]].op == "negative":
            return self._steps[args[0]].args[0]
        gives = PRIMITIVES[op].gives
        return self._append(
            (op, *args), Instruction(op, args, self.kind(args[0]) if gives == "real" else gives)
        )

    def power(self, base: int, exponent: int) -> int:
        """The power as one instruction where products, which are quicker, have other bits than NumPy."""
        if self.number(base) is not None or self.number(exponent) not in (3, -1, -2):
            return self.apply("power", base, exponent)
        return self._append(
            ("exact power", base, exponent), Instruction("power", (base, exponent), self.kind(base))
        )

    def _small_power(self, base: int, exponent: int) -> int:
        if exponent < 0:  # the reciprocal first: the power of a large base would overflow
            base, exponent = self.apply("divide", self.constant(1), base), -exponent
        if exponent == 1:
            return base
        square = self.apply("multiply", base, base)
        return square if exponent == 2 else self.apply("multiply", square, base)

    def copy(self, step: Instruction, args: Sequence[int]) -> int:
        """An instruction of another form, on values of this one."""
        if step.op == "constant":
            return self.constant(bool(step.value) if step.kind == "bool" else step.value, step.kind)  # type: ignore[arg-type]
        if step.op in PRIMITIVES:
            with suppress(ArithmeticError):  # a division by zero, say, which has a value in every type
                return self.apply(step.op, *args)
        key = (step.op, *args, step.kind, step.value, step.axes)
        return self._append(key, step._replace(args=tuple(args)))

    def select(self, condition: int, then: int, other: int) -> int:
        """`then` where `condition` holds, else `other`; both of one kind."""
        chosen = self.number(condition)
        if then == other or chosen is True:
            return then
        if chosen is False:
            return other
        step = Instruction("select", (condition, then, other), self.kind(then))
        return self._append(("select", condition, then, other), step)

    def _logic(self, op: str, args: tuple[int, ...]) -> int:
        numbers = [self.number(position) for position in args]
        if op == "logical_not":
            if numbers[0] is not None:
                return self.constant(not numbers[0])
        elif None not in numbers:
            both, either = numbers[0] and numbers[1], numbers[0] or numbers[1]
            return self.constant(both if op == "logical_and" else either)
        else:
            neutral = op == "logical_and"
            for number, same, other in zip(numbers, args, reversed(args), strict=True):
                if number is not None:
                    return other if number is neutral else same
        return self._append((op, *args), Instruction(op, args, "bool"))

    def inline(self, form: ScalarForm, args: Sequence[int]) -> int:
        """The result of `form` for earlier values in place of its inputs."""
        return self.replay(form, args)[form.result]

    def replay(self, form: ScalarForm, args: Sequence[int]) -> list[int]:
        """Every value of `form` for earlier values in place of its inputs."""
        positions = list(args)
        for step in form.instructions[len(form.inputs) :]:
            positions.append(self.copy(step, [positions[i] for i in step.args]))
        return positions

    def finish(self, *results: int | Result, axes: Mapping[int, Axes] = MappingProxyType({})) -> ScalarForm:
        """The form that gives `results`, without the instructions it does not need.

        Args:
            axes: How inputs lie in the iteration space, by position.
        """
        named = [one if isinstance(one, Result) else Result(one) for one in results]
        needed = {one.position for one in named}
        for position in range(len(self._steps) - 1, -1, -1):
            if position in needed:
                needed.update(self._steps[position].args)
        kept = [i for i, step in enumerate(self._steps) if i in needed or step.op == "input"]
        renumbered = {old: new for new, old in enumerate(kept)}
        steps = tuple(
            self._steps[i]._replace(
                args=tuple(renumbered[j] for j in self._steps[i].args), axes=axes.get(i, self._steps[i].axes)
            )
            for i in kept
        )
        ends = tuple(one._replace(position=renumbered[one.position]) for one in named)
        return ScalarForm(self.name, self.inputs, steps, ends)
