"""`cross`, the product of vectors in space, and `trace`, the sum of a diagonal."""

from __future__ import annotations

from typing import ClassVar

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


def _axis(name: str, shape: Shape, axis: int) -> int:
    if not -len(shape) <= axis < len(shape):
        raise ShapeError(
            f"axis is {axis}, expected {-len(shape)} to {len(shape) - 1} for {name} of shape {shape}"
        )
    return axis % len(shape)


def _crossed(a: Shape, b: Shape, axis: int) -> Shape:
    for name, shape in (("a", a), ("b", b)):
        if shape[_axis(name, shape, axis)] != 3:
            raise ShapeError(f"{name} has shape {shape}, expected length 3 along axis {axis}")
    if len(a) != len(b) and axis >= 0:
        raise ShapeError(
            f"a has shape {a} and b {b}, expected a negative axis for different ranks, got {axis}"
        )
    try:
        return np.broadcast_shapes(a, b)
    except ValueError as error:
        raise ShapeError(
            f"a of shape {a} and b of shape {b} do not broadcast; expected equal lengths or 1 on each axis"
        ) from error


def _cross(a: Array, b: Array, axis: int) -> Array:
    x, y, z = np.moveaxis(a, axis, 0)
    u, v, w = np.moveaxis(b, axis, 0)
    return np.stack([y * w - z * v, z * u - x * w, x * v - y * u], axis=axis)


@operator("cross")
class cross(OperatorProperty):
    """The vector product along an axis of length 3; the other axes broadcast.

    `d/da = b x output_grad`, `d/db = output_grad x a`.

    Shapes:
        a: (...), of length 3 along the axis.
        b: (...), likewise.
        output: As both broadcast.

    Example:
        >>> import operad as od
        >>> od.nd.cross(od.nd.array([1, 0, 0]), od.nd.array([0, 1, 0])).asnumpy()
        array([0., 0., 1.], dtype=float32)
    """

    axis = param(int, -1, doc="The axis of the vectors.")
    accepts = "number"
    compute_dtype = "float32"
    spec = "a:(*A), b:(*B) -> output:(*crossed(A, B, axis))"
    functions: ClassVar = {"crossed": _crossed}
    contract = Contract(
        reference=lambda a, b, axis: np.cross(a, b, axis=axis),
        params={"axis": [-1, 0]},
        shapes=lambda prop, choose: [
            (n := choose((1, 2, 0)), 3) if prop.axis else (3, n := choose((1, 2, 0))),
            (choose((1, n)), 3) if prop.axis else (3, choose((1, n))),
        ],
        narrowed={"axis": "the arrays that are tried have two axes"},
    )

    @property
    def broadcast_arguments(self) -> frozenset[int]:
        """Both."""
        return frozenset([0, 1])

    def forward(a: Array, b: Array, axis: int) -> Array:
        """Component by component."""
        return _cross(a, b, axis)

    def a_grad(output_grad: Array, b: Array, axis: int) -> Array:
        """`b x output_grad`."""
        return _cross(b, output_grad, axis)

    def b_grad(output_grad: Array, a: Array, axis: int) -> Array:
        """`output_grad x a`."""
        return _cross(output_grad, a, axis)


def _traced(shape: Shape, axis1: int, axis2: int) -> Shape:
    first, second = _axis("data", shape, axis1), _axis("data", shape, axis2)
    if first == second:
        raise ShapeError(f"axis1 and axis2 are both axis {first} of data, of shape {shape}; expected two")
    return tuple(n for axis, n in enumerate(shape) if axis not in (first, second)) or (1,)


def _trace(data: Array, offset: int, axis1: int, axis2: int, output: Array) -> None:
    diagonal = np.diagonal(data, offset, axis1, axis2)
    output[...] = blocked_sum(diagonal, -1).reshape(output.shape)


def _trace_gradient(output_grad: Array, offset: int, axis1: int, axis2: int, data_grad: Array) -> None:
    rank = data_grad.ndim
    axes = axis1 % rank, axis2 % rank
    rows, columns = (
        np.arange(data_grad.shape[axis], like=output_grad).reshape(
            [-1 if one == axis else 1 for one in range(rank)]
        )
        for axis in axes
    )
    head = output_grad.reshape([1 if axis in axes else n for axis, n in enumerate(data_grad.shape)])
    data_grad[...] = np.where(rows + offset == columns, head, 0)


trace = define(
    "trace", "data:(*S) -> output:(*traced(S, axis1, axis2))", _trace, _trace_gradient,
    summary="The sum of a diagonal of matrices; `dy/dx` is 1 on it, else 0.",
    example=("[[1, 2], [3, 4]]", "[5.]"), functions={"traced": _traced},
    params={
        "offset": param(int, 0, doc="Number of the diagonal; positive: above the main diagonal."),
        "axis1": param(int, 0, doc="First axis of the matrices."),
        "axis2": param(int, 1, doc="Second axis of the matrices."),
    },
    accepts="number", compute_dtype="float32",
    contract=Contract(
        reference=lambda data, offset, axis1, axis2: np.atleast_1d(np.trace(data, offset, axis1, axis2))
    ),
    source="NumpyTraceParam, src/operator/numpy/np_trace_op-inl.h.",
)  # fmt: skip
