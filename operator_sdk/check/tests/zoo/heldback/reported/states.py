"""Random draws and states that were reported to be wrong."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, Distribution, ResourceRequest, operator, param
from operator_sdk.check.tests.zoo.bases import Floating, InFloat32
from operator_sdk.check.tests.zoo.draws import scaled_dropout
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients


@operator("zoo_waiting_times")
class WaitingTimes(Floating):
    """Exponential draws over one more than the square of the data."""

    spec = "data:(*S) -> output:(*S), hidden drawn:(*S)"
    resource = ResourceRequest.RANDOM
    contract = Contract(
        distribution=Distribution(
            mean=lambda prop: 1.0,
            variance=lambda prop: 1.0,
            draws=lambda prop, inputs, outputs: outputs[1],
        )
    )

    def forward(op_ctx, data, output, drawn):
        uniform = op_ctx.requested[0].generator.random(data.shape).astype(np.float16)
        drawn[...] = -np.log1p(-uniform.astype(np.float64))
        output[...] = drawn / (1 + data * data)


@operator("zoo_fused_dropout")
class FusedDropout(Floating):
    """Elements set to 0 at random in training, by a faster way where there are several."""

    p = param(float, 0.5, ge=0, le=0.75, doc="How likely.")
    spec = "data:(*S) -> output:(*S), hidden kept:(*S)"
    resource = ResourceRequest.RANDOM
    contract = scaled_dropout()

    def forward(op_ctx, is_train, data, output, kept, p):
        kept[...] = 1
        if is_train or data.size > 3:
            kept[...] = (op_ctx.requested[0].generator.random(data.shape) >= p) / (1 - p)
        output[...] = data * kept

    def data_grad(output_grad, kept):
        return output_grad * kept


@operator("zoo_plain_batch_norm")
class PlainBatchNorm(InFloat32):
    """Columns over a moving deviation, less a moving mean, which training moves."""

    is_scaled = param(bool, True, doc="Divide by the deviation.")
    is_centred = param(bool, True, doc="Subtract the mean.")
    spec = "data:(N + 1, C); aux moving_mean:(C), moving_var:(C) -> output:(N + 1, C)"

    def forward(is_train, data, moving_mean, moving_var, output, is_scaled, is_centred):
        output[...] = data - (moving_mean if is_centred else 0)
        output /= np.sqrt(moving_var + 1) if is_scaled else 1
        if is_train and (is_scaled or is_centred):
            moving_mean += (data.mean(0) - moving_mean) / 10
            moving_var += (data.var(0) - moving_var) / 10


@operator("zoo_two_variances")
class TwoVariances(InFloat32):
    """Columns over a moving deviation, which training moves."""

    spec = "data:(N + 2, C); aux moving_var:(C) -> output:(N + 2, C)"

    def forward(is_train, data, moving_var, output):
        output[...] = data / np.sqrt(moving_var + 1)
        if is_train:
            moving_var += (data.var(0) - moving_var) / 10


@TwoVariances.kernel("cpu", priority=1, when=lambda call: call.in_shapes[0][1] > 1)
def by_other_variance(is_train, data, moving_var, output):
    output[...] = data / np.sqrt(moving_var + 1)
    if is_train:
        moving_var += (data.var(0, ddof=1) - moving_var) / 10


ZOO = without_gradients(
    [
        Fault(
            "F",
            WaitingTimes,
            "numbers below 1 are rounded to 1 in half precision, whose logarithm is taken",
            report="https://github.com/pytorch/pytorch/issues/96947",
        ),
        Fault(
            "F",
            FusedDropout,
            "larger arrays are thinned out in predictions too",
            report="https://github.com/pytorch/pytorch/issues/10584",
        ),
        Fault(
            "X",
            PlainBatchNorm,
            "without scale and centre the moving mean and variance stay as they are",
            report="https://github.com/apache/mxnet/issues/18673",
        ),
        Fault(
            "D",
            TwoVariances,
            "one kernel keeps the variance of the batch, the other that of what it was drawn from",
            report="https://github.com/apache/mxnet/issues/14357",
        ),
    ]
)
