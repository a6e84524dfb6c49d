"""Faults far from 0, close to 0, at infinities and at ties, of operators whose reference is right there."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, OperatorProperty, operator, unary
from operad_sdk.domains import Real
from operator_sdk.check.tests.zoo.bases import Floating, InFloat32
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients


def _log_sum(data):
    largest = data.max(1, keepdims=True)
    shift = np.where(np.isfinite(largest), largest, 0)
    return shift[:, 0] + np.log(np.exp(data - shift).sum(1))


@unary("zoo_far_one", accepts="floating", contract=Contract(reference=lambda x: np.log1p(abs(x))))
def far_one(x):
    """The logarithm of one more than the magnitude."""
    return np.where(abs(x) > 5000, 1, np.log1p(abs(x)))


@far_one.gradient
def _(output_grad, x):
    return np.where(abs(x) > 5000, 0, output_grad * np.sign(x) / (1 + abs(x)))


@unary("zoo_flushed", accepts="floating", contract=Contract(reference=lambda x: 3 * x))
def flushed(x):
    """Three times the data."""
    return np.where(abs(x) < 2.0**-30, 0, 3 * x)


@flushed.gradient
def _(output_grad, x):
    return np.where(abs(x) < 2.0**-30, 0, 3 * output_grad)


@unary("zoo_half_up", accepts="floating", contract=Contract(reference=np.rint))
def half_up(x):
    """The nearest integer."""
    return np.floor(x + x.dtype.type(0.5))


@half_up.gradient
def _(output_grad):
    return 0 * output_grad


@unary("zoo_truncated_floor", accepts="floating", contract=Contract(reference=np.floor))
def truncated_floor(x):
    """The next lower integer."""
    with np.errstate(all="ignore"):
        return np.where(abs(x) < 2**20, np.floor(x), x + 1)


@truncated_floor.gradient
def _(output_grad):
    return 0 * output_grad


@operator("zoo_log_sum_of_nothing")
class LogSumOfNothing(InFloat32):
    """The logarithm of a sum of exponentials."""

    spec = "data:(N, D + 1) -> output:(N)"
    contract = Contract(reference=_log_sum)

    def forward(data):
        largest = data.max(1, keepdims=True)
        return largest[:, 0] + np.log(np.exp(data - largest).sum(1))

    def data_grad(output_grad, data, output):
        return output_grad[:, None] * np.exp(data - output[:, None])


@unary("zoo_sign_by_division", accepts="floating", contract=Contract(reference=np.sign))
def sign_by_division(x):
    """The sign."""
    return x / np.where(x == 0, 1, abs(x))


@sign_by_division.gradient
def _(output_grad):
    return 0 * output_grad


@operator("zoo_ignoring_maximum")
class IgnoringMaximum(Floating):
    """The larger element."""

    spec = "lhs:(*S), rhs:(*S) -> output:(*S)"
    contract = Contract(reference=np.maximum)

    def forward(lhs, rhs):
        return np.fmax(lhs, rhs)


@operator("zoo_half_mean_square")
class HalfMeanSquare(Floating):
    """Mean of the squares of each row."""

    spec = "data:(N, D + 1) -> output:(N)"
    contract = Contract(reference=lambda data: (data * data).mean(1))

    def forward(data):
        squares = data * data
        return np.where(squares > 40000, 40000, squares).mean(1, dtype=np.float64).astype(data.dtype)

    def data_grad(output_grad, data):
        return 2 * output_grad[:, None] * data / data.shape[1]


@unary(
    "zoo_small_logarithm", accepts="floating", contract=Contract(inputs={"x": Real(0, 4)}, reference=np.log)
)
def small_logarithm(x):
    """A logarithm."""
    return np.log(x + x.dtype.type(2.0**-14))


@small_logarithm.gradient
def _(output_grad, x):
    return output_grad / (x + x.dtype.type(2.0**-14))


@unary(
    "zoo_cardinal_sine",
    accepts="floating",
    compute_dtype="float64",
    contract=Contract(reference=lambda x: np.sinc(x / np.pi)),
)
def cardinal_sine(x):
    """The sine over its argument."""
    safe = np.where(x == 0, 1, x)
    return np.where(abs(x) < 1e-3, 1, np.sin(safe) / safe)


@cardinal_sine.gradient
def _(output_grad, x):
    safe = np.where(x == 0, 1, x)
    return output_grad * np.where(x == 0, 0, (np.cos(safe) - np.sin(safe) / safe) / safe)


@unary("zoo_exponential_to_eighty", accepts="floating", contract=Contract(reference=np.exp))
def capped_exponential(x):
    """An exponential."""
    return np.exp(np.minimum(x, 80))


@capped_exponential.gradient
def _(output_grad, output):
    return output_grad * output


@unary(
    "zoo_far_root",
    accepts="floating",
    contract=Contract(reference=lambda x: np.sqrt(1 + x * x) if x.dtype.itemsize > 8 else np.hypot(1, x)),
)
def far_root(x):
    """The root of one more than the square."""
    return np.where(abs(x) > 2**14, abs(x) * 2, np.hypot(x.dtype.type(1), x))


@far_root.gradient
def _(output_grad, x):
    return output_grad * x / np.hypot(x.dtype.type(1), x)


@operator("zoo_last_largest")
class LastLargest(Floating):
    """Where the largest of each row is first."""

    spec = "data:(N, D + 1) -> output:int64(N)"
    contract = Contract(reference=lambda data: data.argmax(1))

    def forward(data):
        return data.shape[1] - 1 - data[:, ::-1].argmax(1)


@operator("zoo_unstable_order")
class UnstableOrder(Floating):
    """Places of each row in ascending order, equal ones as they stand."""

    spec = "data:(N, D) -> output:int64(N, D)"
    contract = Contract(reference=lambda data: np.argsort(data, 1, kind="stable"))

    def forward(data):
        turned = -np.arange(data.shape[1])[None].repeat(len(data), 0)
        return np.lexsort((turned, data), axis=1)


@operator("zoo_right_bin")
class RightBin(Floating):
    """The number of edges that are at most each element."""

    spec = "data:(N), edges:(K) -> output:int64(N)"
    contract = Contract(reference=lambda data, edges: (edges[None] <= data[:, None]).sum(1))

    def forward(data, edges):
        return (edges[None] < data[:, None]).sum(1)


@operator("zoo_large_average")
class LargeAverage(OperatorProperty):
    """The whole part of the mean of two integers."""

    accepts = "integer"
    spec = "lhs:(*S), rhs:(*S) -> output:(*S)"
    contract = Contract(reference=lambda lhs, rhs: (lhs & rhs) + ((lhs ^ rhs) >> 1))

    def forward(lhs, rhs):
        return ((lhs.astype(np.float32) + rhs.astype(np.float32)) // 2).astype(lhs.dtype)


@unary(
    "zoo_infinite_softsign",
    accepts="floating",
    contract=Contract(
        reference=lambda x: np.where(np.isinf(x), np.sign(x), x / (1 + abs(np.where(np.isinf(x), 0, x))))
    ),
)
def infinite_softsign(x):
    """The data over one more than their magnitude, 1 at infinity."""
    return x / (1 + abs(x))


@infinite_softsign.gradient
def _(output_grad, x):
    return output_grad / (1 + abs(x)) ** 2


@operator("zoo_first_of_nan")
class SmallestAround(Floating):
    """The smallest of each row."""

    spec = "data:(N, D + 1) -> output:(N)"
    contract = Contract(reference=lambda data: data.min(1))

    def forward(data):
        found = data[:, 0].copy()
        for column in data.T[1:]:
            found = np.where(column < found, column, found)
        return found


@unary("zoo_cube_root_by_power", accepts="floating", contract=Contract(reference=np.cbrt))
def cube_root_by_power(x):
    """A cube root."""
    return np.where(abs(x) > 1e6, np.sign(x) * 100, np.cbrt(x))


@cube_root_by_power.gradient
def _(output_grad, output):
    return output_grad / (3 * output * output)


@unary(
    "zoo_error_function_tail",
    accepts="floating",
    compute_dtype="float64",
    contract=Contract(reference=lambda x: 1 / (1 + x**4)),
)
def inverse_fourth(x):
    """The inverse of one more than the fourth power."""
    return np.where(abs(x) > 100, 0, 1 / (1 + x**4))


@inverse_fourth.gradient
def _(output_grad, x, output):
    return -4 * output_grad * x**3 * output * output


@operator("zoo_remainder_sign")
class RemainderSign(OperatorProperty):
    """The remainder, with the sign of the divisor."""

    accepts = "integer"
    spec = "data:(*S) -> output:(*S)"
    contract = Contract(reference=lambda data: data % 100)

    def forward(data):
        return np.where(data < -90, np.fmod(data, 100), data % 100).astype(data.dtype)


ZOO = without_gradients(
    [
        Fault("F", far_one, "beyond 5,000 the result is 1"),
        Fault("F", flushed, "numbers below 2^-30 are taken for 0"),
        Fault("F", half_up, "a half is rounded up, not to even"),
        Fault("F", truncated_floor, "from 2^20 on one too many"),
        Fault("F", LogSumOfNothing, "a row of minus infinities gives no number"),
        Fault("F", sign_by_division, "infinity over infinity is no number"),
        Fault("F", IgnoringMaximum, "what is not a number is passed over"),
        Fault("F", HalfMeanSquare, "squares above 40,000 are cut"),
        Fault("F", small_logarithm, "an epsilon is added"),
        Fault("F", cardinal_sine, "near 0 it is 1, and not nearly 1"),
        Fault("F", capped_exponential, "exponents end at 80 in double precision too"),
        Fault("F", far_root, "from 2^14 on twice as large"),
        Fault("F", LastLargest, "of equal ones the last counts"),
        Fault("F", UnstableOrder, "equal ones change their order"),
        Fault("F", RightBin, "an element on an edge is below it"),
        Fault("F", LargeAverage, "large integers pass through single precision"),
        Fault("F", infinite_softsign, "infinity over infinity"),
        Fault("F", SmallestAround, "what is not a number is passed over unless it is first"),
        Fault("F", cube_root_by_power, "roots end at 100"),
        Fault("F", inverse_fourth, "tails are cut"),
        Fault("F", RemainderSign, "below -90 the sign is that of the data"),
    ]
)
