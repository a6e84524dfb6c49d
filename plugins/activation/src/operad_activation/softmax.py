"""`softmax`, `softmin` and `log_softmax` along one axis.

The largest element is subtracted first, so that no exponential overflows; half precision is computed
in single precision. The gradients need only the output's value:

* softmax: `(g - sum(g * y)) * y / temperature`
* log_softmax: `(g - sum(g) * exp(y)) / temperature`

and softmin's is softmax's negated, because it is the softmax of `-data`. Elements beyond `length`
take no part: their value is 0, also in log_softmax, and so is their gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from operad.dtypes import DType, as_dtype
from operad.errors import ParamError
from operad.operator import InferredShapes, InferredTypes, PartialShape, unify_shapes
from operad_activation.precision import check_floating, scratch, write
from operad_sdk import Array, Contract, OperatorProperty, Output, operator, param
from operad_sdk.domains import Index

_LENGTHS: Final = {"length": Index("data", axis="axis", inclusive=True)}


def _exponentials(data: Array, length: tuple[Array, ...], axis: int, temperature: float | None) -> Array:
    """Exponentials in double precision, 0 beyond `length`."""
    lines = np.exp(np.moveaxis(data.astype(np.float64) / (temperature or 1), axis, -1))
    if length:
        lines = np.where(np.arange(lines.shape[-1]) < length[0][..., None], lines, 0)
    return np.moveaxis(lines, -1, axis)


def _shares(data: Array, *length: Array, axis: int, temperature: float | None) -> Array:
    """The softmax by its definition."""
    parts = _exponentials(data, length, axis, temperature)
    total = parts.sum(axis, keepdims=True)
    return np.asarray(parts / np.where(total == 0, 1, total))


def _shares_of_negated(data: Array, *length: Array, axis: int, temperature: float | None) -> Array:
    return _shares(-data, *length, axis=axis, temperature=temperature)


def _logarithms_of_shares(data: Array, *length: Array, axis: int, temperature: float | None) -> Array:
    shares = _shares(data, *length, axis=axis, temperature=temperature)
    return np.log(np.where(shares == 0, 1, shares))  # 0 beyond length


class _AlongAxis(OperatorProperty):
    """What the three have in common: parameters, shapes and types."""

    axis = param(int, -1, doc="The axis along which exponentials are summed.")
    temperature = param(float, None, gt=0, doc="Divides data first; left out: 1.")
    dtype = param("dtype", None, doc="Element type of the output; left out: that of data.")
    use_length = param(bool, False, doc="Take the argument length, how many elements of each line count.")

    forward_inplace = (("data", "output"),)
    backward_inplace = (("output_grad", "data_grad"), ("output", "data_grad"))

    def list_arguments(self) -> list[str]:
        """The data, and the lengths where they are used."""
        return ["data", "length"] if self.use_length else ["data"]

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """The output is like data; length is like data without the axis."""
        data = in_shapes[0]
        if data is None:
            return list(in_shapes), [None], []
        place = _axis_place(self.name, self.axis, len(data))
        if not self.use_length:
            return [data], [data], []
        lines = unify_shapes(in_shapes[1], (*data[:place], *data[place + 1 :]), f"{self.name}: length")
        return [data, lines], [data], []

    def infer_shape_backward(
        self, in_shapes: Sequence[PartialShape], out_shapes: Sequence[PartialShape]
    ) -> list[PartialShape]:
        """The data is like the output."""
        data = unify_shapes(in_shapes[0], out_shapes[0], f"{self.name}: data")
        return self.infer_shape([data, *in_shapes[1:]])[0]

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """The output has the type asked for; length has any."""
        check_floating(self.name, in_types)
        return list(in_types), [as_dtype(self.dtype) if self.dtype else in_types[0]], []

    def cost(self, in_shapes: Any, out_shapes: Any) -> float:
        """Exponentials take many operations an element."""
        return super().cost(in_shapes, out_shapes) * 8

    def _scaled(self, array: Array) -> None:
        if self.temperature not in (None, 1.0):
            array /= self.temperature

    def _mask(self, data: Array, length: Array | None) -> Array | None:
        """Which elements lie beyond `length`."""
        if length is None:
            return None
        place = self.axis % data.ndim
        shape = [1] * data.ndim
        shape[place] = -1
        places = np.arange(data.shape[place], like=data).reshape(shape)
        return places >= np.expand_dims(length, place)

    def _write_shifted(self, data: Array, mask: Array | None, out: Array) -> None:
        """Write data, less the largest of each line and divided by the temperature."""
        if mask is not None:
            data = np.where(mask, data.dtype.type(-np.inf), data)
        with np.errstate(invalid="ignore"):  # a line that is all -inf is NaN
            np.subtract(data, data.max(self.axis, keepdims=True, initial=-np.inf), out=out)
        self._scaled(out)


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

    def forward(self, data: Array, output: Output, length: Array | None = None) -> None:
        """Shift, exponentiate, divide by the sum."""
        write(partial(self._write, mask=self._mask(data, length)), output, data)

    def backward(self, output_grad: Array, output: Array, data_grad: Output) -> None:
        """From the output's value."""
        write(self._write_gradient, data_grad, output_grad, output)

    def _write(self, data: Array, out: Array, mask: Array | None) -> None:
        self._write_shifted(data, mask, out)
        np.exp(out, out=out)
        if mask is not None:
            np.copyto(out, 0, where=mask)  # a line of length 0 is NaN so far
        total = out.sum(self.axis, keepdims=True)
        if mask is not None:
            total[total == 0] = 1
        out /= total

    def _write_gradient(self, ograd: Array, value: Array, out: Array) -> None:
        product = scratch(out, ograd, value)
        np.multiply(ograd, value, out=product)
        total = product.sum(self.axis, keepdims=True)
        np.subtract(ograd, total, out=product)
        np.multiply(product, value, out=out)
        self._scaled(out)


