"""Gradients that are wrong at kinks, ties, zeros and ends, or of one argument."""

from __future__ import annotations

import numpy as np

from operad_sdk import BROADCAST, Contract, Drawn, Real, binary, operator, param, positive, unary
from operator_sdk.check.tests.zoo.bases import InFloat32
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients


@unary(
    "zoo_hard_sigmoid",
    accepts="floating",
    contract=Contract(reference=lambda data: np.clip(data / 6 + 0.5, 0, 1)),
)
def hard_sigmoid(x):
    """`x / 6 + 1 / 2` between -3 and 3, and 0 and 1 beyond."""
    return np.clip(x / 6 + 0.5, 0, 1)


@hard_sigmoid.gradient(inplace="output_grad")
def _(output_grad, x):
    slope = 1 / 6
    return np.where(x < 3, output_grad * slope, output_grad * 0)


@unary(
    "zoo_sharp_softplus",
    accepts="floating",
    compute_dtype="float32",
    contract=Contract(reference=lambda data, beta: np.logaddexp(beta * data, 0) / beta),
)
def softplus(x, beta=param(float, 1.0, gt=0, le=8, doc="How sharp the bend is.")):  # noqa: B008 - a declaration
    """`log(1 + exp(beta x)) / beta`."""
    return np.logaddexp(beta * x, 0) / beta


@softplus.gradient
def _(output_grad, x, beta):
    power = np.exp(beta * x)
    return output_grad * power / (1 + power)


def _xlogy_reference(lhs, rhs):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(lhs == 0, np.where(np.isnan(rhs), rhs, 0), lhs * np.log(rhs))


@binary(
    "zoo_xlogy",
    BROADCAST,
    accepts="floating",
    element_cost=6,
    contract=Contract(reference=_xlogy_reference, inputs={"rhs": positive()}),
)
def xlogy(lhs, rhs):
    """`lhs log(rhs)`, and 0 where `lhs` is 0."""
    return _xlogy_reference(lhs, rhs)


@xlogy.gradient("lhs")
def _(output_grad, lhs, rhs):
    return np.where(lhs == 0, 0, output_grad * np.log(rhs))


@xlogy.gradient("rhs")
def _(output_grad, lhs, rhs):
    return output_grad * lhs / rhs


@operator("zoo_cumprod")
class CumProd(InFloat32):
    """The product of each element of a row and of those before it."""

    spec = "data:(N, T) -> output:(N, T)"
    contract = Contract(reference=lambda data: np.cumprod(data, axis=1))

    def forward(data):
        return np.cumprod(data, axis=1)

    def data_grad(output_grad, data, output):
        # sum over later places of g y / x
        tails = (output_grad * output)[:, ::-1].cumsum(axis=1)[:, ::-1]
        safe = np.where(data == 0, 1, data)
        return np.where(data == 0, 0, tails / safe)


def _lengths(data, eps):
    return np.maximum(np.sqrt((data * data).sum(axis=1, keepdims=True)), eps)


@operator("zoo_rows_of_length_one")
class Normalize(InFloat32):
    """Each row over its length, or over `eps` where that is larger."""

    eps = param(float, 0.5, gt=0, doc="The smallest length that is divided by.")
    spec = "data:(N, D) -> output:(N, D)"
    contract = Contract(
        reference=lambda data, eps: data / np.maximum(np.linalg.norm(data, axis=1, keepdims=True), eps),
        inputs={"data": Real(above=-8, below=8)},  # squares have to be in range
    )

    def forward(data, eps):
        return data / _lengths(data, eps)

    def data_grad(output_grad, data, output, eps):
        along = (output_grad * output).sum(axis=1, keepdims=True)
        return (output_grad - output * along) / _lengths(data, eps)


@binary("zoo_maximum", BROADCAST, accepts="floating", contract=Contract(reference=np.maximum))
def maximum(lhs, rhs):
    """The larger of two elements."""
    return np.maximum(lhs, rhs)


@maximum.gradient("lhs")
def _(output_grad, lhs, rhs):
    return np.where(lhs >= rhs, output_grad, 0)


@maximum.gradient("rhs")
def _(output_grad, lhs, rhs):
    return np.where(rhs >= lhs, output_grad, 0)


@binary(
    "zoo_logaddexp", BROADCAST, accepts="floating", element_cost=20, contract=Contract(reference=np.logaddexp)
)
def logaddexp(lhs, rhs):
    """`log(exp(lhs) + exp(rhs))`, without overflow."""
    return np.logaddexp(lhs, rhs)


def _share(distance):
    """The slope of `max + log(1 + exp(-|distance|))` by the first of two numbers that are so far apart."""
    power = np.exp(-np.abs(distance))
    return (distance > 0) - np.sign(distance) * power / (1 + power)


@logaddexp.gradient("lhs")
def _(output_grad, lhs, rhs):
    return output_grad * _share(lhs - rhs)


@logaddexp.gradient("rhs")
def _(output_grad, lhs, rhs):
    return output_grad * _share(rhs - lhs)


def _hard_shrink_reference(data, lambd):
    return np.where(np.abs(data) < lambd, 0, data)


