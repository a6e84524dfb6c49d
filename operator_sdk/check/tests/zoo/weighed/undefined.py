"""Faults of finite numbers that become none, though nothing but a word of the author could excuse it."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, OperatorProperty, operator
from operad_sdk.domains import Index, Real
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients


def _softmax(data, mask):
    with np.errstate(all="ignore"):
        shown = np.where(mask, data, -np.inf)
        shown = np.exp(shown - shown.max(1, keepdims=True))
        return shown / shown.sum(1, keepdims=True)


@operator("zoo_all_masked")
class AllMasked(OperatorProperty):
    """A softmax of what is not masked."""

    accepts = "floating"
    compute_dtype = "float64"
    spec = "data:(N, D + 1), mask:bool(N, D + 1) -> output:(N, D + 1)"
    contract = Contract(reference=_softmax)

    def forward(data, mask):
        return _softmax(data, mask)

    def data_grad(output_grad, output):
        return output * (output_grad - (output_grad * output).sum(1, keepdims=True))


@operator("zoo_shares_of_nothing")
class SharesOfNothing(OperatorProperty):
    """Rows over their sums of magnitudes."""

    accepts = "floating"
    compute_dtype = "float64"
    spec = "data:(N, D + 1) -> output:(N, D + 1)"
    has_gradient = False
    contract = Contract(reference=lambda data: data / abs(data).sum(1, keepdims=True))

    def forward(data):
        return data / abs(data).sum(1, keepdims=True)


@operator("zoo_cosine_of_zero")
class CosineOfZero(OperatorProperty):
    """Cosines of the angles between rows."""

    accepts = "floating"
    compute_dtype = "float64"
    spec = "lhs:(N, D + 1), rhs:(N, D + 1) -> output:(N)"
    has_gradient = False

    def _cosine(lhs, rhs):
        return (lhs * rhs).sum(1) / np.sqrt((lhs * lhs).sum(1) * (rhs * rhs).sum(1))

    contract = Contract(reference=_cosine)

    def forward(lhs, rhs):
        return CosineOfZero._cosine(lhs, rhs)


@operator("zoo_spread_of_one")
class SpreadOfOne(OperatorProperty):
    """Unbiased variance of each row."""

    accepts = "floating"
    compute_dtype = "float64"
    spec = "data:(N, D + 1) -> output:(N)"
    has_gradient = False

    def _spread(data):
        with np.errstate(all="ignore"):
            return ((data - data.mean(1, keepdims=True)) ** 2).sum(1) / np.float64(data.shape[1] - 1)

    contract = Contract(reference=_spread)

    def forward(data):
        return SpreadOfOne._spread(data)


@operator("zoo_weights_of_zero")
class WeightsOfZero(OperatorProperty):
    """A weighted mean of each row."""

    accepts = "floating"
    compute_dtype = "float64"
    spec = "data:(N, D + 1), weight:(N, D + 1) -> output:(N)"
    has_gradient = False

    def _mean(data, weight):
        return (data * weight).sum(1) / (weight * weight).sum(1)

    contract = Contract(reference=_mean)

    def forward(data, weight):
        return WeightsOfZero._mean(data, weight)


@operator("zoo_entropy_of_zero")
class EntropyOfZero(OperatorProperty):
    """Entropy of each row of magnitudes."""

    accepts = "floating"
    compute_dtype = "float64"
    spec = "data:(N, D + 1) -> output:(N)"
    has_gradient = False

    def _entropy(data):
        return -(abs(data) * np.log(abs(data))).sum(1)

    contract = Contract(reference=_entropy)

    def forward(data):
        return EntropyOfZero._entropy(data)


@operator("zoo_empty_groups")
class EmptyGroups(OperatorProperty):
    """Means of groups of rows."""

    accepts = "floating"
    compute_dtype = "float64"
    spec = "data:(N, D), group:int64(N), like:(K + 1) -> output:(K + 1, D)"
    has_gradient = False
    contract = Contract(inputs={"group": Index(of="like")})

    def forward(data, group, output):
        output[...] = 0
        np.add.at(output, group, data)
        with np.errstate(all="ignore"):
            output /= np.bincount(group, minlength=len(output))[:, None]


@operator("zoo_length_zero_mean")
class LengthZeroMean(OperatorProperty):
    """Means of the first elements of rows, as many as a length says."""

    accepts = "floating"
    compute_dtype = "float64"
    spec = "data:(N, D + 1), length:int64(N) -> output:(N)"
    has_gradient = False
    contract = Contract(inputs={"length": Index(of="data", axis=1)})

    def forward(data, length):
        shown = np.arange(data.shape[1]) < length[:, None]
        with np.errstate(all="ignore"):
            return (data * shown).sum(1) / length


@operator("zoo_rows_of_no_spread")
class StandardRows(OperatorProperty):
    """Rows of mean 0 and deviation 1."""

    accepts = "floating"
    compute_dtype = "float64"
    spec = "data:(N, D + 2) -> output:(N, D + 2)"
    has_gradient = False

    def _standard(data):
        with np.errstate(all="ignore"):
            return (data - data.mean(1, keepdims=True)) / data.std(1, keepdims=True)

    contract = Contract(reference=_standard)

    def forward(data):
        return StandardRows._standard(data)


@operator("zoo_slope_at_zero_length")
class SlopeAtZeroLength(OperatorProperty):
    """Distances of rows."""

    accepts = "floating"
    compute_dtype = "float64"
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
class MeanOfChosen(OperatorProperty):
    """Mean of the chosen elements."""

    accepts = "floating"
    compute_dtype = "float64"
    spec = "data:(N, D + 1), chosen:bool(N, D + 1) -> output:(N)"
    has_gradient = False

    def forward(data, chosen):
        with np.errstate(all="ignore"):
            return (data * chosen).sum(1) / chosen.sum(1)


@operator("zoo_ratio_to_largest")
class RatioToLargest(OperatorProperty):
    """Rows over their largest magnitude."""

    accepts = "floating"
    spec = "data:(N, D + 1) -> output:(N, D + 1)"
    has_gradient = False

    def _ratio(data):
        with np.errstate(all="ignore"):
            return data / abs(data).max(1, keepdims=True)

    contract = Contract(reference=_ratio)

    def forward(data):
        return RatioToLargest._ratio(data)


@operator("zoo_logit_of_ends")
class SlopeOfRoot(OperatorProperty):
    """The root of the magnitude."""

    accepts = "floating"
    compute_dtype = "float64"
    spec = "data:(N, D) -> output:(N, D)"
    contract = Contract(reference=lambda data: np.sqrt(abs(data)))

    def forward(data):
        return np.sqrt(abs(data))

    def data_grad(output_grad, data, output):
        with np.errstate(all="ignore"):
            return output_grad * np.sign(data) / (2 * output)


@operator("zoo_closed_interval")
class InverseSquare(OperatorProperty):
    """The distance of two positions to the power of -2, times its square."""

    accepts = "floating"
    compute_dtype = "float64"
    spec = "lhs:(*S), rhs:(*S) -> output:(*S)"
    has_gradient = False
    contract = Contract(inputs={"lhs": Real(-1.0, 1.0), "rhs": Real(-1.0, 1.0)})

    def forward(lhs, rhs):
        distance = lhs - rhs
        with np.errstate(all="ignore"):
            return distance * distance / (distance * distance)


ZOO = without_gradients(
    [
        Fault("F", AllMasked, "a row that is masked throughout"),
        Fault("F", SharesOfNothing, "a row of zeros"),
        Fault("F", CosineOfZero, "a row of zeros has no angle"),
        Fault("F", SpreadOfOne, "rows of one element"),
        Fault("F", WeightsOfZero, "weights that are all 0"),
        Fault("F", EntropyOfZero, "0 times the logarithm of 0"),
        Fault("F", EmptyGroups, "groups without rows"),
        Fault("F", LengthZeroMean, "a length of 0"),
        Fault("F", StandardRows, "rows without spread"),
        Fault("F", SlopeAtZeroLength, "the slope of a distance of 0"),
        Fault("F", MeanOfChosen, "rows of which nothing is chosen"),
        Fault("F", RatioToLargest, "a row of zeros"),
        Fault("F", SlopeOfRoot, "the slope of a root at 0 is 0 over 0"),
        Fault("F", InverseSquare, "equal positions"),
    ]
)
