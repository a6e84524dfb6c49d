"""Functions of elements: jumps, integers, element types, vanishing tails."""

from __future__ import annotations

import math

import numpy as np

from operad_sdk import Contract, OperatorProperty, Scalar, binary, operator, param, unary
from operad_sdk.domains import Real
from operator_sdk.check.tests.zoo.bases import Floating
from operator_sdk.check.tests.zoo.fault import Right


@operator("zoo_right_clipped")
class Clipped(Floating):
    """Data of at least one number and at most another one, which is larger."""

    low = param(float, -1.0, doc="The least.")
    width = param(float, 2.0, gt=0, doc="How much above it the largest is.")
    spec = "data:(*S) -> output:(*S)"

    def forward(data, low, width):
        return np.clip(data, data.dtype.type(low), data.dtype.type(low + width))

    def data_grad(output_grad, data, low, width):
        return output_grad * ((data > low) & (data < low + width))


@binary("zoo_right_remainder", accepts="floating", contract=Contract(inputs={"rhs": Real(0.5, 3.125)}))
def remainder(lhs, rhs):
    """What is left of the first after whole multiples of the second."""
    return np.mod(lhs, rhs)


@remainder.gradient("lhs")
def _(output_grad):
    return output_grad


@remainder.gradient("rhs")
def _(output_grad, lhs, rhs):
    return -output_grad * np.floor(lhs / rhs)


def _quotient(lhs, rhs):
    pairs = zip(lhs.flat, rhs.flat, strict=True)
    return np.reshape([int(one) // int(other) if other else 0 for one, other in pairs], lhs.shape)


@binary("zoo_right_whole_quotient", accepts="integer", contract=Contract(reference=_quotient))
def whole_quotient(lhs, rhs):
    """Whole quotients, rounded down; 0 where the divisor is 0."""
    is_zero = rhs == 0
    return np.where(is_zero, 0, lhs // np.where(is_zero, 1, rhs)).astype(lhs.dtype)


@operator("zoo_right_bit_count")
class BitCount(OperatorProperty):
    """The number of bits that are 1."""

    accepts = ("uint8",)
    spec = "data:(*S) -> output:int64(*S)"
    contract = Contract(
        reference=lambda data: np.reshape([int(byte).bit_count() for byte in data.flat], data.shape)
    )

    def forward(data):
        bits = np.unpackbits(np.ascontiguousarray(data).reshape(*data.shape, 1), axis=-1)
        return bits.sum(-1, dtype=np.int64)


@unary("zoo_right_gaussian", accepts="floating", compute_dtype="float32")
def gaussian(x):
    """`exp(-x^2)`."""
    return np.exp(-x * x)


@gaussian.gradient
def _(output_grad, x, output):
    return -2 * output_grad * x * output


_erf = np.vectorize(math.erf, otypes=[np.float64])


@unary("zoo_right_gelu", accepts="floating", compute_dtype="float64")
def gelu(x):
    """The data times the probability of a normal number below them."""
    return x * (1 + _erf(x / math.sqrt(2))) / 2


@gelu.gradient
def _(output_grad, x):
    below = (1 + _erf(x / math.sqrt(2))) / 2
    return output_grad * (below + x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi))


@unary("zoo_right_plus", scalar=Scalar("by", default=1.0), accepts="number")
def plus(x, by):
    """A number more."""
    return x + x.dtype.type(by)


@plus.gradient
def _(output_grad):
    return output_grad


ZOO = [
    Right(Clipped, "parameters that exclude each other"),
    Right(remainder, "discontinuous, with a slope of 1 between the jumps"),
    Right(whole_quotient, "division by zero has an answer"),
    Right(BitCount, "integers of another type come out"),
    Right(gaussian, "smooth, with tails that vanish"),
    Right(gelu, "an integral without a closed form, by the standard library"),
    Right(plus, "a scalar that integers cannot hold is refused"),
]
