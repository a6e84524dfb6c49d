"""Calls of mappers that an operator makes, and the effect of rounding alone on their results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple, final

import numpy as np
import numpy.typing as npt

from operad.operator import Instruction, ScalarForm
from operad_sdk.mapper import Mapper

Array = npt.NDArray[Any]

_RUNS: Final = 7
_NOISE: Final = 4.0
"""Roundings by which each step of a form is perturbed."""

_ABSOLUTE: Final = {"lgamma": 8.0}
"""Functions that libraries compute to so many digits after the point, not of the value, near their zeros,
and how many times the usual noise they have."""


_EXACT: Final = frozenset((
    "constant", "length", "position", "select", "negative", "abs", "maximum", "minimum", "larger", "smaller",
    "sign", "max", "min", "cast",
))  # fmt: skip
"""Instructions that round nothing."""


class MapperCall(NamedTuple):
    """One application of a mapper to arrays.

    Attributes:
        mapper: What was applied.
        args: To what: the very arrays, and numbers, in the order of its inputs.
        result: What it gave.
    """

    mapper: Mapper
    args: tuple[Any, ...]
    result: Any


@contextmanager
def recorded_calls() -> Iterator[list[MapperCall]]:
    """The mapper calls that are made in the block, by any caller."""
    calls: list[MapperCall] = []
    original = Mapper.map

    def record(self: Mapper, *args: Any, out: Any = None, **named: Any) -> Any:
        result = original(self, *args, out=out, **named)
        rest = self.form.inputs[len(args) :]
        values = (*args, *[named[name] if name in named else self.defaults[name] for name in rest])
        calls.append(MapperCall(self, values, result))
        return result

    type.__setattr__(Mapper, "map", record)
    try:
        yield calls
    finally:
        type.__setattr__(Mapper, "map", original)


def rounding_limit(form: ScalarForm, args: Sequence[Any], dtype: np.dtype[Any]) -> Array:
    """`rounding_limits` for a mapper: of its result, where its arguments broadcast together."""
    space = np.broadcast_shapes(*[np.shape(arg) for arg in args])
    return rounding_limits(form, args, space, dtype)[0]


def rounding_limits(
    form: ScalarForm, args: Sequence[Any], space: tuple[int, ...], dtype: np.dtype[Any]
) -> list[Array]:
    """Bounds on the distance of two careful computations of a form in `dtype`, per element of each result.

    The form is evaluated in float64 as it is, and several times with each step of it off by a few roundings
    of `dtype`, up or down at random. How far the results are apart is what rounding costs at this point;
    infinity, where a comparison goes one way and the other, or a step leaves the range of the type.
    """
    precision = float(np.finfo(dtype).eps)
    wide = [np.asarray(arg) for arg in args]
    wide = [array.astype(np.float64) if array.dtype.kind == "f" else array for array in wide]
    runs = [_Perturbed(form, wide, space, precision * min(salt, 1), dtype, salt) for salt in range(_RUNS)]
    decisions = np.stack([run.decisions for run in runs])
    unstable = (decisions != decisions[0]).any(axis=(0, 1)) | np.stack([run.is_out for run in runs]).any(
        axis=0
    )
    limits = []
    for place, result in enumerate(form.results):
        values = np.stack([np.asarray(run.results[place], np.float64) for run in runs])
        with np.errstate(all="ignore"):
            spread = np.abs(values - values[0]).max(axis=0)
            limit = 4 * spread + 8 * precision * np.abs(values[0]) + float(np.finfo(dtype).smallest_normal)
        here = unstable
        if result.axes is not None:
            kept = [axis for axis in result.axes if axis is not None]
            gone = tuple(axis for axis in range(len(space)) if axis not in kept)
            order = [sum(other < axis for other in kept) for axis in kept]
            here = unstable.any(axis=gone).transpose(order).reshape(limit.shape)
        limits.append(np.where(here | np.isnan(limit), np.inf, limit))
    return limits


@final
class _Perturbed:
    """One evaluation in which every step is off by some roundings.

    Attributes:
        results: Of the form.
        decisions: Every boolean computed, one row each.
        is_out: Where a step is out of the type's range.
    """

    def __init__(
        self,
        form: ScalarForm,
        args: Sequence[Array],
        space: tuple[int, ...],
        precision: float,
        dtype: np.dtype[Any],
        salt: int,
    ) -> None:
        self._rng = np.random.default_rng(salt)
        self._space = space
        self._precision = precision
        self._largest, self._least = (
            float(np.finfo(dtype).max) / 16,
            float(np.finfo(dtype).smallest_normal) * 16,
        )
        decided: list[Array] = [np.zeros(space, bool)]
        self._decided = decided
        self.is_out = np.zeros(space, bool)
        self.results = form.evaluate(args, space, self._adjusted)
        self.decisions = np.stack(decided)

    def _adjusted(self, step: Instruction, args: Sequence[Any], value: Any) -> Any:
        if step.kind == "bool":
            self._decided.append(np.broadcast_to(value, self._space))
        elif step.op not in _EXACT and np.asarray(value).dtype.kind == "f":
            size = np.abs(value)
            self.is_out |= (size > self._largest) | ((size < self._least) & (value != 0))
            if step.op == "sum":  # whose terms may cancel
                size = np.abs(np.broadcast_to(args[0], self._space)).sum(step.axes or -1, keepdims=True)
            if step.op in _ABSOLUTE:
                size = np.maximum(size, 1) * _ABSOLUTE[step.op]
            value = value + size * self._rng.choice([-1.0, 1.0], np.shape(value)) * _NOISE * self._precision
        return value
