"""Sizes from shapes: the two directions of inference.

Every axis of a known shape is an equation, `expression = size`. Equations are taken in turn until
none gives anything new: one whose names are all known is checked, one with a single unknown in
affine position gives it, and any other waits. What is still unknown at the end stays unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, final

from operad.errors import ShapeError
from operad.operator import PartialShape
from operad_sdk.shapes.expressions import Name
from operad_sdk.shapes.grammar import Axis

if TYPE_CHECKING:
    from operad_sdk.shapes.bound import BoundSpec, Tensor

Equation = tuple[Axis, int | None, int, int]
"""An axis, the index into its sequences, its position in the shape, and its size."""


def solve(bound: BoundSpec, known: Sequence[tuple[Tensor, PartialShape]]) -> dict[str, Any]:
    """The values of names that follow from the `known` shapes, and the parameters.

    Raises:
        ShapeError: The shapes contradict the line, the parameters or each other.
    """
    env = dict(bound.env)
    groups = _groups_of(bound)
    waiting = [_Shape(bound, tensor, shape) for tensor, shape in known if shape is not None]
    sources: dict[str, str] = {}
    _spread_lengths(bound, env)
    while waiting:
        learned = False
        for item in waiting:
            learned |= item.learn(env, sources)
        waiting = [item for item in waiting if not item.is_done]
        spread = _spread_lengths(bound, env)
        if not learned and not spread:
            break
    env.update({name: tuple(env.get(each) for each in parts) for name, parts in groups.items()})
    return env


def _groups_of(bound: BoundSpec) -> dict[str, list[str]]:
    """Names for each `S[i]`, one for each of the repeated tensors."""
    groups: dict[str, list[str]] = {}
    for tensor in bound.inputs:
        for name in (name for axis in tensor.axes for name in axis.expression.names):
            stem, numbered, index = name.rpartition("__")
            if numbered and index.isdigit() and name not in groups.setdefault(stem, []):
                groups[stem].append(name)
    return groups


def _spread_lengths(bound: BoundSpec, env: dict[str, Any]) -> bool:
    """Give sequences that stand under one star the same length; return whether any length was found."""
    spread = False
    for tensor, axis in bound.joint_axes:
        unknown = axis.expression.indexed & bound.sequences - env.keys()
        length = _length(bound, tensor, axis, env) if unknown else None
        if length is not None:
            env.update(dict.fromkeys(unknown, (None,) * length))
            spread = True
    return spread


def complete(bound: BoundSpec, tensor: Tensor, env: Mapping[str, Any], given: PartialShape) -> PartialShape:
    """Shape of `tensor`, as far as it follows from `env` and from `given`."""
    sizes: list[int | None] = []
    for axis in tensor.axes:
        if not axis.is_starred:
            sizes.append(axis.expression.value(env, None))
            continue
        length = _length(bound, tensor, axis, env)
        if length is None:
            return given
        sizes += [axis.expression.value(env, index) for index in range(length)]
    if given is not None:
        # What a function gives is known only after the arguments behind it, and then may contradict.
        if len(sizes) != len(given) or any(
            None not in (size, known) and size != known for size, known in zip(sizes, given, strict=True)
        ):
            raise ShapeError(
                f"{bound.operator}: {tensor.name} has shape {_shown(given)}, expected {_shown(sizes)} = "
                f"{tensor.shape_text}{_origins(tensor.axes, env, {})}"
            )
        sizes = [known if size is None else size for size, known in zip(sizes, given, strict=True)]
    for axis_number, size in enumerate(sizes):
        if size is not None and size < 0:
            raise ShapeError(
                f"{bound.operator}: {tensor.name} would have shape {_shown(sizes)} = {tensor.shape_text}: "
                f"axis {axis_number} is negative{_origins(tensor.axes, env, {})}"
            )
    return tuple(sizes)


@final
class _Shape:
    """Equations of one known shape that are not used up."""

    __slots__ = ("_bound", "_equations", "_shape", "_tensor", "is_done")

    def __init__(self, bound: BoundSpec, tensor: Tensor, shape: tuple[int | None, ...]) -> None:
        self._bound = bound
        self._tensor = tensor
        self._shape = shape
        self._equations: list[Equation] | None = None
        self.is_done = False

    def learn(self, env: dict[str, Any], sources: dict[str, str]) -> bool:
        """Check known values and find those that follow; return whether any was found."""
        if self._equations is None:
            self._equations = self._expand(env)
            if self._equations is None:
                return False
        learned = False
        waiting = []
        for equation in self._equations:
            axis, index, _, size = equation
            value = axis.expression.value(env, index)
            if value is None:
                if self._find(equation, env, sources):
                    learned = True
                else:
                    waiting.append(equation)
            elif value != size:
                self._fail(equation, env, sources)
        self._equations = waiting
        self.is_done = not waiting
        return learned

    def _expand(self, env: dict[str, Any]) -> list[Equation] | None:
        """Equations, one per known axis; None while the rank does not tell which axis is which."""
        lengths = [
            _length(self._bound, self._tensor, axis, env) if axis.is_starred else 1
            for axis in self._tensor.axes
        ]
        unknown = lengths.count(None)
        rest = len(self._shape) - sum(length or 0 for length in lengths)
        if rest < 0 or (unknown == 0 and rest != 0):
            self._fail_rank(lengths)
        if unknown > 1:
            return None
        equations: list[Equation] = []
        axis_number = 0
        for axis, length in zip(self._tensor.axes, lengths, strict=True):
            count = rest if length is None else length
            if axis.is_starred:
                for name in axis.expression.indexed & self._bound.sequences - env.keys():
                    env[name] = (None,) * count
            for index in range(count):
                size = self._shape[axis_number]
                if size is not None and not (length is None and axis.expression.gives_sequence):
                    equations.append((axis, index if axis.is_starred else None, axis_number, size))
                axis_number += 1
        return equations

    def _find(self, equation: Equation, env: dict[str, Any], sources: dict[str, str]) -> bool:
        axis, index, _, size = equation
        expression = axis.expression
        if isinstance(expression, Name):
            self._learn_name(expression.name, index, size, env, sources)
            return True
        if expression.gives_sequence:
            return False
        unknown = [name for name in expression.names if Name(name).value(env, index) is None]
        if len(unknown) != 1:
            return False
        form = expression.affine(env, index, unknown[0])
        if form is None or form[0] == 0:
            return False
        value, remainder = divmod(size - form[1], form[0])
        if remainder or value < 0:
            self._fail(equation, env, sources)
        self._learn_name(unknown[0], index, value, env, sources)
        return True

    def _learn_name(
        self, name: str, index: int | None, value: int, env: dict[str, Any], sources: dict[str, str]
    ) -> None:
        sources[name] = f"{self._tensor.name} {self._shape}"
        if index is not None and name in self._bound.sequences:
            items = env[name]
            env[name] = (*items[:index], value, *items[index + 1 :])
        else:
            env[name] = value

    def _fail_rank(self, lengths: Sequence[int | None]) -> None:
        count = sum(length or 0 for length in lengths)
        wanted = f"at least {count}" if None in lengths else f"{count}"
        raise ShapeError(
            f"{self._bound.operator}: {self._tensor.name} has {len(self._shape)} axes {_shown(self._shape)}, "
            f"expected {wanted}: {self._tensor.shape_text}"
        )

    def _fail(self, equation: Equation, env: Mapping[str, Any], sources: Mapping[str, str]) -> None:
        axis, _, axis_number, size = equation
        expected = list(complete(self._bound, self._tensor, env, None) or ())
        raise ShapeError(
            f"{self._bound.operator}: {self._tensor.name} has shape {_shown(self._shape)}, "
            f"expected {_shown(expected)} = {self._tensor.shape_text}: "
            f"axis {axis_number} is {size}{_found(expected, axis_number)}"
            f"{_origins([axis], env, sources)}"
        )


def _length(bound: BoundSpec, tensor: Tensor, axis: Axis, env: Mapping[str, Any]) -> int | None:
    """Number of axes that a starred one stands for; None while the number is unknown."""
    if axis.expression.gives_sequence:
        sequence = axis.expression.value(env, None)
        return None if sequence is None else len(sequence)
    lengths = {
        name: len(env[name]) for name in sorted(axis.expression.indexed) if type(env.get(name)) is tuple
    }
    if len(set(lengths.values())) > 1:
        each = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ShapeError(
            f"{bound.operator}: {tensor.name} {tensor.shape_text}: {each} axes, expected as many each"
        )
    return next(iter(lengths.values()), None)


def _shown(shape: Sequence[int | None]) -> str:
    inside = ", ".join("?" if size is None else str(size) for size in shape)
    return f"({inside},)" if len(shape) == 1 else f"({inside})"


def _found(expected: Sequence[int | None], axis_number: int) -> str:
    size = expected[axis_number] if axis_number < len(expected) else None
    return ", which no size gives" if size is None else f", expected {size}"


def _origins(axes: Sequence[Axis], env: Mapping[str, Any], sources: Mapping[str, str]) -> str:
    """Origins of the values in an axis: ` (D is 128 from data (32, 128))`."""
    names = sorted({name for axis in axes for name in axis.expression.names if env.get(name) is not None})
    words = [
        f"{name} is {env[name]}" + (f" from {sources[name]}" if name in sources else "") for name in names
    ]
    return f" ({', '.join(words)})" if words else ""
