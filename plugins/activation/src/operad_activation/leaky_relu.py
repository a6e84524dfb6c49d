"""`LeakyReLU`: rectifiers that let something through below zero.

leaky computes the gradient from the output's value, whose sign is the input's as long as the slope is not
negative; for a negative slope it reads the input. elu and selu read the input, since their slope is an
exponential of which the output, rounded near `-slope`, has lost all digits. prelu learns its slopes, one
per channel. rrelu draws one for each element in training and keeps it, as its second output, for the
gradient.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, Final

import numpy as np

from operad_activation.gelu import gelu, gelu_gradient
from operad_sdk import (
    Array,
    Contract,
    Cost,
    Distribution,
    InferredShapes,
    OpContext,
    OperatorProperty,
    PartialShape,
    ResourceRequest,
    Shape,
    ShapeError,
    blocked_sum,
    gradient,
    operator,
    param,
)

# Self-normalizing neural networks (Klambauer et al. 2017), equation 14.
SELU_SCALE: Final = 1.0507009873554804934193349852946
SELU_ALPHA: Final = 1.6732632423543772848170429916717


def _reads_output(prop: Any) -> bool:
    return bool(prop.act_type == "leaky" and prop.slope >= 0)


def _reads_data(prop: Any) -> bool:
    return prop.act_type in ("gelu", "elu", "selu") or (prop.act_type == "leaky" and prop.slope < 0)


def _is_prelu(prop: Any) -> bool:
    return bool(prop.act_type == "prelu")


def _rectified(data: Array, gamma: Any = None, *, act_type: str, slope: float) -> Any:
    """Reference for the contract checks; nothing for rrelu, which draws its slopes."""
    below = np.exp(data) - 1
    if act_type == "prelu":
        return np.where(data > 0, data, data * _by_channel(gamma, data.ndim))
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
    """A rectified linear unit with another slope or function below zero.

    It is `data` where that is positive, and else by `act_type`:

    * leaky: `slope * data`
    * prelu: `gamma * data`, with gamma learnt
    * rrelu: `s * data`, s uniform between the bounds in training, their mean otherwise
    * elu: `slope * (exp(data) - 1)`
    * selu: 1.0507 times elu with slope 1.6733, above zero too
    * gelu: `data` times the standard normal distribution function, above zero too

    Shapes:
        data: (...), of a floating type; for prelu (N, C, ...), or (C,) where gamma's shape is given.
        gamma: (C,), or (N, C) for data of two axes and more, with 1 for any of them; for prelu.
        output: As data.
        mask: As data, for rrelu: the slopes.

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

    spec = "data:(...), gamma:(*G) if act_type == 'prelu' -> output:(...), mask:(...) if act_type == 'rrelu'"
    initializers: ClassVar = {"gamma": '["Constant", {"value": 0.25}]'}
    accepts = "floating"
    compute_dtype = "float32"
    inplace = "data -> output"
    constant_outputs = ("mask",)
    contract = Contract(
        reference=_rectified,
        assumes_shapes="gamma that is not given gets one slope per channel; others have to be given",
        distribution=Distribution(
            mean=lambda prop: (prop.lower_bound + prop.upper_bound) / 2,
            variance=lambda prop: (prop.upper_bound - prop.lower_bound) ** 2 / 12,
            draws=lambda prop, inputs, outputs: outputs[1][inputs[0] <= 0],
            params=[{"act_type": "rrelu"}, {"act_type": "rrelu", "lower_bound": 0.5, "upper_bound": 2.0}],
            shapes=[(50, 40)],
        ),
    )

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """Infer shapes from `spec`; a prelu without a given shape of gamma has one slope per channel."""
        ins, outs, aux = super().infer_shape(in_shapes)
        if self.act_type == "prelu" and ins[0] is not None:
            ins[1] = _gamma_shape(self.name, ins[0], ins[1])
        return ins, outs, aux

    def forward_resource(self, in_shapes: Sequence[Shape]) -> list[ResourceRequest]:
        """A random generator, for rrelu to draw slopes from."""
        return [ResourceRequest.RANDOM] if self.act_type == "rrelu" else []

    def cost(self, in_shapes: Any, out_shapes: Any) -> float | Cost:
        """Cost with the operations of exponentials, which take many for each element."""
        return super().cost(in_shapes, out_shapes) * (2 if self.act_type in ("leaky", "prelu") else 8)

    def forward(
        data: Array,
        gamma: Array | None,
        op_ctx: OpContext,
        act_type: str,
        slope: float,
        lower_bound: float,
        upper_bound: float,
        output: Array,
        mask: Array | None,
    ) -> None:
        """Apply the function."""
        if mask is not None:
            _fill_slopes(op_ctx, data, lower_bound, upper_bound, mask)
            np.multiply(data, mask, out=output)
        elif gamma is not None:
            below = np.minimum(data, 0)
            below *= _by_channel(gamma, data.ndim)
            np.add(below, np.maximum(data, 0), out=output)
        elif act_type == "gelu":
            gelu.map(data, out=output)
        elif act_type == "leaky":
            _fill_leaky(data, slope, output)
        else:
            _fill_elu(data, *_elu(act_type, slope), output)

    @gradient(when=_reads_output, inplace="output_grad, output")
    def gradient_from_output(output_grad: Array, output: Array, slope: float, data_grad: Array) -> None:
        """`dy/dx` of leaky: 1 above zero, `slope` below."""
        number = output.dtype.type
        np.multiply(output_grad, np.where(output > 0, number(1), number(slope)), out=data_grad)

    @gradient(when=_reads_data, inplace="output_grad, data")
    def gradient_from_data(
        output_grad: Array, data: Array, act_type: str, slope: float, data_grad: Array
    ) -> None:
        """`dy/dx` above and below zero: leaky 1, `slope`; elu 1, `slope * e^x`; selu `s`, `s * alpha * e^x`.

        Gelu: `gelu_gradient`.
        """
        if act_type == "gelu":
            gelu_gradient.map(output_grad, data, out=data_grad)
            return
        scale, alpha = _elu(act_type, slope)
        number = data.dtype.type
        below: Any = number(slope) if act_type == "leaky" else scale * alpha * np.exp(np.minimum(data, 0))
        np.multiply(output_grad, np.where(data > 0, number(scale), below), out=data_grad)

    @gradient(when=_is_prelu, inplace="output_grad")
    def prelu_data_gradient(output_grad: Array, data: Array, gamma: Array, data_grad: Array) -> None:
        """`dy/dx = 1` above zero, `gamma` below."""
        slopes = _by_channel(gamma, data.ndim)
        np.multiply(output_grad, np.where(data > 0, gamma.dtype.type(1), slopes), out=data_grad)

    @gradient(when=_is_prelu)
    def prelu_gamma_gradient(output_grad: Array, data: Array, gamma_grad: Array) -> None:
        """`dy/dgamma = min(x, 0)`, summed over all elements that share a slope."""
        share = np.minimum(data, 0)
        share *= output_grad
        lengths = _by_channel(gamma_grad, data.ndim).shape
        new = data.ndim - len(lengths)
        axes = tuple(i for i in range(data.ndim) if i < new or lengths[i - new] == 1)
        gamma_grad[...] = blocked_sum(share, axes).reshape(gamma_grad.shape)

    @gradient(when=lambda prop: prop.act_type == "rrelu", inplace="output_grad, mask")
    def rrelu_gradient(output_grad: Array, mask: Array, data_grad: Array) -> None:
        """`dy/dx = mask`: the slopes that were drawn."""
        np.multiply(output_grad, mask, out=data_grad)


