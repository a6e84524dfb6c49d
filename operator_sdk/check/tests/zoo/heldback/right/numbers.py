"""Functions of elements: jumps, integers, element types, vanishing tails."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, binary, operator, param, unary
from operad_sdk.domains import Integers
from operator_sdk.check.tests.zoo.bases import Floating
from operator_sdk.check.tests.zoo.fault import Right


@binary(
    "zoo_right_saturated_sum",
    accepts=("uint8",),
    contract=Contract(
        reference=lambda lhs, rhs: np.minimum(lhs.astype(int) + rhs, 255).astype(np.uint8),
        inputs={"lhs": Integers(0, 255), "rhs": Integers(0, 255)},
    ),
)
def saturated_sum(lhs, rhs):
    """A sum of at most 255."""
    return np.where(lhs > 255 - rhs, np.uint8(255), lhs + rhs)


@binary("zoo_right_common_divisor", accepts=("int32", "int64"), contract=Contract(reference=np.gcd))
def common_divisor(lhs, rhs):
    """The largest number that divides both; 0 of two zeros."""
    return np.gcd(lhs, rhs)


@operator("zoo_right_as_type")
class AsType(Floating):
    """The data as another type."""

    dtype = param("dtype", "float32", doc="The type.", choices=("float32", "float64"))
    spec = "data:(*S) -> output:dtype(*S)"

    def forward(data, output):
        output[...] = data

    def data_grad(output_grad, data_grad):
        data_grad[...] = output_grad


@unary(
    "zoo_right_single_only",
    accepts=("float32",),
    contract=Contract(
        no_numeric_gradient="the library computes in single precision only", reference=lambda x: x**2
    ),
)
def single_only(x):
    """The square, in single precision."""
    return x * x


@single_only.gradient
def _(output_grad, x):
    return 2 * output_grad * x


@unary("zoo_right_mish", accepts="floating", compute_dtype="float32")
def mish(x):
    """`x tanh(log(1 + exp(x)))`."""
    return x * np.tanh(np.logaddexp(x, 0).astype(x.dtype))


@mish.gradient
def _(output_grad, x):
    inner = np.tanh(np.logaddexp(x, 0))
    logistic = (1 + np.tanh(x / 2)) / 2
    return output_grad * (inner + x * (1 - inner * inner) * logistic)


ZOO = [
    Right(saturated_sum, "what overflows is cut, and said so by a reference"),
    Right(common_divisor, "greatest common divisors"),
    Right(AsType, "a type that a parameter gives"),
    Right(single_only, "one element type only"),
    Right(mish, "large numbers in both directions"),
]
