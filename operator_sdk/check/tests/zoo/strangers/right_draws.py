"""Right operators with states, or that draw."""

from __future__ import annotations

import numpy as np

from operad_sdk import (
    Contract,
    Distribution,
    OperatorProperty,
    Real,
    ResourceRequest,
    blocked_sum,
    operator,
    param,
)
from operator_sdk.check.tests.zoo.bases import Floating, InFloat32
from operator_sdk.check.tests.zoo.fault import Right


@operator("zoo_right_nesterov")
class Nesterov(InFloat32):
    """`mom = momentum mom - lr grad`, and then `weight + momentum mom - lr grad`."""

    lr = param(float, run_time=True, doc="Learning rate.")
    momentum = param(float, 0.9, run_time=True, doc="Share of the last step that is kept.")
    spec = "weight:(*S), grad:(*S), state mom:(*S) -> output:(*S)"

    def _reference(weight, grad, mom, lr, momentum):
        moved = momentum * mom - lr * grad
        return weight + momentum * moved - lr * grad, moved

    contract = Contract(
        reference=_reference,
        states_move="always",
        no_numeric_gradient="it is a step of training, through which no gradient flows",
    )

    def forward(weight, grad, mom, lr, momentum):
        mom *= momentum
        mom -= lr * grad
        return weight + momentum * mom - lr * grad


@operator("zoo_right_leave_out")
class LeaveOut(Floating):
    """In training each element is 0 with probability `p`, and the others grow so that the mean stays."""

    p = param(float, 0.25, ge=0, le=0.75, doc="Probability of 0.")
    spec = "data:(*S) -> output:(*S), hidden train mask:(*S)"
    resource = ResourceRequest.RANDOM
    constant_outputs = ("mask",)
    contract = Contract(
        distribution=Distribution(
            mean=lambda prop: 1.0,
            variance=lambda prop: prop.p / (1 - prop.p),
            draws=lambda prop, inputs, outputs: outputs[1],
            params=[{"p": 0.25}, {"p": 0.75}],
        )
    )

    def forward(op_ctx, is_train, data, p, output, mask):
        if not is_train:
            output[...] = data
            return
        kept = op_ctx.requested[0].generator.random(data.shape) >= p
        mask[...] = kept / (1 - p)
        output[...] = data * mask

    def data_grad(is_train, output_grad, mask):
        return output_grad * mask if is_train else output_grad


@operator("zoo_right_normal_draw")
class NormalDraw(InFloat32):
    """`mean + exp(log_sigma) z` with normal numbers `z`, drawn in training and in prediction."""

    spec = "mean:(*S), log_sigma:(*S) -> output:(*S), hidden noise:(*S)"
    resource = ResourceRequest.RANDOM
    constant_outputs = ("noise",)
    contract = Contract(
        inputs={"log_sigma": Real(above=-4, below=2)},
        distribution=Distribution(
            mean=lambda prop: 0.0, variance=lambda prop: 1.0, draws=lambda prop, inputs, outputs: outputs[1]
        ),
    )

    def forward(op_ctx, mean, log_sigma):
        noise = op_ctx.requested[0].generator.standard_normal(mean.shape).astype(mean.dtype)
        return mean + np.exp(log_sigma) * noise, noise

    def mean_grad(output_grad):
        return output_grad

    def log_sigma_grad(output_grad, log_sigma, noise):
        return output_grad * np.exp(log_sigma) * noise


@operator("zoo_right_coins_like")
class CoinsLike(OperatorProperty):
    """As many coins as `data` has elements: 1 with probability `p`, else 0; no gradient flows."""

    p = param(float, 0.5, ge=0, le=1, doc="Probability of 1.")
    spec = "data:any(*S) -> output:uint8(*S)"
    resource = ResourceRequest.RANDOM
    contract = Contract(
        nan_policy="only the shape of the data is read",
        distribution=Distribution(
            mean=lambda prop: prop.p,
            variance=lambda prop: prop.p * (1 - prop.p),
            params=[{"p": 0.5}, {"p": 0.125}],
        ),
    )

    def forward(op_ctx, data, p):
        return (op_ctx.requested[0].generator.random(data.shape) < p).astype(np.uint8)


