"""Kinds of floating numbers, which are bool arrays, their replacement, and the complement of bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from operad_sdk import UNARY, Contract, define, param

_NAN_OR_INFINITE = "[1, float('nan'), -float('inf')]"


def _kind(name: str, function: Any, which: str, result: str, reference: Any) -> Any:
    return define(
        name, "data:(...) -> output:bool(...)", function, summary=f"True where `x` is {which}.",
        example=(_NAN_OR_INFINITE, f"array({result})"),
        contract=Contract(reference=reference, nan_policy="it says whether there is a NaN"),
    )  # fmt: skip


# not by ufuncs of these names, which are wrong in NumPy 2.4 where the output runs backwards
isnan = _kind(
    "isnan", lambda data: data != data, "NaN", "[False,  True, False]",  # noqa: PLR0124
    lambda data: np.isnan(data),
)  # fmt: skip
isinf = _kind(
    "isinf", lambda data: np.absolute(data) == np.inf, "infinite", "[False, False,  True]",
    lambda data: np.isin(data, (np.inf, -np.inf)),
)  # fmt: skip
isfinite = _kind(
    "isfinite", lambda data: np.absolute(data) < np.inf, "neither infinite nor NaN", "[ True, False, False]",
    lambda data: data - data == 0,
)  # fmt: skip
bitwise_not = define(
    "bitwise_not", UNARY, np.invert, summary="The complement of every bit; `logical_not` is that of bool.",
    example=("[0, 5], dtype='int32'", "array([-1, -6], dtype=int32)"), inplace="data",
    accepts="integer", reference=lambda data: -1 - data,
)  # fmt: skip


def _ends(dtype: Any, posinf: float | None, neginf: float | None) -> tuple[float, float]:
    limits = np.finfo(dtype)
    return float(limits.max) if posinf is None else posinf, float(limits.min) if neginf is None else neginf


def _numbers(data: Any, nan: float, posinf: float | None, neginf: float | None) -> Any:
    if data.dtype.kind != "f":
        return data
    above, below = _ends(data.dtype, posinf, neginf)
    infinite = np.where(data > 0, above, below)
    return np.where(np.isfinite(data), data, np.where(np.isnan(data), nan, infinite).astype(data.dtype))


nan_to_num = define(
    "nan_to_num", UNARY, _numbers,
    lambda output_grad, data: np.where(np.isfinite(data), output_grad, 0),
    summary="Numbers in place of NaN and infinities; `dy/dx = 1` where `x` is finite, else 0.",
    example=(_NAN_OR_INFINITE, "posinf=9", "neginf=-9", "[ 1.,  0., -9.]"),
    gradient_inplace="output_grad",
    params={
        "copy": param(bool, True, ignored="An operator has an output of its own; out= writes elsewhere."),
        "nan": param(float, 0.0, doc="In place of NaN."),
        "posinf": param(float, None, doc="In place of infinity; None: the type's largest number."),
        "neginf": param(float, None, doc="In place of minus infinity; None: the type's smallest number."),
    },
    contract=Contract(
        reference=lambda data, nan, posinf, neginf: np.nan_to_num(
            data, nan=nan, posinf=posinf, neginf=neginf
        ),
        nan_policy="replacing it is what the operator is for",
    ),
    source="NumpyNanToNumParam, src/operator/tensor/elemwise_unary_op.h.",
)  # fmt: skip
