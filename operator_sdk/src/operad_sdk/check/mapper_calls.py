"""The calls of mappers that an operator makes, and what rounding alone does to their results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from operad_sdk.mapper import Mapper
from operad.operator import ScalarForm
from operad_sdk.mapper.primitives import PRIMITIVES

Array = npt.NDArray[Any]

_RUNS: Final = 7
_NOISE: Final = 4.0
"""Roundings by which each step of a form is perturbed."""

_ABSOLUTE: Final = {"lgamma": 8.0}
"""Functions that libraries compute to so many digits after the point, not of the value, near their zeros,
and how many times the usual noise they have."""


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
    """The mapper calls that are made in the block, by whoever makes them."""
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
    """How far two careful computations of a form in `dtype` may be apart, for each element.

    The form is run in float64 as it is, and several times with each step of it off by a few roundings of
    `dtype`, up or down at random. How far the results are apart is what rounding costs at this point;
    infinity, where a comparison goes one way and the other, or a step leaves the range of the type.
    """
    precision = float(np.finfo(dtype).eps)
    with np.errstate(all="ignore"):
        runs = [_perturbed(form, args, precision * min(salt, 1), dtype, salt) for salt in range(_RUNS)]
    values = np.stack([value for value, _, _ in runs])
    decisions = np.stack([decided for _, decided, _ in runs])
    unstable = (decisions != decisions[0]).any(axis=(0, 1)) | np.stack([bad for _, _, bad in runs]).any(
        axis=0
    )
    with np.errstate(all="ignore"):
        spread = np.abs(values - values[0]).max(axis=0)
        limit = 4 * spread + 8 * precision * np.abs(values[0])
    limit += float(np.finfo(dtype).smallest_normal)
    return np.where(unstable | np.isnan(limit), np.inf, limit)


def _perturbed(
    form: ScalarForm, args: Sequence[Any], precision: float, dtype: np.dtype[Any], salt: int
) -> tuple[Array, Array, Array]:
    """The result, every decision made (one row each), and where a step is out of the type's range."""
    rng = np.random.default_rng(salt)
    shape = np.broadcast_shapes(*[np.shape(arg) for arg in args])
    largest, least = float(np.finfo(dtype).max) / 16, float(np.finfo(dtype).smallest_normal) * 16
    values: list[Array] = [np.broadcast_to(np.asarray(arg, np.float64), shape) for arg in args]
    decisions: list[Array] = [np.zeros(shape, bool)]
    is_out = np.zeros(shape, bool)
    for step in form.instructions[len(args) :]:
        if step.op == "constant":
            kind = bool if step.kind == "bool" else np.float64
            values.append(np.full(shape, step.value, kind))
            continue
        value = np.asarray(PRIMITIVES[step.op].evaluate(*(values[i] for i in step.args)))
        if step.kind == "bool":
            decisions.append(value)
        elif step.op not in ("select", "negative", "abs", "maximum", "minimum", "sign"):
            is_out |= (np.abs(value) > largest) | ((np.abs(value) < least) & (value != 0))
            size = np.abs(value)
            if step.op in _ABSOLUTE:
                size = np.maximum(size, 1) * _ABSOLUTE[step.op]
            value = value + size * rng.choice([-1.0, 1.0], shape) * _NOISE * precision
        values.append(value)
    result = np.asarray(values[form.result], np.float64)
    return result, np.stack(decisions), is_out
