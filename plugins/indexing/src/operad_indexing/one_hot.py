"""`one_hot` and `_onehot_encode`: rows with one element that stands out."""

from __future__ import annotations

from typing import Any

import numpy as np

from operad_indexing.positions import whole
from operad_sdk import Array, Contract, Index, OperatorProperty, ParamError, operator, param, wrapped


def _write(indices: Array, on_value: Any, off_value: Any, output: Array) -> None:
    """Fill rows of `output`; those whose number is out of range have no element that stands out."""
    output.fill(off_value)
    positions, rows = whole(indices)[None], output[None]  # an index without axes has one then
    known = np.nonzero((positions >= 0) & (positions < output.shape[-1]))
    rows[(*known, positions[known])] = on_value


def _as_number(name: str, value: float, output: Array) -> Any:
    """A value as an integer type has it: rounded towards zero, and wrapped around, as in C."""
    if output.dtype.kind not in "iu":
        return value
    if not np.isfinite(value):
        raise ParamError(f"one_hot: {name} is {value}, expected a finite number for {output.dtype}")
    return wrapped(value, output.dtype)


@operator("one_hot")
class one_hot(OperatorProperty):
    """For each number, a row with `on_value` at that position and `off_value` elsewhere.

    A number out of range gives a row of `off_value`. There is no gradient.

    Shapes:
        indices: (...), of any type; fractions are cut off.
        output: (..., depth), of type `dtype`.

    Example:
        >>> import operad as od
        >>> od.nd.one_hot(od.nd.array([1, 0, 2]), depth=3).asnumpy()
        array([[0., 1., 0.],
               [1., 0., 0.],
               [0., 0., 1.]], dtype=float32)

    Source: OneHotParam, src/operator/tensor/indexing_op.h.
    """

    depth = param(int, ge=0, doc="Length of a row.")
    on_value = param(float, 1.0, doc="The value at the place.")
    off_value = param(float, 0.0, doc="The value elsewhere.")
    dtype = param("dtype", "float32", doc="Element type of the output.")
    spec = "indices:any(*I) -> output:dtype(*I, depth)"
    contract = Contract(
        inputs={"indices": Index("depth")},
        reference=lambda indices, depth, on_value, off_value: np.where(
            np.trunc(indices)[..., None] == np.arange(depth), on_value, off_value
        ),
    )

    def forward(indices: Array, on_value: float, off_value: float, output: Array) -> None:
        """Fill, and write one element of each row."""
        on, off = _as_number("on_value", on_value, output), _as_number("off_value", off_value, output)
        _write(indices, on, off, output)


@operator("_onehot_encode")
class onehot_encode(OperatorProperty):
    """For each number in `lhs`, a row with 1 at that position and 0 elsewhere, as long as those of `rhs`.

    A number out of range gives a row of zeros. There is no gradient; `one_hot` does more.

    Shapes:
        lhs: (N,), of any type; fractions are cut off.
        rhs: (N, K), of which only the shape and the type are read.
        output: (N, K)

    Example:
        >>> import operad as od
        >>> od.nd._onehot_encode(od.nd.array([1, 0]), od.nd.zeros((2, 3))).asnumpy()
        array([[0., 1., 0.],
               [1., 0., 0.]], dtype=float32)

    Source: _onehot_encode, src/ndarray/ndarray.cc.
    """

    spec = "lhs:any(N), rhs:(N, K) -> output:(N, K)"
    contract = Contract(
        inputs={"lhs": Index("rhs", axis=1)},
        nan_policy="only the shape of rhs is read",
        reference=lambda lhs, rhs: (np.trunc(lhs)[:, None] == np.arange(rhs.shape[1])).astype(np.float64),
    )

    def forward(lhs: Array, output: Array) -> None:
        """Fill, and write one element of each row."""
        _write(lhs, 1, 0, output)
