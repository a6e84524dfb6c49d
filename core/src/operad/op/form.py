"""Scalar forms: the computation of an operator for each element, as data.

A form is a list of instructions in which each value is computed once, from values before it (static single
assignment). Branches are `select` instructions that compute both sides, which is what SIMD units, NumPy and
GPUs do anyway and is allowed because no instruction has a side effect. One flat list serves every consumer:
back ends print it, slopes, fusion and recomputation walk it, equal forms are compiled once. Refused: an
expression tree (a shared value would be printed, and differentiated, once for each use) and structured
statements (each consumer would have to handle scopes again).

Every value lives in one *iteration space*: the shape to which all that is read and all results broadcast
where their index maps put them. It has all elements of the space or, behind a reduction, one for all that
the reduction went over: `sum`, `max` and `min` go over the last axis, or over the axes that they name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, final

import numpy as np

from operad.dtypes import DType
from operad.op.shapes import Shape

Axes = tuple[int | None, ...] | None
"""For each axis of an array the axis of the space along which it runs, None where it has length 1; None
instead of all: the array broadcasts to the space as in NumPy."""


@final
class Instruction(NamedTuple):
    """One value of a form.

    Attributes:
        op: `input`, `constant`, `length` (that of an axis of the space), `position` (along an axis of the
            space), `cast`, `sum`, `max`, `min`, or the name of a function of elements.
        args: Positions of the operands, all smaller than the instruction's own.
        kind: What the value is: `real` has the element type for which the form is used, `bool` is a truth
            value, anything else is the name of a type.
        value: The number of a constant, the name of an input, the axis of a length or a position,
            else None.
        axes: How an input lies in the space; over which axes of it `sum`, `max` and `min` go, counted from
            its end, so that -1 is the last one, which None stands for.
    """

    op: str
    args: tuple[int, ...]
    kind: str
    value: float | str | None = None
    axes: Axes = None


class Result(NamedTuple):
    """A value that a form gives, and how it lies in the space."""

    position: int
    name: str = ""
    axes: Axes = None


@final
class ScalarForm:
    """A function of elements: the first instructions are its inputs. It never changes.

    Forms are equal that compute the same from inputs of the same names, whatever they are called themselves.

    Attributes:
        inputs_read: The inputs that some result depends on.
    """

    __slots__ = ("_key", "_lie", "inputs", "inputs_read", "instructions", "name", "results")

    def __init__(
        self,
        name: str,
        inputs: tuple[str, ...],
        instructions: tuple[Instruction, ...],
        results: tuple[Result, ...],
    ) -> None:
        self.name = name
        self.inputs = inputs
        self.instructions = instructions
        self.results = results
        # A text tells -0.0 from 0.0 and finds NaN equal to NaN; its hash is computed once.
        self._key = repr((instructions, results))
        read = {i for step in instructions for i in step.args} | {one.position for one in results}
        self.inputs_read = tuple([name for position, name in enumerate(inputs) if position in read])
        self._lie = [(one.name, one.axes) for one in results]
        self._lie += [(name, instructions[i].axes) for i, name in enumerate(inputs) if i in read]

    def __repr__(self) -> str:
        return f"ScalarForm {self.text()}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ScalarForm) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def result(self) -> int:
        """Position of the first result."""
        return self.results[0].position

    @property
    def kind(self) -> str:
        """Kind of the first result."""
        return self.instructions[self.result].kind

    def space(self, shapes: Mapping[str, Shape]) -> Shape:
        """The iteration space.

        Args:
            shapes: Of the inputs, and of the results that there are, by name.
        """
        known = [(shapes[name], axes) for name, axes in self._lie if name in shapes]
        rank = max((len(shape) if axes is None else _rank(axes) for shape, axes in known), default=0)
        space = [1] * rank
        for shape, axes in known:
            own = range(rank - len(shape), rank) if axes is None else axes
            for axis, length in zip(own, shape, strict=True):
                if axis is not None and length != 1:
                    space[axis] = length
        return tuple(space)

    def text(self) -> str:
        """The form line by line."""
        names = [step.value if step.op == "input" else f"v{i}" for i, step in enumerate(self.instructions)]
        lines = [f"{self.name}({', '.join(self.inputs)})"]
        for name, step in zip(names, self.instructions, strict=True):
            if step.op != "input":
                shown = [repr(step.value)] if step.value is not None else [str(names[i]) for i in step.args]
                lines.append(f"{name}: {step.kind} = {step.op} {' '.join(shown)}{_along(step.axes)}")
            elif step.kind != "real" or step.axes is not None:
                lines.append(f"{name}: {step.kind}{_along(step.axes)}")
        lines += [f"{one.name or 'result'}{_along(one.axes)} = {names[one.position]}" for one in self.results]
        return "\n".join(lines)

    def evaluate(
        self,
        arrays: Sequence[Any],
        space: Shape,
        adjust: Callable[[Instruction, Sequence[Any], Any], Any] = lambda step, args, value: value,
    ) -> list[Any]:
        """The results as NumPy computes them: what every other way to compute the form is judged by.

        Args:
            arrays: One for each input; the first of kind `real` says what `real` is.
            space: The iteration space; see `space`.
            adjust: Called with each instruction, its operands and its value; gives what counts instead.
        """
        steps = self.instructions
        dtype = next(
            (a.dtype for a, step in zip(arrays, steps, strict=False) if step.kind == "real"), _SINGLE
        )
        values = [_placed(array, step.axes, len(space)) for array, step in zip(arrays, steps, strict=False)]
        with np.errstate(all="ignore"):
            for step in steps[len(values) :]:
                args = [values[i] for i in step.args]
                values.append(adjust(step, args, _value(step, args, space, dtype)))
        return [_lifted(values[one.position], one.axes, space) for one in self.results]


_SINGLE: Final = np.dtype(np.float32)


def _rank(axes: Sequence[int | None]) -> int:
    """Least number of axes of a space in which an array lies along these."""
    return max((axis + 1 for axis in axes if axis is not None), default=0)


def _along(axes: Axes) -> str:
    return "" if axes is None else f" along axes {axes}"


def _value(step: Instruction, args: Sequence[Any], space: Shape, dtype: DType) -> Any:
    own = dtype if step.kind == "real" else np.dtype(step.kind)
    if step.op == "constant":
        return own.type(step.value)
    if step.op == "length":
        return own.type(space[int(step.value)])  # type: ignore[arg-type]
    if step.op == "position":
        axis = int(step.value)  # type: ignore[arg-type]
        return np.arange(space[axis]).astype(own).reshape([-1 if i == axis else 1 for i in range(len(space))])
    if step.op == "cast":
        return args[0].astype(own)
    if step.op in _OF_ROWS:
        return _OF_ROWS[step.op](np.broadcast_to(args[0], space), axis=step.axes or -1, keepdims=True)
    return function_of_elements(step.op)(*args)


_OF_ROWS: Final[dict[str, Any]] = {"sum": np.sum, "max": np.max, "min": np.min}


def _placed(array: Any, axes: Axes, rank: int) -> Any:
    """An input as a view that broadcasts to the space."""
    if axes is None:
        return array
    own = sorted((axis, position) for position, axis in enumerate(axes) if axis is not None)
    shape = [1] * rank
    for axis, position in own:
        shape[axis] = array.shape[position]
    return array.transpose(
        [*(i for i, axis in enumerate(axes) if axis is None), *(i for _, i in own)]
    ).reshape(shape)


def _lifted(value: Any, axes: Axes, space: Shape) -> Any:
    """A result of its own shape out of the space."""
    if axes is None:
        return np.broadcast_to(value, space)
    own = [axis for axis in axes if axis is not None]
    gone = [axis for axis in range(len(space)) if axis not in own]
    value = np.reshape(value, (1,) * (len(space) - np.ndim(value)) + np.shape(value))
    first = value[tuple(slice(0, 1) if axis in gone else slice(None) for axis in range(len(space)))]
    whole = np.broadcast_to(first, [1 if axis in gone else n for axis, n in enumerate(space)])
    shape = [1 if axis is None else space[axis] for axis in axes]
    return whole.transpose([*own, *gone]).reshape(shape)


def function_of_elements(op: str) -> Callable[..., Any]:
    """NumPy's function for an instruction; six that NumPy lacks are Python's."""
    found: Callable[..., Any] = (
        _SPECIAL[op] if op in _SPECIAL else getattr(np, "where" if op == "select" else op)
    )
    return found


def _of_numbers(function: Callable[[float], float]) -> Callable[[Any], Any]:
    def safe(value: float) -> float:
        try:
            return function(value)
        except ValueError:  # a pole or a domain error, which IEEE arithmetic answers with NaN
            return math.nan
        except OverflowError:
            return math.inf

    def evaluate(x: Any) -> Any:
        values = [safe(value) for value in np.ravel(x).tolist()]
        return np.array(values, x.dtype).reshape(x.shape)[()]

    return evaluate


def _gamma(value: float) -> float:
    return math.copysign(math.inf, value) if value == 0.0 else math.gamma(value)


def _lgamma(value: float) -> float:
    is_pole = value <= 0.0 and value == math.floor(value)
    return math.inf if is_pole else math.lgamma(value)


def _chosen(condition: Any, a: Any, b: Any) -> Any:
    return np.where(condition, a, b)[()]  # a number where all are numbers


_SPECIAL: Final[dict[str, Callable[..., Any]]] = {
    # Python's own `max` and `min`: the first argument, unless the second compares better.
    "larger": lambda a, b: _chosen(b > a, b, a),
    "smaller": lambda a, b: _chosen(b < a, b, a),
    "erf": _of_numbers(math.erf),
    "erfc": _of_numbers(math.erfc),
    "gamma": _of_numbers(_gamma),
    "lgamma": _of_numbers(_lgamma),
}
