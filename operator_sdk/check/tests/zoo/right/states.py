"""States and random draws."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, Distribution, ResourceRequest, operator, param
from operator_sdk.check.tests.zoo.bases import Floating, InFloat64
from operator_sdk.check.tests.zoo.draws import scaled_dropout
from operator_sdk.check.tests.zoo.fault import Right
from operator_sdk.check.tests.zoo.long_form import MaskKeptProperty


@operator("zoo_right_standardised")
class Standardised(InFloat64):
    """Columns of mean 0 and deviation 1; in predictions by moving moments."""

    spec = "data:(N + 1, C); aux moving_mean:(C), moving_var:(C) -> output:(N + 1, C), hidden scale:(C)"

    def _reference(data, moving_mean, moving_var, is_train):
        mean, var = (data.mean(0), data.var(0)) if is_train else (moving_mean, moving_var)
        scale = (var + 0.125) ** -0.5
        share = 0.25 if is_train else 0.0
        states = [(1 - share) * old + share * new for old, new in ((moving_mean, mean), (moving_var, var))]
        return (data - mean) * scale, scale, *states

    contract = Contract(reference=_reference)

    def forward(data, moving_mean, moving_var, is_train, output, scale):
        mean, var = (data.mean(0), data.var(0)) if is_train else (moving_mean, moving_var)
        scale[...] = 1 / np.sqrt(var + 0.125)
        output[...] = (data - mean) / np.sqrt(var + 0.125)
        if is_train:
            moving_mean += (mean - moving_mean) / 4
            moving_var += (var - moving_var) / 4

    def data_grad(output_grad, output, scale, is_train):
        if not is_train:
            return output_grad * scale
        along = (output_grad * output).mean(0)
        return scale * (output_grad - output_grad.mean(0) - output * along)


@operator("zoo_right_counted")
class Counted(Floating):
    """The data; a state counts training runs."""

    spec = "data:(*S); aux count:(1) -> output:(*S)"
    contract = Contract(reference=lambda data, count, is_train: (data, count + is_train))

    def forward(data, count, is_train):
        if is_train:
            count += 1
        return data

    def data_grad(output_grad):
        return output_grad


@operator("zoo_right_dropout")
class Dropout(Floating):
    """Elements set to 0 at random in training, the others scaled up."""

    p = param(float, 0.5, ge=0, le=0.75, doc="Share that is dropped.")
    spec = "data:(*S) -> output:(*S), hidden train mask:(*S)"
    resource = ResourceRequest.RANDOM
    contract = scaled_dropout({"p": 0.5}, {"p": 0.25})

    def forward(op_ctx, is_train, data, p):
        if not is_train:
            return data, None
        mask = ((op_ctx.requested[0].generator.random(data.shape) >= p) / (1 - p)).astype(data.dtype)
        return data * mask, mask

    def data_grad(is_train, output_grad, mask):
        return output_grad * mask if is_train else output_grad


@operator("zoo_right_uniform")
class Uniform(Floating):
    """Uniform draws between 0 and 1, as many as there are data."""

    spec = "data:(*S) -> output:float64(*S)"
    resource = ResourceRequest.RANDOM
    contract = Contract(
        distribution=Distribution(
            mean=lambda prop: 0.5,
            variance=lambda prop: 1 / 12,
            cdf=lambda prop, x: np.clip(x, 0, 1),
        ),
        no_numeric_gradient="the data give the shape alone",
    )

    def forward(op_ctx, data):
        return op_ctx.requested[0].generator.random(data.shape)


class KeepsMask(MaskKeptProperty):
    """A rectifier that keeps its mask in the operator, one of which there is for each node."""

    name = "zoo_right_keeps_mask"
    is_stateful = True

    def infer_type(self, in_types):
        return list(in_types), list(in_types), []


@operator("zoo_right_kept_weights")
class KeptWeights(Floating):
    """Columns times falling weights, which are made once for each length and type."""

    spec = "data:(N, D) -> output:(N, D)"
    made = {}

    def _weights(self, columns, dtype):
        # setdefault is one step: of two threads both get the array of one
        return self.made.setdefault((columns, dtype), (1 / np.arange(3, columns + 3)).astype(dtype))

    def forward(self, data):
        return data * self._weights(data.shape[1], data.dtype)

    def data_grad(self, output_grad):
        return output_grad * self._weights(output_grad.shape[1], output_grad.dtype)


ZOO = [
    Right(Standardised, "two states, and outputs that are kept for the gradient"),
    Right(Counted, "a state that counts"),
    Right(Dropout, "random, with what was drawn kept for the gradient"),
    Right(Uniform, "random integers, with a distribution function"),
    Right(KeepsMask, "an operator object with a state of its own, which says so"),
    Right(KeptWeights, "a table that is made once, under a lock, for each length and type"),
]
