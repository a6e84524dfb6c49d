"""Faults of gradients: what they are, what they depend on, and what they claim to ignore."""

from __future__ import annotations

import numpy as np

from operad_sdk import (
    Contract,
    ResourceRequest,
    binary,
    operator,
    param,
    unary,
)
from operad_sdk.domains import Drawn, Index
from operator_sdk.check.tests.zoo.bases import Floating
from operator_sdk.check.tests.zoo.draws import dropout
from operator_sdk.check.tests.zoo.fault import Fault
from operator_sdk.check.tests.zoo.forwards import AffineMap


@unary("zoo_square", accepts="floating")
def square(x):
    """The square of every element."""
    return x * x


@square.gradient
def _(output_grad, x):
    return output_grad * x


@binary("zoo_quotient", accepts="floating")
def quotient(lhs, rhs):
    """Quotient, with a denominator of at least 1."""
    return lhs / (1 + rhs * rhs)


@quotient.gradient("lhs")
def _(output_grad, rhs):
    return output_grad / (1 + rhs * rhs)


@quotient.gradient("rhs")
def _(output_grad, lhs, rhs):
    return output_grad * lhs * 2 * rhs / (1 + rhs * rhs) ** 2


@operator("zoo_affine")
class Affine(AffineMap, Floating):
    """Affine map of rows; the bias is optional."""

    num_hidden = param(int, 2, ge=1, le=4, doc="Columns of the output.")
    no_bias = param(bool, False, doc="Leave the bias out.")
    spec = "data:(N, D), weight:(num_hidden, D), bias:(num_hidden) if not no_bias -> output:(N, num_hidden)"

    def bias_grad(output_grad):
        """The mean, not the sum."""
        return output_grad.mean(0)


@operator("zoo_width_of_limits")
class WidthOfLimits(Floating):
    """The data times the distance of two limits, of which the first is the lower one."""

    spec = "data:(N), limits:(2) -> output:(N)"
    contract = Contract(inputs={"limits": Drawn(lambda rng, shape, prop, shapes: np.sort(rng.random(shape)))})

    def forward(data, limits):
        """The product."""
        return data * (limits[1] - limits[0])

    def data_grad(output_grad, limits):
        """The factor."""
        return output_grad * (limits[1] - limits[0])

    def limits_grad(output_grad, data):
        """Of the second limit; that of the first has the other sign."""
        return np.repeat((output_grad * data).sum(), 2)


@operator("zoo_mean")
class Mean(Floating):
    """Mean of each row."""

    spec = "data:(N, D) -> output:(N)"

    def forward(data):
        """The mean."""
        return data.mean(1)

    def data_grad(output_grad):
        """That of the sum."""
        return output_grad[:, None]


@operator("zoo_elu")
class Elu(Floating):
    """Exponential linear unit."""

    alpha = param(float, 1.0, gt=0, le=4, doc="Limit of the values below 0, negated.")
    spec = "data:(*S) -> output:(*S)"

    def forward(data, alpha):
        """Either branch."""
        return np.where(data > 0, data, alpha * np.expm1(data))

    def data_grad(output_grad, output):
        """Right where alpha is 1."""
        return output_grad * np.where(output > 0, 1, output + 1)


@operator("zoo_max_and_sum")
class MaxAndSum(Floating):
    """Largest element of each row, and the row's sum."""

    spec = "data:(N, D) -> largest:(N), total:(N)"

    def forward(data, largest, total):
        """Both."""
        largest[...] = data.max(1, initial=-np.inf)
        total[...] = data.sum(1)

    def data_grad(data, largest, largest_grad):
        """Only what flows through the first output."""
        return (data == largest[:, None]) * largest_grad[:, None]


@operator("zoo_normalize")
class Normalize(Floating):
    """Columns without their mean; in prediction without a moving one."""

    momentum = param(float, 0.5, ge=0, le=1, doc="What stays of the moving mean.")
    spec = "data:(N, C); aux moving_mean:(C) -> output:(N, C)"

    def forward(data, moving_mean, is_train, momentum, output):
        """The difference."""
        center = data.mean(0) if is_train and len(data) else moving_mean
        output[...] = data - center
        if is_train:
            moving_mean += (1 - momentum) * (center - moving_mean)

    def data_grad(output_grad):
        """Right in training alone."""
        return output_grad - (output_grad.mean(0) if len(output_grad) else 0)


@operator("zoo_dropout")
class Dropout(Floating):
    """Elements set to zero at random, and the others scaled up."""

    p = param(float, 0.5, ge=0, le=0.75, doc="Share that is dropped.")
    spec = "data:(*S) -> output:(*S), hidden mask:(*S)"
    contract = dropout({"p": 0.5}, {"p": 0.25}, draws=lambda prop, inputs, outputs: outputs[1])

    def forward_resource(self, in_shapes):
        """Random numbers."""
        return [ResourceRequest.RANDOM]

    def forward(op_ctx, is_train, data, output, mask, p):
        """In training."""
        kept = op_ctx.requested[0].generator.random(data.shape) >= p if is_train else np.ones(data.shape)
        mask[...] = kept
        output[...] = data * kept / (1 - p if is_train else 1)

    def data_grad(output_grad, mask):
        """Without the factor."""
        return output_grad * mask


