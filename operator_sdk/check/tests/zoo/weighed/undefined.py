"""Faults of finite numbers that become none, though nothing but a word of the author could excuse it."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, operator
from operad_sdk.domains import Index, Real
from operator_sdk.check.tests.zoo.bases import Floating, InFloat64
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients


def _own_reference(name, spec):
    """Declare a function, in float64, as an operator and as the operator's reference."""
    return lambda function: operator(
        name,
        spec,
        accepts="floating",
        compute_dtype="float64",
        contract=Contract(reference=function),
    )(function)


def _softmax(data, mask):
    with np.errstate(all="ignore"):
        shown = np.where(mask, data, -np.inf)
        shown = np.exp(shown - shown.max(1, keepdims=True))
        return shown / shown.sum(1, keepdims=True)


@operator("zoo_all_masked")
class AllMasked(InFloat64):
    """A softmax of what is not masked."""

    spec = "data:(N, D + 1), mask:bool(N, D + 1) -> output:(N, D + 1)"
    contract = Contract(reference=_softmax)

    def forward(data, mask):
        return _softmax(data, mask)

    def data_grad(output_grad, output):
        return output * (output_grad - (output_grad * output).sum(1, keepdims=True))


@_own_reference("zoo_shares_of_nothing", "data:(N, D + 1) -> output:(N, D + 1)")
def shares_of_nothing(data):
    """Rows over their sums of magnitudes."""
    return data / abs(data).sum(1, keepdims=True)


@_own_reference("zoo_cosine_of_zero", "lhs:(N, D + 1), rhs:(N, D + 1) -> output:(N)")
def cosine_of_zero(lhs, rhs):
    """Cosines of the angles between rows."""
    return (lhs * rhs).sum(1) / np.sqrt((lhs * lhs).sum(1) * (rhs * rhs).sum(1))


@_own_reference("zoo_spread_of_one", "data:(N, D + 1) -> output:(N)")
def spread_of_one(data):
    """Unbiased variance of each row."""
    with np.errstate(all="ignore"):
        return ((data - data.mean(1, keepdims=True)) ** 2).sum(1) / np.float64(data.shape[1] - 1)


@_own_reference("zoo_weights_of_zero", "data:(N, D + 1), weight:(N, D + 1) -> output:(N)")
def weights_of_zero(data, weight):
    """A weighted mean of each row."""
    return (data * weight).sum(1) / (weight * weight).sum(1)


@_own_reference("zoo_entropy_of_zero", "data:(N, D + 1) -> output:(N)")
def entropy_of_zero(data):
    """Entropy of each row of magnitudes."""
    return -(abs(data) * np.log(abs(data))).sum(1)


@operator("zoo_empty_groups")
class EmptyGroups(InFloat64):
    """Means of groups of rows."""

    spec = "data:(N, D), group:int64(N), like:(K + 1) -> output:(K + 1, D)"
    contract = Contract(inputs={"group": Index(of="like")})

    def forward(data, group, output):
        output[...] = 0
        np.add.at(output, group, data)
        with np.errstate(all="ignore"):
            output /= np.bincount(group, minlength=len(output))[:, None]


@operator("zoo_length_zero_mean")
class LengthZeroMean(InFloat64):
    """Means of the first elements of rows, as many as a length says."""

    spec = "data:(N, D + 1), length:int64(N) -> output:(N)"
    contract = Contract(inputs={"length": Index(of="data", axis=1)})

    def forward(data, length):
        shown = np.arange(data.shape[1]) < length[:, None]
        with np.errstate(all="ignore"):
            return (data * shown).sum(1) / length


@_own_reference("zoo_rows_of_no_spread", "data:(N, D + 2) -> output:(N, D + 2)")
def standard_rows(data):
    """Rows of mean 0 and deviation 1."""
    with np.errstate(all="ignore"):
        return (data - data.mean(1, keepdims=True)) / data.std(1, keepdims=True)


@operator("zoo_slope_at_zero_length")
class SlopeAtZeroLength(InFloat64):
    """Distances of rows."""

    spec = "lhs:(N, D + 1), rhs:(N, D + 1) -> output:(N)"
    contract = Contract(reference=lambda lhs, rhs: np.sqrt(((lhs - rhs) ** 2).sum(1)))

    def forward(lhs, rhs):
        return np.sqrt(((lhs - rhs) ** 2).sum(1))

    def lhs_grad(output_grad, lhs, rhs, output):
        with np.errstate(all="ignore"):
            return (output_grad / output)[:, None] * (lhs - rhs)

    def rhs_grad(output_grad, lhs, rhs, output):
        with np.errstate(all="ignore"):
            return (output_grad / output)[:, None] * (rhs - lhs)


@operator("zoo_mean_of_chosen")
class MeanOfChosen(InFloat64):
    """Mean of the chosen elements."""

    spec = "data:(N, D + 1), chosen:bool(N, D + 1) -> output:(N)"

    def forward(data, chosen):
        with np.errstate(all="ignore"):
            return (data * chosen).sum(1) / chosen.sum(1)


@operator("zoo_ratio_to_largest")
class RatioToLargest(Floating):
    """Rows over their largest magnitude."""

    spec = "data:(N, D + 1) -> output:(N, D + 1)"

    def _ratio(data):
        with np.errstate(all="ignore"):
            return data / abs(data).max(1, keepdims=True)

    contract = Contract(reference=_ratio)

    def forward(data):
        return RatioToLargest._ratio(data)


@operator("zoo_logit_of_ends")
class SlopeOfRoot(InFloat64):
    """The root of the magnitude."""

    spec = "data:(N, D) -> output:(N, D)"
    contract = Contract(reference=lambda data: np.sqrt(abs(data)))

    def forward(data):
        return np.sqrt(abs(data))

    def data_grad(output_grad, data, output):
        with np.errstate(all="ignore"):
            return output_grad * np.sign(data) / (2 * output)


@operator("zoo_closed_interval")
class InverseSquare(InFloat64):
    """The distance of two positions to the power of -2, times its square."""

    spec = "lhs:(*S), rhs:(*S) -> output:(*S)"
    contract = Contract(inputs={"lhs": Real(-1.0, 1.0), "rhs": Real(-1.0, 1.0)})

    def forward(lhs, rhs):
        distance = lhs - rhs
        with np.errstate(all="ignore"):
            return distance * distance / (distance * distance)


ZOO = without_gradients(
    [
        Fault("F", AllMasked, "a row that is masked throughout"),
        Fault("F", shares_of_nothing, "a row of zeros"),
        Fault("F", cosine_of_zero, "a row of zeros has no angle"),
        Fault("F", spread_of_one, "rows of one element"),
        Fault("F", weights_of_zero, "weights that are all 0"),
        Fault("F", entropy_of_zero, "0 times the logarithm of 0"),
        Fault("F", EmptyGroups, "groups without rows"),
        Fault("F", LengthZeroMean, "a length of 0"),
        Fault("F", standard_rows, "rows without spread"),
        Fault("F", SlopeAtZeroLength, "the slope of a distance of 0"),
        Fault("F", MeanOfChosen, "rows of which nothing is chosen"),
        Fault("F", RatioToLargest, "a row of zeros"),
        Fault("F", SlopeOfRoot, "the slope of a root at 0 is 0 over 0"),
        Fault("F", InverseSquare, "equal positions"),
    ]
)