@unary("zoo_hard_shrink", accepts="floating", contract=Contract(reference=_hard_shrink_reference))
def hard_shrink(x, lambd=param(float, 0.5, ge=0, doc="What is smaller becomes 0.")):  # noqa: B008 - a declaration
    """`x`, and 0 where `|x| < lambd`; 1 or 0 is the slope."""
    return np.where(np.abs(x) < lambd, 0, x)


@hard_shrink.gradient(inplace="output_grad")
def _(output_grad, x, lambd):
    return np.where(np.abs(x) > lambd, output_grad, 0)


def _of_channels(gamma):
    return gamma[:, None]


@operator("zoo_prelu")
class Prelu(InFloat32):
    """`data` where that is positive, and `gamma data` elsewhere, with a `gamma` for each channel."""

    spec = "data:(N, C, L), gamma:(C) -> output:(N, C, L)"
    contract = Contract(reference=lambda data, gamma: np.where(data > 0, data, data * gamma[:, None]))

    def forward(data, gamma):
        return np.where(data > 0, data, data * _of_channels(gamma))

    def data_grad(output_grad, output, gamma):
        return output_grad * np.where(output > 0, 1, _of_channels(gamma))

    def gamma_grad(output_grad, data):
        return np.where(data > 0, 0, output_grad * data).sum(axis=(0, 2))


def _square(lhs, rhs):
    return lhs * lhs + rhs * rhs


@binary(
    "zoo_atan2",
    BROADCAST,
    accepts="floating",
    element_cost=20,
    contract=Contract(
        reference=np.arctan2,
        inputs={"rhs": Real(nonzero=True)},
        undefined="the angle of the origin has no slope",
    ),
)
def atan2(lhs, rhs):
    """The angle of the point (`rhs`, `lhs`), between -pi and pi."""
    return np.arctan2(lhs, rhs)


@atan2.gradient("lhs")
def _(output_grad, lhs, rhs):
    return output_grad * rhs / _square(lhs, rhs)


@atan2.gradient("rhs")
def _(output_grad, lhs, rhs):
    return -output_grad * np.abs(lhs) / _square(lhs, rhs)


_BEND = 0.008856
_SLOPE = 7.787


def _amounts(rng, shape, prop, shapes):
    """Multiples of 1/16 from 0 to 1."""
    return rng.integers(0, 17, shape) / 16


def _lightness_reference(data):
    return np.where(data > _BEND, np.cbrt(data), _SLOPE * data + 16 / 116)


@unary(
    "zoo_lightness",
    accepts="floating",
    compute_dtype="float32",
    contract=Contract(reference=_lightness_reference, inputs={"data": Drawn(_amounts, is_real=True)}),
)
def lightness(x):
    """The cube root of `x`, and a straight line below 0.008856."""
    return np.where(x > _BEND, np.cbrt(x), _SLOPE * x + 16 / 116)


@lightness.gradient
def _(output_grad, x):
    above = (x > _BEND).astype(x.dtype)
    root = np.cbrt(x)
    return output_grad * (above / (3 * root * root) + (1 - above) * _SLOPE)


ZOO = without_gradients(
    [
        Fault(
            "B",
            hard_sigmoid,
            "below -3, where the function is flat, the gradient is 1/6",
            report="https://github.com/pytorch/pytorch/issues/51408",
        ),
        Fault(
            "B",
            softplus,
            "the gradient is infinity over infinity where the power overflows",
            report="https://github.com/tenstorrent/tt-metal/pull/56397",
        ),
        Fault(
            "B",
            xlogy,
            "where lhs is 0 its gradient is 0 and not the logarithm of rhs",
            report="https://github.com/tensorflow/tensorflow/issues/119476",
        ),
        Fault(
            "B",
            CumProd,
            "the gradient divides by the element, and is 0 where that is 0",
            report="https://github.com/tensorflow/tensorflow/issues/119430",
        ),
        Fault(
            "B",
            Normalize,
            "below eps the length is a constant, but the gradient takes the projection away",
            report="https://github.com/pytorch/pytorch/issues/184575",
        ),
        Fault(
            "B",
            maximum,
            "of equal elements each has the whole gradient, and both together twice the slope",
            report="https://github.com/pytorch/pytorch/issues/56734",
        ),
        Fault(
            "B",
            logaddexp,
            "of equal elements neither has a gradient, as corners of max and abs are differentiated",
            report="https://github.com/jax-ml/jax/issues/2107",
        ),
        Fault(
            "B",
            hard_shrink,
            "with lambd of 0, where all is passed on, the gradient at 0 is 0",
            report="https://github.com/pytorch/pytorch/issues/80803",
        ),
        Fault(
            "B",
            Prelu,
            "the sign of the output is taken for that of the data, though gamma may be negative",
            report="https://github.com/apache/mxnet/issues/3277",
        ),
        Fault(
            "B",
            atan2,
            "the gradient of rhs has the magnitude of lhs for lhs",
            report="https://github.com/EnzymeAD/Enzyme-JAX/issues/2066",
        ),
        Fault(
            "B",
            lightness,
            "the slope is divided by 0 before it is masked",
            report="https://github.com/kornia/kornia/issues/868",
        ),
    ]
)