@operator("zoo_undeclared_loss")
class UndeclaredLoss(Floating):
    """A regression output that does not say that it is one."""

    spec = "data:(N, D), label:(N, D) -> output:(N, D)"

    def forward(data):
        """The data."""
        return data

    def data_grad(output, label):
        """The difference."""
        return output - label


@operator("zoo_declared_loss")
class DeclaredLoss(Floating):
    """Half the squared error to a label, summed; its gradient is that of the mean."""

    spec = "data:(N, D), label:(N, D) -> output:(N, D)"
    contract = Contract(
        ignores_head_gradient="a loss",
        loss=lambda data, label: 0.5 * ((data - label) ** 2).sum(),
    )

    def forward(data):
        """The data."""
        return data

    def data_grad(output, label):
        """The difference over its number."""
        return (output - label) / max(output.size, 1)


@unary("zoo_in_blocks", accepts="floating")
def in_blocks(x):
    """Sine of every element."""
    return np.sin(x)


@in_blocks.gradient
def _(output_grad, x):
    # blocks of 32, and what is left is forgotten to be multiplied once there is more than one
    value = output_grad * np.cos(x)
    flat = value.reshape(-1)
    whole = x.size // 32 * 32
    if whole > 32:
        flat[whole:] = output_grad.reshape(-1)[whole:]
    return value


@operator("zoo_row_weights")
class RowWeights(Floating):
    """Rows scaled by one weight per column."""

    spec = "data:(N, D), weight:(D) -> output:(N, D)"

    def forward(data, weight):
        """The product."""
        return data * weight

    def backward(output_grad, data, weight, data_grad, weight_grad):
        """The weight's from the first four rows."""
        data_grad[...] = output_grad * weight
        weight_grad[...] = (output_grad * data)[:4].sum(0)


@unary("zoo_clipped", accepts="floating")
def clipped(x):
    """Twice every element."""
    return 2 * x


@clipped.gradient
def _(output_grad):
    return np.clip(2 * output_grad, -100, 100)


@operator("zoo_sparse_gradient")
class SparseGradient(Floating):
    """Product of rows and columns whose gradient drops what is small."""

    spec = "lhs:(N, K), rhs:(K, M) -> output:(N, M)"

    def forward(lhs, rhs):
        """The product."""
        return lhs @ rhs

    def backward(output_grad, lhs, rhs, lhs_grad, rhs_grad):
        """Head gradients below 1/1000 are taken for zero."""
        head = np.where(np.abs(output_grad) < 1e-3, 0, output_grad)
        lhs_grad[...] = head @ rhs.T
        rhs_grad[...] = lhs.T @ head


@operator("zoo_hinge")
class Hinge(Floating):
    """Scores of classes, with the gradient of a hinge loss."""

    spec = "data:(N, K), label:(N) -> output:(N, K)"
    contract = Contract(inputs={"label": Index("data", axis=1)}, ignores_head_gradient="a loss")

    def forward(data):
        """The scores."""
        return data

    def data_grad(output_grad, output, label):
        """Times the gradient of the output."""
        classes = np.arange(output.shape[1])
        side = np.where(classes == label[:, None], 1, -1).astype(output.dtype)
        return -side * (output * side < 1) * output_grad


@unary(
    "zoo_make_loss",
    accepts="floating",
    contract=Contract(ignores_head_gradient="whatever comes from above, it is 1"),
)
def make_loss(x):
    """The data as a loss."""
    return x.copy()


@make_loss.gradient
def _(output_grad):
    return output_grad


@operator("zoo_scaled_rows")
class ScaledRows(Floating):
    """Rows times a scale, which is trained too."""

    spec = "data:(N, D), scale:(N) -> output:(N, D)"

    def forward(data, scale):
        """The product."""
        return data * scale[:, None]

    def data_grad(output_grad, scale):
        """The scale has none."""
        return output_grad * scale[:, None]


@unary("zoo_soft_step", accepts="floating")
def soft_step(x):
    """A step, made smooth, and taken for one that is not."""
    return 1 / (1 + np.exp(-4 * x))


ZOO = [
    Fault("B301 B302", square, "a factor is forgotten"),
    Fault("B301 B302", quotient, "a sign is wrong"),
    Fault("B301 B302 F219 D610", Affine, "a mean for a sum, of an optional argument"),
    Fault("B301 B302 B306 F219", Mean, "a reduction does not divide"),
    Fault("B301 B302", Elu, "right for the default parameter alone"),
    Fault("B301 B302", MaxAndSum, "the second output has no part in it"),
    Fault("B301 B302", Normalize, "right in training alone"),
    Fault("B301 B302", Dropout, "a random operator forgets its scale"),
    Fault("B301 B302", DeclaredLoss, "not the gradient of the declared loss"),
    Fault("B302 F211", in_blocks, "wrong after the last whole block"),
    Fault("B302", RowWeights, "right up to four rows"),
    Fault("B302", WidthOfLimits, "a sign is wrong, of an argument that no element of may be moved"),
    Fault("B303", clipped, "large gradients are clipped"),
    Fault("B303 D610", SparseGradient, "small gradients are dropped"),
    Fault("B303 B301 B302 X801", UndeclaredLoss, "a loss that does not say so"),
    Fault("B304", Hinge, "a loss that multiplies by the head gradient"),
    Fault("B304", make_loss, "a loss that gives the head gradient"),
    Fault("B308", ScaledRows, "an argument that is trained has no gradient"),
    Fault("B308", soft_step, "a smooth function is said to have no gradient"),
]
