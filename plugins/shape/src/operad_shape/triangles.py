"""`roll`, `tril` and `triu`, `meshgrid` and `broadcast_arrays`."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, ClassVar, Final

import numpy as np

from operad_sdk import (
    Array,
    Contract,
    OperatorProperty,
    Shape,
    ShapeError,
    blocked_sum,
    define,
    operator,
    param,
)
from operad_shape.rearrange import Arrays, normal_axis


def _triangle(name: str, function: Any, which: str, result: str, source: str) -> type[OperatorProperty]:
    def matrices(shape: Shape) -> Shape:
        if len(shape) < 2:
            raise ShapeError(f"data has shape {shape}, expected at least two axes, those of matrices")
        return shape

    return define(
        name, "data:(*S) -> output:(*matrices(S))", lambda data, k: function(data, k),
        lambda output_grad, k: function(output_grad, k),
        summary=f"Matrices, with 0 {which} diagonal `k`; `dy/dx = 1` elsewhere.",
        example=("[[1, 2], [3, 4]]", result), functions={"matrices": matrices},
        params={"k": param(int, 0, doc="Number of the diagonal; positive: above the main diagonal.")},
        contract=Contract(
            reference=lambda data, k: data * function(np.ones(data.shape[-2:]), k) if np.isfinite(data).all()
            else np.where(function(np.ones(data.shape[-2:]), k) != 0, data, 0),
            nan_policy="a NaN in the other triangle does not show",
        ),
        source=source,
    )  # fmt: skip


tril = _triangle(
    "tril",
    np.tril,
    "above",
    "[[1., 0.],\n       [3., 4.]]",
    "TrilParam, src/operator/numpy/np_tril_op-inl.h.",
)
triu = _triangle("triu", np.triu, "below", "[[1., 2.],\n       [0., 4.]]", "")


def _rolled(shape: Shape, shift: Sequence[int], axis: Sequence[int]) -> Shape:
    if len(axis) not in (0, len(shift)) and len(shift) != 1:
        raise ShapeError(f"shift is {shift} and axis {axis}, expected a shift for each axis, or one for all")
    for one in axis:
        normal_axis(one, len(shape))
    return shape


def _roll(data: Array, shift: Sequence[int], axis: Sequence[int], sign: int) -> Array:
    if not axis:
        return np.roll(data.reshape(-1), sign * sum(shift)).reshape(data.shape)
    shifts = tuple(shift) * (len(axis) if len(shift) == 1 else 1)
    return np.roll(data, [sign * one for one in shifts], tuple(axis))


roll = define(
    "roll", "data:(*S) -> output:(*rolled(S, shift, axis))",
    lambda data, shift, axis: _roll(data, shift, axis, 1),
    lambda output_grad, shift, axis: _roll(output_grad, shift, axis, -1),
    summary="Elements moved along axes, from the end to the front; `dy/dx` moves them back.",
    example=("[1, 2, 3]", "shift=1", "[3., 1., 2.]"), functions={"rolled": _rolled}, linear_in=("data",),
    params={
        "shift": param("indices", doc="By how many elements, for each axis or for all."),
        "axis": param("indices", (), doc="The axes; left out: the elements in order."),
    },
    contract=Contract(
        param_sets=[{"shift": (1, -2), "axis": (0, 1)}, {"shift": (2,), "axis": (-1,)}],
        params={"shift": [(1,), (-3,)], "axis": [()]},
        narrowed={"axis": "each has a shift of its own"},
        reference=lambda data, shift, axis: np.roll(data, shift if axis else sum(shift), axis or None),
    ),
    source="NumpyRollParam, src/operator/numpy/np_matrix_op-inl.h.",
)  # fmt: skip


_FEW: Final[dict[str, Any]] = {
    "params": {"num_args": [2, 1, 3]},
    "narrowed": {"num_args": "each array is an axis more, or is repeated alone, as the first three are"},
}


class Spread(OperatorProperty):
    """Base class of operators that repeat each of several arrays along axes of one common shape."""

    num_args = param(int, ge=1, le=32, doc="Number of arrays; filled in by calls.")
    key_var_num_args = "num_args"

    def placed(self, number: int, shape: Shape, ndim: int) -> Shape:
        """Shape of an array with as many axes as the common one, of length 1 where it is repeated."""
        raise NotImplementedError

    def forward(self, data: Arrays, output: Arrays) -> None:
        """Repeat each where it is stored."""
        for number, (array, target) in enumerate(zip(data, output, strict=True)):
            target[...] = array.reshape(self.placed(number, array.shape, target.ndim))

    def backward(self, output_grad: Arrays, data_grad: Arrays, wanted: frozenset[str]) -> None:
        """The sum over all repetitions."""
        for number, (head, target) in enumerate(zip(output_grad, data_grad, strict=True)):
            if f"data{number}_grad" in wanted:
                placed = self.placed(number, target.shape, head.ndim)
                axes = [axis for axis, length in enumerate(placed) if length != head.shape[axis]]
                target[...] = (blocked_sum(head, axes) if axes else head).reshape(target.shape)


def _meshed(shapes: tuple[Shape, ...], indexing: str) -> Shape:
    for number, shape in enumerate(shapes):
        if len(shape) > 1:
            raise ShapeError(
                f"data{number} has shape {shape}, expected one axis, of coordinates: axis 1 is {shape[1]}"
            )
    lengths = [prod(shape) for shape in shapes]
    return tuple(lengths[1::-1] + lengths[2:] if indexing == "xy" else lengths)


@operator("meshgrid")
class meshgrid(Spread):
    """Coordinates of all points of a grid, from those along each axis; gradients are sums over the grid.

    Shapes:
        data0, ...: (N,), coordinates along an axis.
        output0, ...: All lengths in order; with `indexing="xy"` those of data1 and data0 come first.

    Example:
        >>> import operad as od
        >>> x, y = od.nd.meshgrid(od.nd.array([1, 2]), od.nd.array([3, 4, 5]))
        >>> x.asnumpy().tolist(), y.shape
        ([[1.0, 2.0], [1.0, 2.0], [1.0, 2.0]], (3, 2))
    """

    indexing = param(str, "xy", choices=("xy", "ij"), doc="Exchange the first two axes.")
    spec = "data[num_args]:(*S[i]) -> output[num_args]:(*meshed(S, indexing))"
    functions: ClassVar = {"meshed": _meshed}
    contract = Contract(
        **_FEW,
        reference=lambda *data, indexing: tuple(np.meshgrid(*data, indexing=indexing)),
        shapes=lambda prop, choose: [(choose((1, 2, 3, 0)),) for _ in range(prop.num_args)],
    )

    def placed(self, number: int, shape: Shape, ndim: int) -> Shape:
        """Along an axis of its own."""
        axis = 1 - number if self.indexing == "xy" and number < 2 <= ndim else number
        return tuple(prod(shape) if one == axis else 1 for one in range(ndim))


def _common(shapes: tuple[Shape, ...]) -> Shape:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError as error:
        raise ShapeError(f"shapes {', '.join(map(str, shapes))} do not broadcast") from error


@operator("broadcast_arrays")
class broadcast_arrays(Spread):
    """The arrays, each repeated to the shape that all broadcast to; gradients are sums over repetitions.

    Shapes:
        data0, ...: From the last axis on, lengths are equal or 1.
        output0, ...: The common shape.

    Example:
        >>> import operad as od
        >>> x, y = od.nd.broadcast_arrays(od.nd.array([[1], [2]]), od.nd.array([3, 4]))
        >>> x.asnumpy().tolist(), y.asnumpy().tolist()
        ([[1.0, 1.0], [2.0, 2.0]], [[3.0, 4.0], [3.0, 4.0]])
    """

    spec = "data[num_args]:(*S[i]) -> output[num_args]:(*common(S))"
    functions: ClassVar = {"common": _common}
    contract = Contract(**_FEW, reference=lambda *data: tuple(np.broadcast_arrays(*data)))

    def placed(self, number: int, shape: Shape, ndim: int) -> Shape:
        """From the last axis on."""
        return (1,) * (ndim - len(shape)) + shape
