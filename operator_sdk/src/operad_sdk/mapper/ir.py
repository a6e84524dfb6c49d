"""Programs: what a mapper means, with no trace of how it was written.

A program is a list of instructions in which each value is computed once, from values before it
(static single assignment). Branches are `select` instructions that compute both sides, which is
what SIMD units, NumPy and GPUs do anyway and is allowed because no primitive has a side effect.
One flat list serves every consumer: back ends print it, slopes and fusion walk it, its text is the
cache key. Refused: an expression tree (a shared value would be printed, and differentiated, once
for each use) and structured statements (each consumer would have to handle scopes again).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from operad_sdk.mapper.errors import MapperError
from operad_sdk.mapper.primitives import PRIMITIVES, Kind

MAX_INSTRUCTIONS: Final = 10_000
"""Programs may not grow beyond this; it guards against mappers that inline one another in towers."""


@final
@dataclass(frozen=True, slots=True)
class Instruction:
    """One value of a program.

    Attributes:
        op: `input`, `constant`, or the name of a primitive.
        args: Positions of the operands, all smaller than the instruction's own.
        kind: Kind of the value.
        value: The number of a constant, the name of an input, else None.
    """

    op: str
    args: tuple[int, ...]
    kind: Kind
    value: float | str | None = None


@final
@dataclass(frozen=True, slots=True, eq=False)  # compared by identity, because it is a key on the hot path
class Program:
    """A scalar function: the first instructions are its inputs, `result` is the value it returns."""

    name: str
    inputs: tuple[str, ...]
    instructions: tuple[Instruction, ...]
    result: int

    @property
    def kind(self) -> Kind:
        """Kind of the result."""
        return self.instructions[self.result].kind

    @property
    def inputs_read(self) -> tuple[str, ...]:
        """The inputs that the result depends on."""
        read = {i for step in self.instructions for i in step.args} | {self.result}
        return tuple(name for position, name in enumerate(self.inputs) if position in read)

    def text(self) -> str:
        """The program line by line; equal texts mean equal programs."""
        lines = [f"{self.name}({', '.join(self.inputs)}) -> v{self.result}"]
        for position, step in enumerate(self.instructions):
            operands = [f"v{i}" for i in step.args] or [repr(step.value)]
            lines.append(f"v{position}: {step.kind} = {step.op} {' '.join(operands)}")
        return "\n".join(lines)


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
    """Appends instructions; equal ones are made once, those on constants not at all."""

    def __init__(self, name: str, inputs: Sequence[str]) -> None:
        self.name = name
        self.inputs = tuple(inputs)
        self._steps: list[Instruction] = []
        self._constants: list[Any] = []
        self._positions: dict[tuple[Any, ...], int] = {}
        for name_ in self.inputs:
            self._append(("input", name_), Instruction("input", (), "real", name_))

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

    def kind(self, position: int) -> Kind:
        """Kind of a value."""
        return self._steps[position].kind

    def number(self, position: int) -> Any:
        """The Python number of a constant; None for any other value."""
        return self._constants[position]

    def constant(self, number: float) -> int:
        """A constant. Whole numbers stay exact until the program is finished.

        Raises:
            MapperError: The number is no int, float or bool, or too large for a float.
        """
        if type(number) not in (int, float, bool):
            raise MapperError(f"mapper {self.name!r}: {number!r} is no real number")
        kind: Kind = "bool" if isinstance(number, bool) else "real"
        try:
            step = Instruction("constant", (), kind, float(number))
        except OverflowError as error:
            raise MapperError(f"mapper {self.name!r}: constant {number!r} is too large") from error
        return self._append(("constant", type(number), repr(number)), step, number)

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
        if op == "negative" and self._steps[args[0]].op == "negative":
            return self._steps[args[0]].args[0]
        return self._append((op, *args), Instruction(op, args, PRIMITIVES[op].gives))

    def _small_power(self, base: int, exponent: int) -> int:
        if exponent < 0:  # the reciprocal first: the power of a large base would overflow
            base, exponent = self.apply("divide", self.constant(1), base), -exponent
        if exponent == 1:
            return base
        square = self.apply("multiply", base, base)
        return square if exponent == 2 else self.apply("multiply", square, base)

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

    def inline(self, program: Program, args: Sequence[int]) -> int:
        """The result of `program` for earlier values in place of its inputs."""
        return self.replay(program, args)[program.result]

    def replay(self, program: Program, args: Sequence[int]) -> list[int]:
        """Every value of `program` for earlier values in place of its inputs."""
        positions = list(args)
        for step in program.instructions[len(program.inputs) :]:
            if step.op == "constant":
                assert isinstance(step.value, float)
                positions.append(self.constant(bool(step.value) if step.kind == "bool" else step.value))
            else:
                positions.append(self.apply(step.op, *(positions[i] for i in step.args)))
        return positions

    def finish(self, result: int) -> Program:
        """The program that returns `result`, without the instructions it does not need."""
        needed = {result}
        for position in range(len(self._steps) - 1, -1, -1):
            if position in needed:
                needed.update(self._steps[position].args)
        kept = [i for i, step in enumerate(self._steps) if i in needed or step.op == "input"]
        renumbered = {old: new for new, old in enumerate(kept)}
        steps = tuple(
            Instruction(step.op, tuple(renumbered[i] for i in step.args), step.kind, step.value)
            for step in (self._steps[i] for i in kept)
        )
        return Program(self.name, self.inputs, steps, renumbered[result])
