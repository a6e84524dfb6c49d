"""`max` and `min`."""

from __future__ import annotations

from typing import Any

import numpy as np

from operad_reduce.reduction import axes_of, by_rows, reduction, unreduced
from operad_sdk import Array, Contract, OperatorProperty


def _gradient(
    output_grad: Array, data: Array, output: Array, axis: Any, exclude: bool, data_grad: Array
) -> None:
    is_picked = data == unreduced(output, data.shape, axis, exclude)
    np.multiply(is_picked, unreduced(output_grad, data.shape, axis, exclude), out=data_grad)


def _limit(dtype: Any, sign: int) -> Any:
    """The largest value of a type, or the smallest."""
    if dtype.kind == "f":
        return sign * np.inf
    if dtype.kind == "b":
        return sign > 0  # mutant: sign > 0 becomes (sign >= 0): equivalent, because the sign is 1 or -1
    # mutant: sign > 0 becomes (sign >= 0): equivalent, because the sign is 1 or -1
    return np.iinfo(dtype).max if sign > 0 else np.iinfo(dtype).min


def _ends_of(dtype: Any) -> Array:
    """Least and largest value of a type, for the contract checks."""
    if dtype.kind in "fb":
        return np.array([-np.inf, np.inf] if dtype.kind == "f" else [0, 1], dtype)
    return np.array([np.iinfo(dtype).min, np.iinfo(dtype).max], dtype)


def _extremum(name: str, pick: Any, which: str, of_nothing: int, first: int) -> type[OperatorProperty]:
    def forward(data: Array, axis: Any, exclude: bool, output: Array) -> None:
        if not data.size:
            output[...] = _limit(data.dtype, of_nothing)
            return
        target = unreduced(output, data.shape, axis, exclude)
        pick(data, axis=axes_of(data.ndim, axis, exclude), keepdims=True, out=target)

    def ends(rows: Array) -> Array:
        least_and_most = _ends_of(rows.dtype)
        return np.sort(np.c_[rows, np.full(len(rows), least_and_most[-1 - first])], 1)[:, first]

    return reduction(
        name,
        forward,
        _gradient,
        f"The {which} element along axes; `dy/dx = 1` for all that equal it, as in MXNet.",
        ("[[1, 2], [4, 3]]", "axis=1", "[2., 4.]" if name == "max" else "[1., 3.]"),
        contract=Contract(
            reference=by_rows(ends), ties="as in MXNet, all equal elements have the whole gradient"
        ),
    )


Max = _extremum("max", np.max, "largest", of_nothing=-1, first=-1)
Min = _extremum("min", np.min, "smallest", of_nothing=1, first=0)