def _mean(data):
    return blocked_sum(data, 0) / len(data)


def _of_batch(data, eps):
    mean = _mean(data)
    centred = data - mean
    variance = _mean(centred * centred)
    deviation = np.sqrt(variance + eps)
    return mean, variance, deviation, centred / deviation


@operator("zoo_right_batch_statistics")
class BatchStatistics(InFloat32):
    """Columns less their mean, over their deviation, of the batch in training, else the running ones."""

    momentum = param(float, 0.9, ge=0, le=1, doc="Share of the running statistics that one step leaves.")
    eps = param(float, 1e-3, ge=1e-5, le=1, doc="Added to the variance.")
    spec = "data:(N, C), state running_mean:(C), state running_var:(C) -> output:(N, C)"

    def _reference(data, running_mean, running_var, is_train, momentum, eps):
        if not is_train or len(data) == 0:
            return (data - running_mean) / np.sqrt(running_var + eps), running_mean, running_var
        mean, variance = data.mean(axis=0), data.var(axis=0)
        return (
            (data - mean) / np.sqrt(variance + eps),
            momentum * running_mean + (1 - momentum) * mean,
            momentum * running_var + (1 - momentum) * variance,
        )

    contract = Contract(
        reference=_reference,
        inputs={"data": Real(above=-8, below=8), "running_var": Real(above=0.25, below=4)},
    )

    def forward(is_train, data, running_mean, running_var, momentum, eps):
        if not is_train or len(data) == 0:
            return (data - running_mean) / np.sqrt(running_var + eps)
        mean, variance, _, normal = _of_batch(data, eps)
        running_mean += (1 - momentum) * (mean - running_mean)
        running_var += (1 - momentum) * (variance - running_var)
        return normal

    def data_grad(is_train, output_grad, data, running_var, eps):
        if not is_train or len(data) == 0:
            return output_grad / np.sqrt(running_var + eps)
        _, _, deviation, normal = _of_batch(data, eps)
        along = _mean(output_grad * normal)
        return (output_grad - _mean(output_grad) - normal * along) / deviation


def _rounded(data, largest):
    step = np.where(largest > 0, largest, 1) / 8
    return np.rint(np.clip(data / step, -8, 8)) * step


@operator("zoo_right_range_observer")
class RangeObserver(InFloat32):
    """`data` rounded to multiples of an eighth of the largest magnitude seen in training.

    The gradient passes where the data is within the range.
    """

    spec = "data:(N, D), state largest:(1) -> output:(N, D), hidden within:bool(N, D)"
    constant_outputs = ("within",)

    def _reference(data, largest, is_train):
        seen = np.maximum(largest, np.abs(data).max()) if is_train and data.size else largest
        return _rounded(data, seen), np.abs(data) <= seen, seen

    contract = Contract(
        reference=_reference,
        no_numeric_gradient="rounding has steps, and training takes the gradient of a straight line",
        undefined="infinity is not a range",
    )

    def forward(is_train, data, largest):
        if is_train and data.size:
            np.maximum(largest, np.abs(data).max(), out=largest)
        return _rounded(data, largest), np.abs(data) <= largest

    def data_grad(output_grad, within):
        return np.where(within, output_grad, 0)


ZOO = [
    Right(Nesterov, "states that move in predictions too, and no gradient"),
    Right(LeaveOut, "a mask that is left unwritten in predictions"),
    Right(NormalDraw, "draws in predictions too, with a gradient through what was drawn"),
    Right(CoinsLike, "random bytes, of whose argument only the shape is read"),
    Right(BatchStatistics, "values and gradients that are others in training and in predictions"),
    Right(RangeObserver, "a state that only grows, steps, and a gradient that passes in a range"),
]
