"""`softmax`, `softmin` and `log_softmax` along one axis.

The largest element is subtracted first, so that no exponential overflows. The gradients need only the
output's value:

* softmax: `(g - sum(g * y)) * y / temperature`
* log_softmax: `(g - sum(g) * exp(y)) / temperature`

and softmin's is softmax's negated, because it is the softmax of `-data`. Elements beyond `length`
take no part: their value is 0, also in log_softmax, and so is their gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from operad_activation.scratch import scratch
from operad_sdk import (
    Array,
    Contract,
    Index,
    InferredShapes,
    OperatorProperty,
    ParamError,
    PartialShape,
    Shape,
    blocked_sum,
    gradient,
    operator,
    param,
)

_LENGTHS: Final = {"length": Index("data", axis="axis", inclusive=True)}


def _exponentials(data: Array, length: tuple[Array, ...], axis: int, temperature: float | None) -> Array:
    """Exponentials in double precision, over the largest of their line, 0 beyond `length`."""
    lines = np.moveaxis(data.astype(np.float64) / (temperature or 1), axis, -1)
    is_within = np.full(lines.shape, True)
    if length:
        is_within = np.arange(lines.shape[-1]) < length[0][..., None]
    top = np.where(is_within, lines, -np.inf).max(-1, initial=-np.inf, keepdims=True)
    # a line of which nothing is within has no largest; one of infinities has no shares
    return np.moveaxis(np.where(is_within, np.exp(lines - top), 0), -1, axis)


def _shares(data: Array, *length: Array, axis: int, temperature: float | None) -> Array:
    """The softmax by its definition."""
    parts = _exponentials(data, length, axis, temperature)
    total = parts.sum(axis, keepdims=True)
    return np.asarray(parts / np.where(total == 0, 1, total))


def _shares_of_negated(data: Array, *length: Array, axis: int, temperature: float | None) -> Array:
    return _shares(-data, *length, axis=axis, temperature=temperature)


def _logarithms_of_shares(data: Array, *length: Array, axis: int, temperature: float | None) -> Array:
    lines = np.moveaxis(data.astype(np.float64) / (temperature or 1), axis, -1)
    parts = np.moveaxis(_exponentials(data, length, axis, temperature), axis, -1)
    is_within = np.arange(lines.shape[-1]) < (length[0][..., None] if length else lines.shape[-1])
    top = np.where(is_within, lines, -np.inf).max(-1, initial=-np.inf, keepdims=True)
    found = np.where(is_within, lines - top - np.log(parts.sum(-1, keepdims=True)), 0)
    return np.moveaxis(found, -1, axis)


def _lines(shape: Shape, axis: int) -> Shape:
    """`shape` without `axis`."""
    return tuple(length for position, length in enumerate(shape) if position not in (axis, axis + len(shape)))


class _AlongAxis(OperatorProperty):
    """Base class of the three: parameters, shapes and types."""

    axis = param(int, -1, doc="The axis along which exponentials are summed.")
    temperature = param(float, None, gt=0, doc="Divides data first; left out: 1.")
    dtype = param(
        "dtype",
        None,
        choices=("float16", "float32", "float64"),
        doc="Element type of the output; left out: that of data.",
    )
    use_length = param(
        bool, False, optional=True, doc="Use the argument length, the number of valid elements of each line."
    )

    spec = "data:(*S), length:any(*lines(S, axis)) if use_length -> output:dtype(*S)"
    functions = {"lines": _lines}
    accepts = "floating"
    compute_dtype = "float32"
    inplace = "data -> output"
    element_cost = 3

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """Infer shapes from `spec`, where the axis is there."""
        if in_shapes[0] is not None and not -len(in_shapes[0]) <= self.axis < len(in_shapes[0]):
            ndim = len(in_shapes[0])
            raise ParamError(
                f"{self.name}: axis is {self.axis}, expected -{ndim} to {ndim - 1} for data of {ndim} axes"
            )
        return super().infer_shape(in_shapes)


@operator("softmax")
class softmax(_AlongAxis):
    """Exponentials that sum to one along an axis.

    Shapes:
        data: (...), of a floating type.
        length: (...) without the axis, where use_length is set.
        output: As data.

    Example:
        >>> import operad as od
        >>> od.nd.softmax(od.nd.array([[1, 1], [0, 1000]])).asnumpy()
        array([[0.5, 0.5],
               [0. , 1. ]], dtype=float32)

    Source: softmax, src/operator/nn/softmax.cc.
    """

    contract = Contract(inputs=_LENGTHS, reference=_shares)

    def forward(
        data: Array, length: Array | None, axis: int, temperature: float | None, output: Array
    ) -> None:
        """Shift, exponentiate, divide by the sum."""
        fill_softmax(data, axis, output, temperature, _beyond(data, length, axis))

    @gradient(inplace="output_grad, output")
    def data_grad(
        output_grad: Array, output: Array, axis: int, temperature: float | None, data_grad: Array
    ) -> None:
        """`d/dx = (g - sum(g * y)) * y / temperature`."""
        fill_softmax_gradient(output_grad, output, axis, data_grad, temperature)


@operator("softmin")
class softmin(_AlongAxis):
    """The softmax of `-data`.

    Shapes:
        data: (...), of a floating type.
        length: (...) without the axis, where use_length is set.
        output: As data.

    Example:
        >>> import operad as od
        >>> od.nd.softmin(od.nd.array([[1, 1], [0, 1000]])).asnumpy()
        array([[0.5, 0.5],
               [1. , 0. ]], dtype=float32)

    Source: softmin, src/operator/nn/softmin.cc. Differs: takes length, as softmax does.
    """

    contract = Contract(inputs=_LENGTHS, reference=_shares_of_negated)

    def forward(
        data: Array, length: Array | None, axis: int, temperature: float | None, output: Array
    ) -> None:
        """The softmax of the negated data."""
        mask = _beyond(data, length, axis)
        fill_softmax(np.negative(data, out=output), axis, output, temperature, mask)

    @gradient(inplace="output_grad, output")
    def data_grad(
        output_grad: Array, output: Array, axis: int, temperature: float | None, data_grad: Array
    ) -> None:
        """`d/dx = -(g - sum(g * y)) * y / temperature`."""
        fill_softmax_gradient(output_grad, output, axis, data_grad, temperature)
        np.negative(data_grad, out=data_grad)


@operator("log_softmax")
class log_softmax(_AlongAxis):
    """The logarithm of the softmax, exact where the softmax underflows.

    Shapes:
        data: (...), of a floating type.
        length: (...) without the axis, where use_length is set.
        output: As data.

    Example:
        >>> import operad as od
        >>> od.nd.log_softmax(od.nd.array([[0, 1000]])).asnumpy()
        array([[-1000.,     0.]], dtype=float32)

    Source: log_softmax, src/operator/nn/log_softmax.cc. Differs: takes length, as softmax does.
    """

    contract = Contract(inputs=_LENGTHS, reference=_logarithms_of_shares)

    def forward(
        data: Array, length: Array | None, axis: int, temperature: float | None, output: Array
    ) -> None:
        """Shift, subtract the logarithm of the sum of exponentials."""
        mask = _beyond(data, length, axis)
        _fill_shifted(data, axis, output, temperature, mask)
        with np.errstate(divide="ignore"):  # a line of length 0
            output -= np.log(blocked_sum(np.exp(output), axis, keepdims=True))
        if mask is not None:
            np.copyto(output, 0, where=mask)

    @gradient(inplace="output_grad, output")
    def data_grad(
        output_grad: Array,
        output: Array,
        length: Array | None,
        axis: int,
        temperature: float | None,
        data_grad: Array,
    ) -> None:
        """`d/dx = (g - sum(g) * exp(y)) / temperature`."""
        mask = _beyond(output, length, axis)
        if mask is not None:
            output_grad = np.where(mask, 0, output_grad)
        share = np.exp(output)
        share *= blocked_sum(output_grad, axis, keepdims=True)
        np.subtract(output_grad, share, out=data_grad)
        if mask is not None:
            np.copyto(data_grad, 0, where=mask)
        _divide(data_grad, temperature)


def fill_softmax(
    data: Array, axis: int, out: Array, temperature: float | None = None, mask: Array | None = None
) -> None:
    """Write the softmax of `data` into `out`, which may be `data`; 0 where `mask`."""
    if not data.size:
        return
    _fill_shifted(data, axis, out, temperature, mask)
    np.exp(out, out=out)
    if mask is not None:
        np.copyto(out, 0, where=mask)  # a line of length 0 is NaN so far
    total = blocked_sum(out, axis, keepdims=True)
    if mask is not None:
        # mutant: equivalent, because what is divided is 0 there, and any other divisor than 0 does
        total[total == 0] = 1
    out *= 1 / total  # a division for each element takes longer, and totals are 1 or more


def fill_softmax_gradient(
    output_grad: Array, output: Array, axis: int, out: Array, temperature: float | None = None
) -> None:
    """Write `(g - sum(g * y)) * y / temperature` into `out`, which may be one of the others."""
    product = np.multiply(output_grad, output, out=scratch(out, output_grad, output))
    np.subtract(output_grad, blocked_sum(product, axis, keepdims=True), out=product)
    np.multiply(product, output, out=out)
    _divide(out, temperature)


def _fill_shifted(data: Array, axis: int, out: Array, temperature: float | None, mask: Array | None) -> None:
    """Write data, less the largest of each line and divided by the temperature."""
    if not data.size:
        return  # lines of nothing have no largest element
    if mask is not None:
        data = np.where(mask, data.dtype.type(-np.inf), data)
    with np.errstate(invalid="ignore"):  # a line that is all -inf is NaN
        np.subtract(data, data.max(axis, keepdims=True), out=out)
    _divide(out, temperature)


def _divide(array: Array, temperature: float | None) -> None:
    if temperature not in (None, 1.0):
        array /= temperature


def _beyond(data: Array, length: Array | None, axis: int) -> Array | None:
    """Mask of the elements beyond `length`."""
    if length is None:
        return None
    shape = [1] * data.ndim
    shape[axis] = -1  # mutant: 1 becomes 2: equivalent, because any number below 0 is the length that is left
    beyond: Array = np.arange(data.shape[axis], like=data).reshape(shape) >= np.expand_dims(length, axis)
    return beyond
