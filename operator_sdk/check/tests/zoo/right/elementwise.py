"""Functions of elements: domains, kinks, slopes of zero almost everywhere, booleans."""

from __future__ import annotations

import numpy as np

from operad_sdk import BROADCAST, Contract, OperatorProperty, binary, operator, param, unary
from operad_sdk.domains import Integers, Real, unit_interval
from operator_sdk.check.tests.zoo.fault import Right


@unary(
    "zoo_right_logit",
    accepts="floating",
    compute_dtype="float32",
    contract=Contract(inputs={"data": unit_interval()}),
)
def logit(x):
    """Inverse of the logistic function."""
    return np.log(x) - np.log1p(-x)


@logit.gradient
def _(output_grad, x):
    return output_grad / (x * (1 - x))


@unary(
    "zoo_right_inverse_square",
    accepts="floating",
    compute_dtype="float32",
    contract=Contract(inputs={"data": Real(nonzero=True)}),
)
def inverse_square(x):
    """One over the square."""
    return 1 / (x * x)


@inverse_square.gradient
def _(output_grad, x):
    return -2 * output_grad / (x * x * x)


@unary("zoo_right_magnitude", accepts="floating", inplace="data")
def magnitude(x):
    """Magnitude; the slope at 0 is 0."""
    return abs(x)


@magnitude.gradient(inplace="output_grad")
def _(output_grad, x):
    return output_grad * np.sign(x)


@unary("zoo_right_rounded", accepts="floating", contract=Contract(reference=np.rint))
def rounded(x):
    """The nearest integer."""
    return np.rint(x)


@rounded.gradient
def _(data_grad):
    data_grad[...] = 0


@unary(
    "zoo_right_straight_through",
    accepts="floating",
    contract=Contract(
        no_numeric_gradient="the gradient of the identity trains what is quantised",
        reference=lambda data: np.floor_divide(data, 0.25) / 4,
    ),
)
def straight_through(x):
    """The next quarter below, with the gradient of the data."""
    return np.floor(4 * x) / 4


@straight_through.gradient
def _(output_grad):
    return output_grad


@unary("zoo_right_without_nan", accepts="floating", contract=Contract(nan_policy="NaN becomes 0"))
def without_nan(x):
    """The data with 0 for what is not a number."""
    return np.where(np.isnan(x), 0, x).astype(x.dtype)


@without_nan.gradient
def _(output_grad, x):
    return np.where(np.isnan(x), 0, output_grad)


@operator("zoo_right_exclusive_or")
class ExclusiveOr(OperatorProperty):
    """Whether one of two holds."""

    accepts = ("bool",)
    spec = "lhs:(*S), rhs:(*S) -> output:(*S)"
    contract = Contract(reference=np.not_equal)

    def forward(lhs, rhs):
        return lhs ^ rhs


@operator("zoo_right_choice")
class Choice(OperatorProperty):
    """Elements of one array or of another."""

    accepts = {"condition": ("bool",), "lhs": "floating"}
    spec = "condition:any(*S), lhs:(*S), rhs:(*S) -> output:(*S)"
    contract = Contract(inputs={"condition": Integers(0, 1)})

    def forward(condition, lhs, rhs):
        return np.where(condition, lhs, rhs)

    def lhs_grad(output_grad, condition):
        return output_grad * condition

    def rhs_grad(output_grad, condition):
        return output_grad * ~condition


@binary("zoo_right_smooth_maximum", BROADCAST, accepts="floating", compute_dtype="float32")
def smooth_maximum(lhs, rhs):
    """Logarithm of the sum of two exponentials."""
    return np.logaddexp(lhs, rhs)


@smooth_maximum.gradient("lhs")
def _(output_grad, lhs, output):
    return output_grad * np.exp(lhs - output)


@smooth_maximum.gradient("rhs")
def _(output_grad, rhs, output):
    return output_grad * np.exp(rhs - output)


@binary("zoo_right_distance", accepts="floating", compute_dtype="float32")
def distance(lhs, rhs):
    """Length of a vector of two."""
    return np.hypot(lhs, rhs)


@distance.gradient("lhs")
def _(output_grad, lhs, output):
    return output_grad * lhs / np.where(output == 0, 1, output)


@distance.gradient("rhs")
def _(output_grad, rhs, output):
    return output_grad * rhs / np.where(output == 0, 1, output)


@unary("zoo_right_sinc", accepts="floating", compute_dtype="float64")
def sinc(x):
    """`sin(pi x) / (pi x)`."""
    return np.sinc(x)


@sinc.gradient
def _(output_grad, x):
    near = abs(x) < 0.25
    safe, square = np.where(near, 1, x), (np.pi * np.where(near, x, 0)) ** 2
    # d/dx = (cos(pi x) - sinc(x)) / x, and beside 0 its series, as the two cancel there
    series = 1 - square / 10 * (1 - square / 28 * (1 - square / 54 * (1 - square / 88)))
    slope = np.where(near, -(np.pi**2) * x / 3 * series, (np.cos(np.pi * safe) - np.sinc(safe)) / safe)
    return (output_grad * slope).astype(x.dtype)


@unary("zoo_right_leaky", accepts="floating")
def leaky(x, slope: float = param(float, 0.25, run_time=True, doc="Slope below 0.")):
    """The data above 0, and a part of them below."""
    return np.where(x < 0, x * x.dtype.type(slope), x)


@leaky.gradient
def _(output_grad, x, slope):
    return output_grad * np.where(x < 0, x.dtype.type(slope), x.dtype.type(1))


ZOO = [
    Right(logit, "numbers between 0 and 1 only, and infinite at both ends"),
    Right(inverse_square, "a pole at 0"),
    Right(magnitude, "a kink at 0"),
    Right(rounded, "steps, of slope 0 almost everywhere"),
    Right(straight_through, "steps whose declared gradient is not theirs"),
    Right(without_nan, "NaN is replaced, and said so"),
    Right(ExclusiveOr, "booleans only"),
    Right(Choice, "a condition of booleans beside numbers"),
    Right(smooth_maximum, "both arguments stretched, and a sum back"),
    Right(distance, "a corner at the origin, where the gradient is 0 by choice"),
    Right(sinc, "a removable singularity"),
    Right(leaky, "a number that may change at every call"),
]