def _gamma_shape(operator: str, data: tuple[int | None, ...], gamma: PartialShape) -> PartialShape:
    """The shape of gamma, whose last axes belong to the first two of `data`."""
    if gamma is None or gamma == (None,):
        return (data[1],) if len(data) > 1 else gamma
    axes = data[:2]
    pairs = zip(reversed(gamma), reversed(axes), strict=False)
    fits = all(length in (1, None, other) or other is None for length, other in pairs)
    if not (fits and 1 <= len(gamma) <= len(axes)):
        raise ShapeError(
            f"{operator}: gamma has shape {gamma}, expected {data[1:2] or data} = (channels,) or {axes}, "
            "with 1 for any of them"
        )
    return gamma


def _by_channel(gamma: Array, ndim: int) -> Array:
    """`gamma` in a shape that broadcasts over (N, C, ...)."""
    return gamma.reshape(*gamma.shape, *[1] * (ndim - 2))


def _fill_slopes(op_ctx: OpContext, data: Array, low: float, high: float, mask: Array) -> None:
    """1 above zero, and below it slopes between the bounds; in prediction their mean."""
    drawn: Any = mask.dtype.type((low + high) / 2)
    if op_ctx.is_train:
        drawn = op_ctx.requested[0].generator.random(mask.shape, mask.dtype)
        drawn *= high - low
        drawn += low
    mask[...] = np.where(data > 0, mask.dtype.type(1), drawn)


def _fill_leaky(data: Array, slope: float, out: Array) -> None:
    if slope == 0:
        np.maximum(data, 0, out=out)  # infinity times 0 would be NaN
        return
    larger = np.maximum if slope <= 1 else np.minimum
    larger(data, data * slope, out=out)


def _elu(act_type: str, slope: float) -> tuple[float, float]:
    """Scale, and slope within it."""
    return (SELU_SCALE, SELU_ALPHA) if act_type == "selu" else (1.0, slope)


def _fill_elu(data: Array, scale: float, slope: float, out: Array) -> None:
    below = np.empty_like(data)  # a 0-d result would be a number, which has no memory to write
    np.expm1(np.minimum(data, 0, out=below), out=below)
    below *= slope
    np.add(below, np.maximum(data, 0), out=out)
    if scale != 1:
        out *= scale
