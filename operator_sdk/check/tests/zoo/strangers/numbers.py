"""Results that are wrong in some types or for some magnitudes."""

from __future__ import annotations

import math

import numpy as np

from operad_sdk import (
    BROADCAST,
    Contract,
    Drawn,
    Integers,
    OperatorProperty,
    Real,
    binary,
    erf,
    exp,
    mapper,
    operator,
    param,
    unary,
)
from operator_sdk.check.tests.zoo.bases import Floating, InFloat32
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients


@operator("zoo_integer_mean")
class IntegerMean(OperatorProperty):
    """The mean of each row of whole numbers, rounded down."""

    spec = "data:(N, D) -> output:(N); D >= 1"
    accepts = "integer"
    contract = Contract(
        reference=lambda data: np.array([sum(int(x) for x in row) // len(row) for row in data], data.dtype)
    )

    def forward(data):
        return np.add.reduce(data, axis=1, dtype=data.dtype) // data.shape[1]


@binary(
    "zoo_floor_mod",
    BROADCAST,
    accepts=("int8", "int16", "int32", "int64"),
    contract=Contract(
        reference=np.mod,
        inputs={"lhs": Integers(-20, 20), "rhs": Integers(1, 9)},
        undefined="nothing is left when something is divided by 0",
    ),
)
def floor_mod(lhs, rhs):
    """`lhs - rhs floor(lhs / rhs)`, of whole numbers."""
    return np.fmod(lhs, rhs)


@operator("zoo_row_mean")
class RowMean(Floating):
    """The mean of each row."""

    spec = "data:(N, D) -> output:(N); D >= 1"
    contract = Contract(reference=lambda data: data.mean(axis=1))

    def forward(data):
        return np.sum(data, axis=1) / data.shape[1]

    def data_grad(output_grad, data_grad):
        data_grad[...] = output_grad[:, None] / data_grad.shape[1]


def _floor(x):
    if x.dtype.kind == "f":
        return np.floor(x)
    return np.floor(x.astype(np.float32)).astype(x.dtype)


@unary("zoo_floor", accepts="number", contract=Contract(reference=np.floor))
def floor(x):
    """The largest whole number that is not larger."""
    return _floor(x)


def _statistics(data, eps):
    wide = data.astype(np.float32)  # half precision is too narrow for sums
    mean = wide.mean(axis=1, keepdims=True)
    centred = wide - mean
    return mean, np.sqrt((centred * centred).mean(axis=1, keepdims=True) + eps)


@operator("zoo_standardize")
class Standardize(Floating):
    """Each row less its mean, over its deviation."""

    eps = param(float, 1e-3, gt=0, doc="Added to the variance.")
    spec = "data:(N, D) -> output:(N, D); D >= 1"
    contract = Contract(
        reference=lambda data, eps: (
            (data - data.mean(1, keepdims=True)) / np.sqrt(data.var(1, keepdims=True) + eps)
        ),
        inputs={"data": Real(above=-16, below=16)},  # squares have to be in range
    )

    def forward(data, eps):
        mean, deviation = _statistics(data, eps)
        return (data - mean) / deviation

    def data_grad(output_grad, data, eps):
        mean, deviation = _statistics(data, eps)
        normal = (data - mean) / deviation
        average = output_grad.mean(axis=1, keepdims=True)
        along = (output_grad * normal).mean(axis=1, keepdims=True)
        return (output_grad - average - normal * along) / deviation


def _or_one(length):
    return np.where(length == 0, 1, length)


@binary("zoo_hypot", BROADCAST, accepts="floating", contract=Contract(reference=np.hypot))
def hypot(lhs, rhs):
    """`sqrt(lhs^2 + rhs^2)`; where both are 0 the gradients are 0."""
    return np.sqrt(lhs * lhs + rhs * rhs)


@hypot.gradient("lhs")
def _(output_grad, lhs, output):
    return output_grad * (lhs / _or_one(output))


@hypot.gradient("rhs")
def _(output_grad, rhs, output):
    return output_grad * (rhs / _or_one(output))


@operator("zoo_row_variance")
class Variance(InFloat32):
    """The mean square distance of a row's elements from their mean."""

    spec = "data:(N, D) -> output:(N); D >= 1"
    contract = Contract(reference=lambda data: np.var(data, axis=1))

    def forward(data):
        mean = data.mean(axis=1)
        return np.maximum((data * data).mean(axis=1) - mean * mean, 0)

    def data_grad(output_grad, data):
        centred = data - data.mean(axis=1, keepdims=True)
        return output_grad[:, None] * (2 / data.shape[1]) * centred


@operator("zoo_masked_log_sum_exp")
class MaskedLogSumExp(OperatorProperty):
    """`log(sum(exp(data)))` of each row where `mask` is true; of nothing, minus infinity."""

    spec = "data:(N, D), mask:bool(N, D) -> output:(N); D >= 1"
    accepts = {"data": "floating"}
    compute_dtype = "float32"

    def _reference(data, mask):
        return np.logaddexp.reduce(np.where(mask, data, -np.inf), axis=1)

    contract = Contract(
        reference=_reference,
        nan_policy="what is masked is not read",
        undefined="the logarithm of nothing is minus infinity",
    )

    def forward(data, mask):
        kept = np.where(mask, data, -np.inf)
        top = kept.max(axis=1, keepdims=True)
        return np.log(np.exp(kept - top).sum(axis=1)) + top[:, 0]

    def data_grad(output_grad, data, mask, output):
        finite = np.where(np.isneginf(output), 0, output)[:, None]
        return output_grad[:, None] * np.where(mask, np.exp(data - finite), 0)


@unary("zoo_relu", accepts="floating", contract=Contract(reference=lambda data: np.maximum(data, 0)))
def relu(x):
    """`max(x, 0)`."""
    return np.where(x > 0, x, 0)


@relu.gradient(inplace="output_grad")
def _(output_grad, output):
    return np.where(output > 0, output_grad, 0)


_FACTOR = math.sqrt(2 / math.pi)


@mapper
def _share(x):
    return 0.5 * (1 + erf(x * 0.7071067811865476))


@mapper
def _slope(x):
    return 0.5 * (1 + erf(x * 0.7071067811865476)) + x * exp(-0.5 * x * x) * 0.3989422804014327


def _rest(x):
    """What is left after eight at a time."""
    return 0.5 * x * (1 + np.tanh(_FACTOR * (x + 0.044715 * x * x * x)))


def _gelu_reference(data):
    return data * np.vectorize(lambda x: 0.5 * math.erfc(-x / math.sqrt(2)), otypes=[data.dtype])(data)


@unary(
    "zoo_gelu",
    accepts="floating",
    compute_dtype="float32",
    contract=Contract(reference=_gelu_reference, undefined="minus infinity times nothing is no number"),
)
def gelu(x, output):
    """`x` times the probability that a normal number is less."""
    flat = np.ascontiguousarray(x).reshape(-1)
    found = np.empty_like(flat)
    whole = len(flat) // 8 * 8
    if whole:
        found[:whole] = flat[:whole] * _share.map(flat[:whole])
    found[whole:] = _rest(flat[whole:])
    output[...] = found.reshape(x.shape)


@gelu.gradient
def _(output_grad, x):
    return output_grad * _slope.map(x)


_EPS = 1e-8


def _colours(rng, shape, prop, shapes):
    """Multiples of 1/8 from 0 to 1; every fourth picture is dark."""
    values = rng.integers(0, 9, shape) / 8
    return values * (np.arange(shape[0]) % 4 != 3)[:, None, None]


@operator("zoo_saturation")
class Saturation(Floating):
    """Largest less smallest channel, over the largest and 1e-8, so that black gives 0."""

    spec = "data:(N, 3, L) -> output:(N, L)"

    def _reference(data):
        top = data.max(axis=1)
        return np.where(top == 0, 0, np.ptp(data, axis=1) / (np.where(top == 0, 1, top) + _EPS))

    contract = Contract(
        reference=_reference,
        inputs={"data": Drawn(_colours)},
    )

    def forward(data):
        top = data.max(axis=1)
        return (top - data.min(axis=1)) / (top + _EPS)


@operator("zoo_votes")
class Votes(OperatorProperty):
    """The number of true ones among three, place by place."""

    spec = "first:bool(*S), second:bool(*S), third:bool(*S) -> output:int32(*S)"
    contract = Contract(
        reference=lambda first, second, third: first.astype(int) + second.astype(int) + third.astype(int)
    )

    def forward(first, second, third, output):
        output[...] = first + second + third


@operator("zoo_pixel_distance")
class PixelDistance(OperatorProperty):
    """`|lhs - rhs|` of whole numbers, pixel by pixel."""

    spec = "lhs:(*S), rhs:(*S) -> output:(*S)"
    accepts = ("uint8", "int16", "int32")
    contract = Contract(
        reference=lambda lhs, rhs: np.abs(lhs.astype(np.int64) - rhs.astype(np.int64)).astype(lhs.dtype),
        inputs={"lhs": Integers(0, 120), "rhs": Integers(0, 120)},
    )

    def forward(lhs, rhs):
        return np.abs(lhs - rhs)


ZOO = without_gradients(
    [
        Fault(
            "F",
            IntegerMean,
            "the sum wraps around in the type of the data",
            report="https://github.com/cupy/cupy/issues/2903",
        ),
        Fault(
            "F",
            floor_mod,
            "the remainder has the sign of the dividend",
            report="https://github.com/pytorch/pytorch/issues/1164",
        ),
        Fault(
            "F",
            RowMean,
            "the sum overflows in half precision before it is divided",
            report="https://github.com/pytorch/pytorch/issues/44350",
        ),
        Fault(
            "F", floor, "integers pass through float32", report="https://github.com/apache/mxnet/issues/13220"
        ),
        Fault(
            "F",
            Standardize,
            "mean and deviation of float64 are computed in float32",
            report="https://github.com/apache/mxnet/issues/18137",
        ),
        Fault(
            "F",
            hypot,
            "squares overflow and underflow",
            report="https://github.com/tensorflow/tensorflow/issues/12071",
        ),
        Fault(
            "F",
            Variance,
            "the square of the mean is taken from the mean of squares",
            report="https://github.com/microsoft/onnxruntime/issues/28463",
        ),
        Fault(
            "F",
            MaskedLogSumExp,
            "of a fully masked row minus infinity is taken from itself",
            report="https://github.com/pytorch/pytorch/issues/31829",
        ),
        Fault("F", relu, "NaN becomes 0", report="https://github.com/apache/mxnet/issues/11115"),
        Fault(
            "F",
            gelu,
            "what is left after groups of eight is computed by an approximation",
            report="https://github.com/pytorch/pytorch/issues/196681",
        ),
        Fault(
            "F",
            Saturation,
            "eps is 0 in half precision, and black gives 0 over 0",
            report="https://github.com/kornia/kornia/issues/4560",
        ),
        Fault(
            "F",
            Votes,
            "the sum of truths is whether one of them is true",
            report="https://github.com/pytorch/pytorch/issues/22975",
        ),
        Fault("F", PixelDistance, "a difference of unsigned integers wraps around"),
    ]
)
