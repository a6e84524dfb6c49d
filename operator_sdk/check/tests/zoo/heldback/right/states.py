"""States and random draws."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, Distribution, ResourceRequest, operator, param
from operator_sdk.check.tests.zoo.bases import Floating, InFloat32
from operator_sdk.check.tests.zoo.draws import added
from operator_sdk.check.tests.zoo.fault import Right
from operator_sdk.check.tests.zoo.forwards import Scaled


def _centred(data, moving_mean, momentum, is_train):
    if not is_train:
        return data - moving_mean, moving_mean
    mean = data.sum(0) / len(data)
    return data - mean, momentum * moving_mean + (1 - momentum) * mean


@operator("zoo_right_centred")
class Centred(InFloat32):
    """Columns less their mean; in predictions less a moving one."""

    momentum = param(float, 0.5, ge=0, le=1, doc="What stays of the moving mean.")
    spec = "data:(N + 1, C); aux moving_mean:(C) -> output:(N + 1, C)"
    contract = Contract(reference=_centred)

    def forward(data, moving_mean, is_train, momentum, output):
        mean = data.mean(0) if is_train else moving_mean
        output[...] = data - mean
        if is_train:
            moving_mean += (1 - momentum) * (mean - moving_mean)

    def data_grad(output_grad, is_train):
        return output_grad - (output_grad.mean(0) if is_train else 0)


@operator("zoo_right_fixed_scale")
class FixedScale(Scaled):
    """The data times a state."""

    spec = "data:(N, C); aux scale:(C) -> output:(N, C)"
    contract = Contract(reference=lambda data, scale: (np.einsum("nc,c->nc", data, scale), scale))


@operator("zoo_right_noisy")
class Noisy(Floating):
    """Data and normal noise."""

    scale = param(float, 1.0, gt=0, le=2, doc="Deviation of the noise.")
    spec = "data:(*S) -> output:(*S)"
    resource = ResourceRequest.RANDOM
    contract = Contract(
        distribution=Distribution(
            mean=lambda prop: 0.0,
            variance=lambda prop: prop.scale**2,
            draws=added,
        )
    )

    def forward(op_ctx, data, scale):
        noise = op_ctx.requested[0].generator.normal(scale=scale, size=data.shape)
        return data + noise.astype(data.dtype)

    def data_grad(output_grad):
        return output_grad


ZOO = [
    Right(Centred, "a state that moves in training"),
    Right(FixedScale, "a state that is read and never changes"),
    Right(Noisy, "random, and linear in the data"),
]
