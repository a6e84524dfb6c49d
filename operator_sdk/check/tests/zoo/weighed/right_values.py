"""Right operators at ends, ties, infinities and roundings."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, binary, operator, param, unary
from operad_sdk.domains import Index, Real
from operator_sdk.check.tests.zoo.bases import Floating, InFloat32, InFloat64
from operator_sdk.check.tests.zoo.fault import Right
from operator_sdk.check.tests.zoo.forwards import RunningMaximum


@operator("zoo_right_rms_norm")
class RmsNorm(InFloat64):
    """Rows over the root of their mean square."""

    eps = param(float, 1e-6, ge=0, doc="Added to the mean square.")
    spec = "data:(N, D + 1), scale:(D + 1) -> output:(N, D + 1)"
    contract = Contract(params={"eps": (1e-6, 1e-3)}, narrowed={"eps": "0 divides rows of zeros by 0"})

    def forward(data, scale, eps):
        return data / np.sqrt((data * data).mean(1, keepdims=True) + eps) * scale

    def data_grad(output_grad, data, scale, eps):
        inverse = 1 / np.sqrt((data * data).mean(1, keepdims=True) + eps)
        flow = output_grad * scale
        return flow * inverse - data * inverse**3 * (flow * data).mean(1, keepdims=True)

    def scale_grad(output_grad, data, eps):
        return (output_grad * data / np.sqrt((data * data).mean(1, keepdims=True) + eps)).sum(0)


@operator("zoo_right_shifted_norm")
class ShiftedNorm(InFloat32):
    """Length of each row, and 1."""

    spec = "data:(N, D + 1) -> output:(N)"

    def forward(data):
        return np.sqrt((data * data).sum(1)) + 1

    def data_grad(output_grad, data):
        length = np.sqrt((data * data).sum(1))
        return (output_grad / np.where(length == 0, 1, length))[:, None] * data


@operator("zoo_right_less_norm")
class LessNorm(InFloat64):
    """A number less the length of each row."""

    spec = "data:(N, D + 1) -> output:(N)"

    def forward(data):
        return 2 - np.sqrt((data * data).sum(1) + 1)

    def data_grad(output_grad, data):
        return -(output_grad / np.sqrt((data * data).sum(1) + 1))[:, None] * data


@unary("zoo_right_softplus_branch", accepts="floating", compute_dtype="float64")
def softplus_branch(x):
    """The logarithm of one more than an exponential."""
    if (x > 20).any():
        return np.where(x > 20, x + np.exp(-np.maximum(x, 20)), np.log1p(np.exp(np.minimum(x, 20))))
    return np.log1p(np.exp(x))


@softplus_branch.gradient
def _(output_grad, x):
    return output_grad / (1 + np.exp(-np.maximum(x, -80)))


@operator("zoo_right_log_sum_of_infinities")
class LogSum(InFloat64):
    """The logarithm of a sum of exponentials, of infinities too."""

    spec = "data:(N, D + 1) -> output:(N)"

    def _log_sum(data):
        largest = data.max(1, keepdims=True)
        shift = np.where(np.isfinite(largest), largest, 0)
        with np.errstate(all="ignore"):
            return shift[:, 0] + np.log(np.exp(data - shift).sum(1))

    contract = Contract(reference=_log_sum)

    def forward(data):
        return LogSum._log_sum(data)

    def data_grad(output_grad, data, output):
        safe = np.where(np.isfinite(output), output, 0)[:, None]
        return output_grad[:, None] * np.exp(data - safe)


@unary("zoo_right_to_even", accepts="floating", contract=Contract(reference=np.rint))
def to_even(x):
    """The nearest integer, of two the even one."""
    return np.rint(x)


@to_even.gradient
def _(output_grad):
    return 0 * output_grad


@unary(
    "zoo_right_softsign",
    accepts="floating",
    contract=Contract(
        reference=lambda x: np.where(np.isinf(x), np.sign(x), x / (1 + abs(np.where(np.isinf(x), 0, x))))
    ),
)
def softsign(x):
    """The data over one more than their magnitude; at infinity its limit."""
    safe = np.where(np.isinf(x), 0, x)
    return np.where(np.isinf(x), np.sign(x), safe / (1 + abs(safe)))


@softsign.gradient
def _(output_grad, x):
    return output_grad / (1 + abs(x)) ** 2


@unary("zoo_right_log_magnitude", accepts="floating", contract=Contract(reference=lambda x: np.log1p(abs(x))))
def log_magnitude(x):
    """The logarithm of one more than the magnitude."""
    return np.log1p(abs(x))


@log_magnitude.gradient
def _(output_grad, x):
    return output_grad * np.sign(x) / (1 + abs(x))


@unary("zoo_right_cube", accepts="floating", contract=Contract(reference=lambda x: x * x * x))
def cube(x):
    """The third power."""
    return x * x * x


@cube.gradient
def _(output_grad, x):
    return 3 * output_grad * x * x


@binary(
    "zoo_right_average_of_whole",
    accepts="integer",
    contract=Contract(reference=lambda lhs, rhs: (lhs + rhs) // 2),
)
def average_of_whole(lhs, rhs):
    """The whole part of the mean of two integers, whose sum may leave their type."""
    return (lhs & rhs) + ((lhs ^ rhs) >> 1)


@binary("zoo_right_sum_that_saturates", accepts="integer")
def sum_that_saturates(lhs, rhs):
    """A sum that stays at the ends of its type."""
    ends = np.iinfo(lhs.dtype)
    with np.errstate(all="ignore"):
        total = lhs + rhs
    over = (rhs > 0) & (total < lhs)
    under = (rhs < 0) & (total > lhs)
    return np.where(over, ends.max, np.where(under, ends.min, total)).astype(lhs.dtype)


sum_that_saturates.contract = Contract(
    reference=lambda lhs, rhs: np.clip(
        lhs.astype(object) + rhs.astype(object), np.iinfo(lhs.dtype).min, np.iinfo(lhs.dtype).max
    ).astype(lhs.dtype)
)


@operator("zoo_right_first_largest_place")
class FirstLargestPlace(Floating):
    """Where the largest of each row is first."""

    spec = "data:(N, D + 1) -> output:int64(N)"
    contract = Contract(reference=lambda data: data.argmax(1))

    def forward(data):
        return data.argmax(1)


@operator("zoo_right_stable_order")
class StableOrder(Floating):
    """Places of each row in ascending order."""

    spec = "data:(N, D) -> output:int64(N, D)"
    contract = Contract(reference=lambda data: np.argsort(data, 1, kind="stable"))

    def forward(data):
        return np.argsort(data, 1, kind="stable")


@operator("zoo_right_variance_by_moments")
class CentredProduct(InFloat64):
    """Two columns less their means, multiplied."""

    spec = "lhs:(N + 1), rhs:(N + 1) -> output:(1)"

    def forward(lhs, rhs):
        return ((lhs - lhs.mean()) * (rhs - rhs.mean())).sum(keepdims=True)

    def lhs_grad(output_grad, rhs):
        return output_grad * (rhs - rhs.mean())

    def rhs_grad(output_grad, lhs):
        return output_grad * (lhs - lhs.mean())


@operator("zoo_right_cross_product")
class CrossProduct(InFloat64):
    """Determinant of two vectors of two."""

    spec = "lhs:(N, 2), rhs:(N, 2) -> output:(N)"

    def forward(lhs, rhs):
        return lhs[:, 0] * rhs[:, 1] - lhs[:, 1] * rhs[:, 0]

    def lhs_grad(output_grad, rhs):
        return output_grad[:, None] * np.stack([rhs[:, 1], -rhs[:, 0]], 1)

    def rhs_grad(output_grad, lhs):
        return output_grad[:, None] * np.stack([-lhs[:, 1], lhs[:, 0]], 1)


@operator("zoo_right_ends_of_interval")
class Logit(InFloat64):
    """The logarithm of odds."""

    spec = "data:(*S) -> output:(*S)"
    contract = Contract(
        inputs={"data": Real(0.0, 1.0)}, reference=lambda data: np.log(data) - np.log1p(-data)
    )

    def forward(data):
        return np.log(data) - np.log1p(-data)

    def data_grad(output_grad, data):
        return output_grad / (data * (1 - data))


@operator("zoo_right_capped_loss")
class Huber(InFloat64):
    """Half a square, and linear beyond a distance."""

    delta = param(float, 1.0, gt=0, doc="That distance.")
    spec = "data:(*S) -> output:(*S)"
    contract = Contract(
        reference=lambda data, delta: np.where(
            abs(data) <= delta, data * data / 2, delta * (abs(data) - delta / 2)
        )
    )

    def forward(data, delta):
        inside = np.clip(data, -delta, delta)
        return inside * (data - inside / 2)

    def data_grad(output_grad, data, delta):
        return output_grad * np.clip(data, -delta, delta)


@operator("zoo_right_masked_softmax")
class MaskedSoftmax(InFloat64):
    """A softmax of what is not masked; zeros where everything is."""

    spec = "data:(N, D + 1), mask:bool(N, D + 1) -> output:(N, D + 1)"

    def forward(data, mask):
        shown = np.where(mask, data, -np.inf)
        largest = shown.max(1, keepdims=True)
        weights = np.exp(shown - np.where(np.isfinite(largest), largest, 0))
        total = weights.sum(1, keepdims=True)
        return weights / np.where(total == 0, 1, total)

    def data_grad(output_grad, output):
        return output * (output_grad - (output_grad * output).sum(1, keepdims=True))


@operator("zoo_right_group_means")
class GroupMeans(InFloat64):
    """Means of groups of rows; 0 where there are none."""

    spec = "data:(N, D), group:int64(N), like:(K + 1) -> output:(K + 1, D)"
    contract = Contract(inputs={"group": Index(of="like")})

    def forward(data, group, output):
        output[...] = 0
        np.add.at(output, group, data)
        output /= np.maximum(np.bincount(group, minlength=len(output)), 1)[:, None]

    def data_grad(output_grad, group):
        counts = np.bincount(group, minlength=len(output_grad))
        return output_grad[group] / counts[group][:, None]

    def like_grad(output_grad, like_grad):
        like_grad[...] = 0


@operator("zoo_right_sample_variance")
class SampleVariance(InFloat64):
    """Unbiased variance of each row; no number for rows of one element."""

    spec = "data:(N, D + 2) -> output:(N)"
    contract = Contract(reference=lambda data: data.var(1, ddof=1))

    def forward(data):
        return ((data - data.mean(1, keepdims=True)) ** 2).sum(1) / (data.shape[1] - 1)

    def data_grad(output_grad, data):
        return 2 * output_grad[:, None] * (data - data.mean(1, keepdims=True)) / (data.shape[1] - 1)


@unary("zoo_right_logarithm_of_any", accepts="floating", contract=Contract(reference=np.log))
def logarithm_of_any(x):
    """A logarithm, no number below 0."""
    with np.errstate(all="ignore"):
        return np.log(x)


@logarithm_of_any.gradient
def _(output_grad, x):
    with np.errstate(all="ignore"):
        return output_grad / x


@binary("zoo_right_hypotenuse", accepts="floating", contract=Contract(reference=np.hypot))
def hypotenuse(lhs, rhs):
    """A length."""
    return np.hypot(lhs, rhs)


@hypotenuse.gradient
def _(output_grad, lhs, rhs, output):
    safe = np.where(output == 0, 1, output)
    return output_grad * (lhs / safe), output_grad * (rhs / safe)


@unary("zoo_right_self_gated", accepts="floating", compute_dtype="float64")
def gated(x):
    """The data times their logistic function."""
    return x / (1 + np.exp(-np.maximum(x, -700)))


@gated.gradient
def _(output_grad, x):
    gate = 1 / (1 + np.exp(-np.maximum(x, -700)))
    return output_grad * gate * (1 + x * (1 - gate))


@operator("zoo_right_largest_so_far")
class LargestSoFar(RunningMaximum):
    """The largest so far; the first of equal ones gets the gradient."""

    def data_grad(output_grad, output, data_grad):
        is_new = np.concatenate([[True], output[1:] > output[:-1]])
        source = np.maximum.accumulate(np.where(is_new, np.arange(len(output)), 0))
        data_grad[...] = 0
        np.add.at(data_grad, source, output_grad)


@binary(
    "zoo_right_remainder_by_seven",
    accepts="integer",
    contract=Contract(reference=lambda lhs, rhs: lhs % 7 + 0 * rhs),
)
def remainder(lhs, rhs):
    """The remainder by 7."""
    return lhs % lhs.dtype.type(7) + lhs.dtype.type(0) * rhs


@operator("zoo_right_bins")
class Bins(Floating):
    """The number of edges that are at most each element."""

    spec = "data:(N), edges:(K) -> output:int64(N)"
    contract = Contract(reference=lambda data, edges: (edges[None] <= data[:, None]).sum(1))

    def forward(data, edges):
        return (edges[None] <= data[:, None]).sum(1)


@operator("zoo_right_first_of_row")
class LeastOfRow(Floating):
    """The smallest of each row, no number where one is none."""

    spec = "data:(N, D + 1) -> output:(N)"
    contract = Contract(reference=lambda data: data.min(1))

    def forward(data):
        return data.min(1)

    def data_grad(output_grad, data, data_grad):
        data_grad[...] = 0
        np.put_along_axis(data_grad, data.argmin(1)[:, None], output_grad[:, None], 1)


ZOO = [
    Right(RmsNorm, "a textbook normalisation, whose gradient cancels"),
    Right(ShiftedNorm, "a length and 1"),
    Right(LessNorm, "a number less a length, which cancels"),
    Right(softplus_branch, "a branch that only large values enter"),
    Right(LogSum, "rows of minus infinities"),
    Right(to_even, "halves are rounded to even"),
    Right(softsign, "its limit at infinity"),
    Right(log_magnitude, "a logarithm far from 0"),
    Right(cube, "cubes overflow in half precision"),
    Right(average_of_whole, "a mean of integers whose sum would wrap"),
    Right(sum_that_saturates, "integers that stay at the ends"),
    Right(FirstLargestPlace, "the first of equal ones"),
    Right(StableOrder, "equal ones keep their order"),
    Right(CentredProduct, "a sum of products that cancels exactly"),
    Right(CrossProduct, "a difference of products"),
    Right(Logit, "ends of an interval"),
    Right(Huber, "a kink that is none, a parameter of any size"),
    Right(MaskedSoftmax, "zeros where everything is masked"),
    Right(GroupMeans, "zeros where there are no rows"),
    Right(SampleVariance, "two elements at least"),
    Right(logarithm_of_any, "no number below 0, by nature"),
    Right(hypotenuse, "a length that does not overflow"),
    Right(gated, "saturates at both ends"),
    Right(LargestSoFar, "ties over a row"),
    Right(remainder, "integers of every type"),
    Right(Bins, "edges that are elements"),
    Right(LeastOfRow, "what is not a number stays"),
]
