"""`SoftmaxOutput`: class probabilities, with the gradient of the cross-entropy to a label."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from operad_loss.classes import LabelledProperty, fits, label_positions, write_softmax
from operad_loss.scalars import probabilities, softmax_loss
from operad_sdk import (
    Array,
    Contract,
    Drawn,
    InferredShapes,
    OpContext,
    PartialShape,
    Shape,
    ShapeError,
    gradient,
    operator,
    param,
)


def _labels(rng: np.random.Generator, shape: Shape, prop: Any, shapes: Any) -> Array:
    """Classes, of which some are none; wanted probabilities where the shape is that of `data`."""
    if shape == shapes["data"]:
        return np.asarray(rng.integers(0, 9, shape) / 8)
    return rng.integers(-1, 5, shape)


def _why_no_numeric_gradient(prop: Any) -> str:
    return (
        "the gradient of the loss times that of the output is the gradient of no scalar"
        if prop.out_grad
        else ""
    )


@operator("SoftmaxOutput")
class SoftmaxOutput(LabelledProperty):
    """Probabilities of classes; the gradient is their difference from the label.

    Classes are the elements of an item of `data`; with `multi_output` they are axis 1, and with
    `preserve_shape` the last axis. A label that is no class number leaves the probabilities as they
    are. A label of the shape of `data` gives the probabilities that are wanted.

    Shapes:
        data: (N, ...)
        label: (N,); with `multi_output` (N, ...) without axis 1; with `preserve_shape` `data`'s
            without the last axis; or the shape of `data`.
        output: the shape of `data`

    Example:
        >>> import operad as od
        >>> x, label = od.nd.array([[0, 0], [3, 1]]), od.nd.array([1, 0])
        >>> od.nd.SoftmaxOutput(x, label).asnumpy().round(4)
        array([[0.5   , 0.5   ], [0.8808, 0.1192]], dtype=float32)

    Source: SoftmaxOutputOp, src/operator/softmax_output-inl.h. Differs: `out_grad` does what its
    documentation says, where MXNet 1.9.1 multiplies with the probabilities.
    """

    grad_scale = param(float, 1.0, doc="Factor of the gradient.")
    ignore_label = param(float, -1.0, doc="Label of items without a gradient, where `use_ignore`.")
    multi_output = param(bool, False, doc="Classes are axis 1; every other place has a label.")
    use_ignore = param(bool, False, doc="Use `ignore_label`.")
    preserve_shape = param(bool, False, doc="Classes are the last axis.")
    normalization = param(
        str,
        "null",
        choices=("null", "batch", "valid"),
        doc="Divisor of the gradient: none, the number of items, or of labels that are not ignored.",
    )
    out_grad = param(bool, False, doc="Multiply by the gradient with respect to the output.")
    smooth_alpha = param(float, 0.0, ge=0, le=1, doc="Share of a label's weight that the other classes get.")
    spec = "data:(*S), label:any(*L) -> output:(*S)"
    accepts = "floating"
    element_cost = 3
    compute_dtype = "float32"
    inplace = "data -> output"
    gradient_is_derivative = False
    contract = Contract(
        inputs={"label": Drawn(_labels)},
        assumes_shapes="a label that is not given is one class number per item, or per place",
        ignores_head_gradient=lambda prop: "" if prop.out_grad else "a loss, at the end of a network",
        no_numeric_gradient=_why_no_numeric_gradient,
        reference=probabilities,
        loss=softmax_loss,
    )

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """Infer shapes; unless one of the allowed shapes is given for the label, it follows from `data`."""
        (data, label), outputs, _ = super().infer_shape(in_shapes)
        if data is None or None in data:
            return [data, label], outputs, []
        if len(data) < 2:
            raise ShapeError(f"{self.name}: data has shape {data}, expected at least 2 axes")
        allowed = self._label_shapes(data)
        found = next((shape for shape in allowed if fits(label, shape)), None)
        if found is None:
            raise ShapeError(
                f"{self.name}: label has shape {label}, expected {' or '.join(map(str, allowed))} "
                f"for data of shape {data}"
            )
        return [data, found], outputs, []

    def _label_shapes(self, data: Any) -> list[Shape]:
        if self.multi_output:
            flat = (data[0], prod(data[2:]))
            return [(data[0], *data[2:]), flat, (data[0], 1, *data[2:]), data]
        if self.preserve_shape:
            return [data[:-1], data]
        return [data[:1], data]

    def forward(data: Array, multi_output: bool, preserve_shape: bool, output: Array) -> None:
        """Softmax along the classes."""
        if multi_output or preserve_shape or data.ndim == 2:
            write_softmax(data, 1 if multi_output else -1, output)
        elif data.size:
            value = data.reshape(len(data), -1).copy()
            write_softmax(value, -1, value)
            output[...] = value.reshape(output.shape)

    @gradient(inplace="output", when=lambda prop: not prop.out_grad)
    def loss_gradient(self, op_ctx: OpContext, output: Array, label: Array, data_grad: Array) -> None:
        """`d loss / d data = softmax(data) - onehot(label)`, scaled."""
        _write_difference(self, op_ctx.xp, output, label, data_grad)

    @gradient(inplace="output", when=lambda prop: prop.out_grad)
    def scaled_loss_gradient(
        self, op_ctx: OpContext, output_grad: Array, output: Array, label: Array, data_grad: Array
    ) -> None:
        """`(softmax(data) - onehot(label)) * output_grad`, scaled."""
        _write_difference(self, op_ctx.xp, output, label, data_grad)
        np.multiply(data_grad, output_grad, out=data_grad)

    def rows(self, out: Array) -> Array:
        """`out` with the classes as last axis."""
        if self.multi_output:
            return np.moveaxis(out, 1, -1)
        if self.preserve_shape or out.ndim == 2:
            return out
        return out.reshape(len(out), -1)

    def scale(self, label: Array, rows: Array) -> float:
        """Scale of the gradient; as in MXNet, `multi_output` divides it by an item's positions."""
        scale = float(self.grad_scale)
        if self.normalization == "valid":
            return scale / max(int((label != self.ignore_label).sum()), 1)
        if self.multi_output:
            scale /= max(prod(rows.shape[1:-1]), 1)
        if self.normalization == "batch":
            scale /= max(len(label) if self.multi_output else label.size, 1)
        return scale


def _write_difference(prop: SoftmaxOutput, xp: Any, probabilities: Array, label: Array, out: Array) -> None:
    """Write the scaled difference of probabilities and label; `out` may be `probabilities`."""
    if not out.size:
        return
    if label.shape == out.shape:
        np.subtract(probabilities, label, out=out)
        np.multiply(out, prop.grad_scale, out=out)
        return
    np.copyto(out, probabilities)
    rows = prop.rows(out)
    label = label.reshape(rows.shape[:-1])
    classes = rows.shape[-1]
    positions, known = label_positions(xp, label, classes)
    if prop.smooth_alpha and not prop.multi_output:
        share = prop.smooth_alpha / max(classes - 1, 1)
        rows -= share
        rows[positions] -= known * out.dtype.type(1 - prop.smooth_alpha - share)
    else:
        rows[positions] -= known
    if prop.use_ignore:
        rows[label == prop.ignore_label] = 0
    np.multiply(rows, prop.scale(label, rows), out=rows)
    if not np.may_share_memory(rows, out):  # the classes' axes had to be brought together by a copy
        out[...] = rows.reshape(out.shape)
