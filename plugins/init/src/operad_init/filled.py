"""`_zeros`, `_ones` and `_full`: arrays of one value."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from operad_sdk import Array, Contract, ParamError, define, lock_cost_limit, param, wrapped

_SPEC: Final = "-> output:dtype(*shape)"
_PARAMS: Final[dict[str, Any]] = {
    "shape": param("shape", (), doc="Shape of the output."),
    "ctx": param(str, "", ignored="Accepted for MXNet's files; the call or the binding says where."),
    "dtype": param("dtype", "float32", doc="Element type of the output."),
}


def _fill(value: float, output: Array) -> None:
    """Integers get the value rounded towards zero, and wrapped around, as in C."""
    if output.dtype.kind in "iu":
        if not np.isfinite(value):
            raise ParamError(f"_full: value is {value}, expected a finite number for {output.dtype}")
        value = wrapped(value, output.dtype)
    output.fill(value)


@lock_cost_limit(5)
def _fill_zeros(output: Array) -> None:
    output.fill(0)


@lock_cost_limit(5)
def _fill_ones(output: Array) -> None:
    output.fill(1)


zeros = define(
    "_zeros", _SPEC, _fill_zeros, summary="Zeros.", example=("shape=(2,)", "[0., 0.]"),
    # Older NumPy gives `np.zeros` no signature, so that it would be called without the shape.
    params=_PARAMS, reference=lambda shape: np.full(shape, 0),
    source="InitOpParam, src/operator/tensor/init_op.h.",
)  # fmt: skip
ones = define(
    "_ones", _SPEC, _fill_ones, summary="Ones.", example=("shape=(2,)", "[1., 1.]"),
    params=_PARAMS, reference=np.ones, source="InitOpParam, src/operator/tensor/init_op.h.",
)  # fmt: skip
full = define(
    "_full", _SPEC, _fill, summary="`value` everywhere.", example=("shape=(2,)", "value=1.5", "[1.5, 1.5]"),
    params={
        **_PARAMS, "shape": param("shape", None, doc="Shape of the output; left out: the graph's."),
        "value": param(float, doc="The value of every element."),
    },
    # Without a shape it has the one that a bound graph gives it, which a check of it alone lacks.
    contract=Contract(
        params={"shape": ((), (0,), (2, 3), (4,))}, reference=lambda shape, value: value * np.ones(shape)
    ),
    source="InitOpWithScalarParam, src/operator/tensor/init_op.h.",
)  # fmt: skip