@operator("softmin")
class softmin(softmax):
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

    def forward(self, data: Array, output: Output, length: Array | None = None) -> None:
        """The softmax of the negated data."""
        write(partial(self._write_negated, mask=self._mask(data, length)), output, data)

    def _write_negated(self, data: Array, out: Array, mask: Array | None) -> None:
        np.negative(data, out=out)
        self._write(out, out, mask)

    def _write_gradient(self, ograd: Array, value: Array, out: Array) -> None:
        super()._write_gradient(ograd, value, out)
        np.negative(out, out=out)


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

    def forward(self, data: Array, output: Output, length: Array | None = None) -> None:
        """Shift, subtract the logarithm of the sum of exponentials."""
        write(partial(self._write, mask=self._mask(data, length)), output, data)

    def backward(
        self, output_grad: Array, output: Array, data_grad: Output, length: Array | None = None
    ) -> None:
        """From the output's value."""
        mask = self._mask(output, length)
        write(partial(self._write_gradient, mask=mask), data_grad, output_grad, output)

    def _write(self, data: Array, out: Array, mask: Array | None) -> None:
        self._write_shifted(data, mask, out)
        with np.errstate(divide="ignore"):  # a line of length 0
            out -= np.log(np.exp(out).sum(self.axis, keepdims=True))
        if mask is not None:
            np.copyto(out, 0, where=mask)

    def _write_gradient(self, ograd: Array, value: Array, out: Array, mask: Array | None) -> None:
        if mask is not None:
            ograd = np.where(mask, 0, ograd)
        share = np.exp(value)
        share *= ograd.sum(self.axis, keepdims=True)
        np.subtract(ograd, share, out=out)
        if mask is not None:
            np.copyto(out, 0, where=mask)
        self._scaled(out)


def _axis_place(operator: str, axis: int, ndim: int) -> int:
    if not -ndim <= axis < ndim:
        raise ParamError(
            f"{operator}: axis is {axis}, expected -{ndim} to {ndim - 1} for data of {ndim} axes"
        )
    return axis % ndim
