"""An operator that cannot compute says which argument is wrong, what was expected, and names itself."""

from __future__ import annotations

from typing import Any

import pytest

from operad import nd
from operad.errors import OperadError

X = nd.array([[1, 2, 3], [4, 5, 6]])
INT = nd.array([1, 2], dtype="int64")

WRONG: dict[str, tuple[Any, str]] = {
    "arctan2": (lambda: nd.arctan2(X, nd.ones((2, 2))), r"arctan2: shapes \(2, 3\) and \(2, 2\).*axis 1"),
    "bitwise_and": (lambda: nd.bitwise_and(X, X), r"bitwise_and: lhs is float32, expected .*; cast"),
    "left_shift": (lambda: nd.left_shift(X, X), r"left_shift: lhs is float32, expected an integer type"),
    "logsumexp": (lambda: nd.logsumexp(X, axis=2), r"logsumexp: axis is 2, expected -2 to 1"),
    "std": (lambda: nd.std(X, axis=(0, 0)), r"std: axis.*twice"),
    "quantile": (lambda: nd.quantile(X, q=2), r"quantile: parameter 'q' is 2, expected float >= 0 and <= 1"),
    "cumprod": (lambda: nd.cumprod(X, axis=3), r"cumprod: axis is 3, expected -2 to 1"),
    "matmul": (lambda: nd.matmul(X, X), r"matmul: a has shape \(2, 3\) and b \(2, 3\), expected the last"),
    "tensordot": (
        lambda: nd.tensordot(X, X, a_axes_summed=(0,), b_axes_summed=(1,)),
        r"tensordot: axis 0 of a \(2, 3\) and 1 of b \(2, 3\) differ, expected one length",
    ),
    "einsum": (lambda: nd.einsum(X, subscripts="ijk->i"), r"einsum: subscripts 'ijk->i'.*\(2, 3\)"),
    "einsum, lengths": (lambda: nd.einsum(X, X, subscripts="ij,jk"), r"einsum: .*is 2, expected 3"),
    "cross": (lambda: nd.cross(X, nd.ones((2, 2))), r"cross: b has shape \(2, 2\), expected length 3"),
    "trace": (lambda: nd.trace(X, axis1=1), r"trace: axis1 and axis2 are both axis 1"),
    "tril": (lambda: nd.tril(INT), r"tril: data has shape \(2,\), expected at least two axes"),
    "roll": (lambda: nd.roll(X, shift=(1,), axis=(5,)), r"roll: axis 5 is out of range for data of 2 axes"),
    "meshgrid": (lambda: nd.meshgrid(INT, INT.reshape((2, 1))), r"meshgrid: data1 has shape \(2, 1\)"),
    "broadcast_arrays": (lambda: nd.broadcast_arrays(X, nd.ones(2)), r"broadcast_arrays: .*do not broadcast"),
    "unique": (lambda: nd.unique(X, axis=4), r"unique: axis is 4, expected -2 to 1"),
    "bincount": (lambda: nd.bincount(INT - 2), r"bincount: data has -1, expected numbers from 0 on"),
    "take_along_axis": (
        lambda: nd.take_along_axis(X, INT.reshape((1, 2)) + 5, axis=1).asnumpy(),
        r"take_along_axis: indices are 6 to 7, expected -3 to 2, for a length of 3 along axis 1",
    ),
    "put_along_axis": (
        lambda: nd.put_along_axis(X, INT, X, axis=0), r"put_along_axis: indices have shape \(2,\), expected"
    ),
    "nll_loss": (lambda: nd.nll_loss(X, X), r"nll_loss: label .*expected"),
    "cosine_distance": (lambda: nd.cosine_distance(X, INT), r"cosine_distance: rhs"),
    "cdist": (lambda: nd.cdist(X, nd.ones((2, 4))), r"cdist: rhs has shape \(2, 4\), expected .*3"),
    "Crop": (lambda: nd.Crop(nd.ones((1, 1, 2, 2)), h_w=(3, 1)), r"Crop: a window of \(3, 1\).*does not fit"),
}  # fmt: skip


@pytest.mark.walk
@pytest.mark.parametrize("name", WRONG)
def test_the_error_names_operator_argument_and_what_was_expected(name: str) -> None:
    call, message = WRONG[name]
    with pytest.raises(OperadError, match=message):
        call()
