"""`LeakyReLU`: rectifiers that let something through below zero.

leaky, elu and selu compute the gradient from the output's value, whose sign is the input's as long
as the slope is not negative; for a negative slope they read the input. prelu learns its slopes, one
a channel. rrelu draws one for each element in training and keeps it, as its hidden output, for the
gradient.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from operad.dtypes import DType
from operad.errors import ShapeError
from operad.operator import InferredShapes, InferredTypes, PartialShape, Shape
from operad_activation.gelu import gelu, gelu_gradient
from operad_activation.precision import check_floating, write
from operad_sdk import (
    Array,
    Contract,
    Distribution,
    OpContext,
    OperatorProperty,
    Output,
    ResourceRequest,
    gradient,
    operator,
    param,
)

# Self-normalizing neural networks (Klambauer et al. 2017), equation 14.
SELU_SCALE: Final = 1.0507009873554804934193349852946
SELU_ALPHA: Final = 1.6732632423543772848170429916717


def _reads_output(prop: Any) -> bool:
    return prop.act_type == "selu" or (prop.act_type in ("leaky", "elu") and prop.slope >= 0)


def _reads_data(prop: Any) -> bool:
    return prop.act_type == "gelu" or (prop.act_type in ("leaky", "elu") and prop.slope < 0)


def _rectified(data: Array, gamma: Any = None, *, act_type: str, slope: float) -> Any:
    """What the contract checks compare with; nothing for rrelu, which draws its slopes."""
    below = np.exp(data) - 1
    if act_type == "prelu":
        return np.where(data > 0, data, data * gamma.reshape(-1, *[1] * (data.ndim - 2)))
    if act_type == "gelu":
        return data * (1 + np.vectorize(math.erf, otypes=[float])(data / math.sqrt(2))) / 2
    formulas: dict[str, Any] = {
        "leaky": np.where(data > 0, data, slope * data),
        "elu": np.where(data > 0, data, slope * below),
        "selu": SELU_SCALE * np.where(data > 0, data, SELU_ALPHA * below),
    }
    return formulas.get(act_type, ())


@operator("LeakyReLU")
class LeakyReLU(OperatorProperty):
    """A rectifier that lets something through below zero.

    It is `data` where that is positive, and else by `act_type`:

    * leaky: `slope * data`
    * prelu: `gamma * data`, with gamma learnt
    * rrelu: `s * data`, s uniform between the bounds in training, their mean otherwise
    * elu: `slope * (exp(data) - 1)`
    * selu: 1.0507 times elu with slope 1.6733, above zero too
    * gelu: `data` times the standard normal distribution function, above zero too

    Shapes:
        data: (N, C, ...), of a floating type; (...) unless prelu.
        gamma: (C,) or (1,), for prelu.
        output: As data.
        mask: As data, hidden, for rrelu: the slopes.

    Example:
        >>> import operad as od
        >>> od.nd.LeakyReLU(od.nd.array([-2, 2]), act_type="leaky", slope=0.5).asnumpy()
        array([-1.,  2.], dtype=float32)

    Source: LeakyReLUParam, src/operator/leaky_relu-inl.h.
    """

    act_type = param(
        str, "leaky", choices=("elu", "gelu", "leaky", "prelu", "rrelu", "selu"), doc="The function."
    )
    slope = param(float, 0.25, doc="Slope of leaky and elu below zero.")
    lower_bound = param(float, 0.125, doc="Smallest slope of rrelu.")
    upper_bound = param(float, 0.334, doc="Largest slope of rrelu.")

    spec = (
        "data:(...), gamma:(G) if act_type == 'prelu' "
        "-> output:(...), hidden mask:(...) if act_type == 'rrelu'"
    )
    forward_inplace = (("data", "output"),)
    contract = Contract(
        reference=_rectified,
        assumes_shapes="gamma that is not given gets one slope a channel; one for all has to be given",
        distribution=Distribution(
            mean=lambda prop: (prop.lower_bound + prop.upper_bound) / 2,
            variance=lambda prop: (prop.upper_bound - prop.lower_bound) ** 2 / 12,
            draws=lambda prop, inputs, outputs: outputs[1][inputs[0] <= 0],
            params=[{"act_type": "rrelu"}, {"act_type": "rrelu", "lower_bound": 0.5, "upper_bound": 2.0}],
            shapes=[(50, 40)],
        ),
    )

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """A prelu has one slope a channel, or one for all."""
        ins, outs, aux = super().infer_shape(in_shapes)
        data = ins[0]
        if self.act_type != "prelu" or data is None:
            return ins, outs, aux
        if len(data) < 2:
            raise ShapeError(f"{self.name}: data has shape {data}, expected (N, C, ...) for prelu")
        channels, gamma = data[1], ins[1]
        if gamma in (None, (None,)):
            ins[1] = (channels,)
        elif gamma not in ((1,), (channels,)) and channels is not None:
            raise ShapeError(
                f"{self.name}: gamma has shape {gamma}, expected ({channels},) = (channels,) or (1,)"
            )
        return ins, outs, aux

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """A floating type."""
        check_floating(self.name, in_types)
        return super().infer_type(in_types)

    def forward_resource(self, in_shapes: Sequence[Shape]) -> list[ResourceRequest]:
        """A random generator, for rrelu to draw slopes from."""
        return [ResourceRequest.RANDOM] if self.act_type == "rrelu" else []

    def cost(self, in_shapes: Any, out_shapes: Any) -> float:
        """Exponentials take many operations an element."""
        return super().cost(in_shapes, out_shapes) * (2 if self.act_type in ("leaky", "prelu") else 8)

    def forward(
        self, op_ctx: OpContext, data: Array, gamma: Array | None, output: Output, mask: Output
    ) -> None:
        """Apply the function."""
        if self.act_type == "rrelu":
            with mask.writing() as slopes:
                slopes[...] = np.where(data > 0, slopes.dtype.type(1), self._drawn(op_ctx, slopes))
                output.assign(data * slopes)
        elif gamma is not None:
            write(_write_prelu, output, data, _by_channel(gamma, data.ndim))
        elif self.act_type == "leaky":
            write(partial(_write_leaky, slope=self.slope), output, data)
        elif self.act_type == "gelu":
            write(lambda x, out: gelu.map(x, out=out), output, data)
        else:
            write(self._write_elu, output, data)

    @gradient(when=_reads_output, inplace=[("output_grad", "data_grad"), ("output", "data_grad")])
    def gradient_from_output(self, output_grad: Array, output: Array, data_grad: Output) -> None:
        """The slope as a function of the output's value."""
        write(self._write_gradient_from_output, data_grad, output_grad, output)

    @gradient(when=_reads_data, inplace=[("output_grad", "data_grad"), ("data", "data_grad")])
    def gradient_from_data(self, output_grad: Array, data: Array, data_grad: Output) -> None:
        """The slope as a function of the input."""
        if self.act_type == "gelu":
            write(lambda ograd, x, out: gelu_gradient.map(ograd, x, out=out), data_grad, output_grad, data)
        else:
            write(self._write_gradient_from_data, data_grad, output_grad, data)

    @gradient(when=lambda prop: prop.act_type == "prelu", inplace=[("output_grad", "data_grad")])
    def prelu_data_gradient(self, output_grad: Array, data: Array, gamma: Array, data_grad: Output) -> None:
        """`ograd`, times gamma below zero."""
        write(_write_prelu_gradient, data_grad, output_grad, data, _by_channel(gamma, data.ndim))

    @gradient(when=lambda prop: prop.act_type == "prelu")
    def prelu_gamma_gradient(self, output_grad: Array, data: Array, gamma_grad: Output) -> None:
        """The sum of `ograd * data` below zero, for each slope."""
        share = np.minimum(data, 0)
        share *= output_grad
        axes = (0, *range(1 if gamma_grad.shape == (1,) else 2, data.ndim))
        dtype = np.float32 if data.dtype == np.float16 else data.dtype
        gamma_grad.assign(share.sum(axes, dtype=dtype).reshape(gamma_grad.shape))

    @gradient(
        when=lambda prop: prop.act_type == "rrelu",
        inplace=[("output_grad", "data_grad"), ("mask", "data_grad")],
    )
    def rrelu_gradient(self, output_grad: Array, mask: Array, data_grad: Output) -> None:
        """`ograd` times the slopes drawn."""
        with data_grad.writing() as out:
            np.multiply(output_grad, mask, out=out)

    def _drawn(self, op_ctx: OpContext, like: Array) -> Any:
        low, high = self.lower_bound, self.upper_bound
        if not op_ctx.is_train:
            return like.dtype.type((low + high) / 2)
        dtype = np.float32 if like.dtype == np.float16 else like.dtype
        drawn = op_ctx.requested[0].generator.random(like.shape, dtype)
        drawn *= high - low
        drawn += low
        return drawn.astype(like.dtype, copy=False)

    @property
    def _elu(self) -> tuple[float, float]:
        """Scale, and slope within it."""
        return (SELU_SCALE, SELU_ALPHA) if self.act_type == "selu" else (1.0, self.slope)

    def _write_elu(self, data: Array, out: Array) -> None:
        scale, slope = self._elu
        below = np.empty_like(data)  # a 0-d result would be a number, which has no memory to write
        np.minimum(data, 0, out=below)
        np.expm1(below, out=below)
        below *= slope
        np.add(below, np.maximum(data, 0), out=out)
        if scale != 1:
            out *= scale

    def _write_gradient_from_output(self, ograd: Array, value: Array, out: Array) -> None:
        above: float = 1
        if self.act_type == "leaky":
            below: Any = value.dtype.type(self.slope)
        else:
            above, slope = self._elu
            below = value + above * slope
        np.multiply(ograd, np.where(value > 0, value.dtype.type(above), below), out=out)

    def _write_gradient_from_data(self, ograd: Array, data: Array, out: Array) -> None:
        below: Any = np.exp(np.minimum(data, 0)) if self.act_type == "elu" else np.ones_like(data)
        below = below * data.dtype.type(self.slope)
        np.multiply(ograd, np.where(data > 0, data.dtype.type(1), below), out=out)


def _by_channel(gamma: Array, ndim: int) -> Array:
    """`gamma` in a shape that broadcasts over (N, C, ...)."""
    return gamma.reshape(-1, *[1] * (ndim - 2))


def _write_leaky(data: Array, out: Array, slope: float) -> None:
    if slope == 0:
        np.maximum(data, 0, out=out)  # infinity times 0 would be NaN
        return
    larger = np.maximum if slope <= 1 else np.minimum
    larger(data, data * slope, out=out)


def _write_prelu(data: Array, gamma: Array, out: Array) -> None:
    below = np.minimum(data, 0)
    below *= gamma
    np.add(below, np.maximum(data, 0), out=out)


def _write_prelu_gradient(ograd: Array, data: Array, gamma: Array, out: Array) -> None:
    np.multiply(ograd, np.where(data > 0, gamma.dtype.type(1), gamma), out=out)
