"""Results and gradients that are wrong for axes, layouts and sizes."""

from __future__ import annotations

import math

import numpy as np

from operad_sdk import Contract, Real, blocked_cumsum, operator, param, reduced_axes
from operator_sdk.check.tests.zoo.bases import Floating, InFloat32
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients


def _shrunk(grad, shape):
    """The part of a gradient that belongs to an argument of that shape."""
    extra = grad.ndim - len(shape)
    if extra:
        grad = grad.sum(axis=tuple(range(extra)))
    for axis, length in enumerate(shape):
        if length == 1 and grad.shape[axis] != 1:
            grad = grad.mean(axis=axis, keepdims=True)
    return grad


@operator("zoo_broadcast_mul")
class BroadcastMul(InFloat32):
    """`lhs * rhs`."""

    spec = "lhs:(*A), rhs:(*B) -> output:(*broadcast(A, B))"
    contract = Contract(reference=np.multiply)

    def forward(lhs, rhs):
        return lhs * rhs

    def lhs_grad(output_grad, rhs, lhs_grad):
        lhs_grad[...] = _shrunk(output_grad * rhs, lhs_grad.shape)

    def rhs_grad(output_grad, lhs, rhs_grad):
        rhs_grad[...] = _shrunk(output_grad * lhs, rhs_grad.shape)


def _count(shape, axis):
    """How many elements there are in a mean."""
    if not axis:
        return math.prod(shape)
    return math.prod(length for place, length in enumerate(shape) if place in axis)


@operator("zoo_mean_of_axes")
class Mean(InFloat32):
    """The mean along axes."""

    axis = param("shape", None, doc="The axes, from the last if negative; None: all.")
    keepdims = param(bool, False, doc="Leave the axes, with length 1.")
    spec = "data:(*S) -> output:(*reduced(S, axis, keepdims))"

    def _reference(data, axis, keepdims):
        found = data.mean(axis or None, keepdims=keepdims)
        return found if keepdims else np.atleast_1d(found)  # of all axes, one number

    contract = Contract(
        reference=_reference,
        undefined="nothing has no mean",
    )

    def forward(data, axis, keepdims):
        return data.mean(reduced_axes(data.ndim, axis), keepdims=keepdims)

    def data_grad(output_grad, axis, data_grad):
        axes = reduced_axes(data_grad.ndim, axis)
        kept = [1 if place in axes else length for place, length in enumerate(data_grad.shape)]
        data_grad[...] = output_grad.reshape(kept) / max(_count(data_grad.shape, axis), 1)


@operator("zoo_log_sum_exp")
class LogSumExp(InFloat32):
    """`log(sum(exp(data)))` along an axis; of nothing, minus infinity."""

    axis = param(int, -1, doc="The axis, from the last if negative.")
    keepdims = param(bool, False, doc="Leave the axis, with length 1.")
    spec = "data:(*S) -> output:(*reduced(S, axis, keepdims))"

    def _reference(data, axis, keepdims):
        return np.atleast_1d(np.logaddexp.reduce(data, axis=axis, keepdims=keepdims))

    contract = Contract(reference=_reference, undefined="the logarithm of nothing is minus infinity")

    def forward(data, axis, keepdims):
        top = data.max(axis=axis, keepdims=True, initial=-np.inf)
        top = np.where(np.isfinite(top), top, 0)
        with np.errstate(divide="ignore", over="ignore"):
            sums = np.log(np.exp(data - top).sum(axis=axis, keepdims=True)) + top
        return sums if keepdims else sums.squeeze(axis)

    def data_grad(output_grad, data, output, keepdims):
        if not keepdims:  # the axis is put back
            output_grad, output = output_grad[..., None], output[..., None]
        return output_grad * np.exp(data - output)


def _of_others(data):
    """For each element the product of the others in its row."""
    before, after = np.ones_like(data), np.ones_like(data)
    before[:, 1:] = np.cumprod(data[:, :-1], axis=1)
    after[:, :-1] = np.cumprod(data[:, :0:-1], axis=1)[:, ::-1]
    return before * after


@operator("zoo_prod")
class Prod(InFloat32):
    """The product of each row."""

    spec = "data:(N, D) -> output:(N)"
    contract = Contract(reference=lambda data: data.prod(axis=1))

    def forward(data, output):
        if data.size == 0:
            output.fill(0)
            return
        np.prod(data, axis=1, out=output)

    def data_grad(output_grad, data):
        return output_grad[:, None] * _of_others(data)


@operator("zoo_row_products")
class Gram(InFloat32):
    """The scalar product of each row with each."""

    spec = "data:(N, D) -> output:(N, N)"
    contract = Contract(reference=lambda data: data @ data.T, inputs={"data": Real(above=-8, below=8)})

    def forward(data):
        rows = data.squeeze()
        return np.dot(rows, rows.T)

    def data_grad(output_grad, data):
        return (output_grad + output_grad.T) @ data


def _along_channels(gamma, shape):
    """Factors with the axes of the data."""
    kept = [1] * len(shape)
    kept[shape.index(len(gamma))] = len(gamma)
    return gamma.reshape(kept)


@operator("zoo_channel_scale")
class ChannelScale(InFloat32):
    """`data` times the factor of its channel."""

    spec = "data:(N, C, L), gamma:(C) -> output:(N, C, L)"
    contract = Contract(reference=lambda data, gamma: np.einsum("ncl,c->ncl", data, gamma))

    def forward(data, gamma):
        return data * _along_channels(gamma, data.shape)

    def data_grad(output_grad, gamma):
        return output_grad * gamma[:, None]

    def gamma_grad(output_grad, data):
        return (output_grad * data).sum(axis=(0, 2))


@operator("zoo_neighbours")
class Neighbours(Floating):
    """Each element, read row after row, less the one before it; the first is left as it is."""

    spec = "data:(N, D) -> output:(N, D)"
    contract = Contract(reference=lambda data: np.diff(data.ravel(), prepend=[0]).reshape(data.shape))

    def forward(data, output):
        flat = data.ravel(order="A")
        found = flat.copy()
        found[1:] -= flat[:-1]
        output[...] = found.reshape(data.shape)

    def data_grad(output_grad, data_grad):
        flat = output_grad.reshape(-1)
        found = flat.copy()
        found[:-1] -= flat[1:]
        data_grad[...] = found.reshape(data_grad.shape)


def _filtered(rows, decay):
    found = rows.copy()
    for step in range(1, found.shape[1]):
        found[:, step] += decay * found[:, step - 1]
    return found


@operator("zoo_decay_filter")
class DecayFilter(InFloat32):
    """`y[t] = x[t] + decay y[t - 1]` along each row."""

    decay = param(float, 0.5, ge=0, lt=1, doc="What is left of a step in the next one.")
    spec = "data:(N, T) -> output:(N, T)"

    def _reference(data, decay):
        output = data.copy()
        for step in range(1, data.shape[1]):
            output[:, step] = data[:, step] + decay * output[:, step - 1]
        return output

    contract = Contract(reference=_reference)

    def forward(data, decay):
        if data.strides[0] < 0:  # rows that run backwards are slow
            data = data[::-1]
        return _filtered(data, decay)

    def data_grad(output_grad, decay):
        return _filtered(output_grad[:, ::-1], decay)[:, ::-1]


def _normal(data, eps=1e-5):
    centred = data - data.mean(axis=1, keepdims=True)
    deviation = np.sqrt((centred * centred).mean(axis=1, keepdims=True) + eps)
    return centred / deviation, deviation


@operator("zoo_layer_norm")
class LayerNorm(InFloat32):
    """`normal(data) gamma + beta`, where each row has mean 0 and deviation 1."""

    eps = param(float, 1e-5, gt=0, doc="Added to the variance.")
    spec = "data:(N, D), gamma:(D), beta:(D) -> output:(N, D); D >= 1"

    def _reference(data, gamma, beta, eps):
        return (data - data.mean(1, keepdims=True)) / np.sqrt(data.var(1, keepdims=True) + eps) * gamma + beta

    contract = Contract(
        reference=_reference,
        inputs={"data": Real(above=-16, below=16)},  # squares have to be in range
        params={"eps": [1e-5, 1e-3]},
        narrowed={"eps": "more than that is no normalization"},
    )

    def forward(data, gamma, beta):
        return _normal(data)[0] * gamma + beta

    def data_grad(output_grad, data, gamma):
        normal, deviation = _normal(data)
        scaled = output_grad * gamma
        along = (scaled * normal).mean(axis=1, keepdims=True)
        return (scaled - scaled.mean(axis=1, keepdims=True) - normal * along) / deviation

    def gamma_grad(output_grad, data):
        return (output_grad * _normal(data)[0]).sum(axis=0)

    def beta_grad(output_grad):
        return output_grad.sum(axis=0)


@operator("zoo_sample_variance")
class SampleVariance(InFloat32):
    """The sum of squared distances from a row's mean, over its length less `ddof`."""

    ddof = param(int, 0, ge=0, le=1, doc="Taken from the length.")
    spec = "data:(N, D) -> output:(N); D > ddof"
    contract = Contract(
        reference=lambda data, ddof: np.var(data, axis=1, ddof=ddof),
        inputs={"data": Real(above=-16, below=16)},  # squares have to be in range
    )

    def forward(data):
        return np.var(data, axis=1)

    def data_grad(output_grad, data):
        centred = data - data.mean(axis=1, keepdims=True)
        return output_grad[:, None] * (2 / data.shape[1]) * centred


def _sums(data, exclusive, reverse):
    if reverse:
        return blocked_cumsum(data[:, ::-1], 1)[:, ::-1]
    if exclusive:
        found = np.zeros_like(data)
        found[:, 1:] = blocked_cumsum(data[:, :-1], 1)
        return found
    return blocked_cumsum(data, 1)


@operator("zoo_cumsum")
class CumSum(InFloat32):
    """The sum of each element and those before it in a row, or after it; without itself if `exclusive`."""

    exclusive = param(bool, False, doc="Leave the element itself out.")
    reverse = param(bool, False, doc="Sum from the end.")
    spec = "data:(N, T) -> output:(N, T)"

    def _reference(data, exclusive, reverse):
        places = np.arange(data.shape[1])
        before = places[:, None] - places  # row t counts those of column t that are before it
        if reverse:
            before = -before
        return data @ (before < 0 if exclusive else before <= 0).astype(data.dtype)

    contract = Contract(reference=_reference)

    def forward(data, exclusive, reverse):
        return _sums(data, exclusive, reverse)

    def data_grad(output_grad, exclusive, reverse):
        if reverse:
            return _sums(output_grad, False, False)
        if exclusive:
            return _sums(output_grad[:, ::-1], True, False)[:, ::-1]
        return _sums(output_grad, False, True)


ZOO = without_gradients(
    [
        Fault(
            "B",
            BroadcastMul,
            "an inner axis that was stretched gets the mean of the gradients, not their sum",
            report="https://github.com/apache/tvm/issues/2465",
        ),
        Fault(
            "B",
            Mean,
            "the gradient counts only axes that are written as positive numbers",
            report="https://github.com/microsoft/onnxruntime/issues/365",
        ),
        Fault(
            "B",
            LogSumExp,
            "without keepdims the gradient puts the axis back at the end, whichever it was",
            report="https://github.com/cupy/cupy/issues/6852",
        ),
        Fault(
            "F",
            Prod,
            "the product of nothing is 0",
            report="https://github.com/microsoft/onnxruntime/issues/8146",
        ),
        Fault(
            "F",
            Gram,
            "one column becomes a vector, and all products the sum of its squares",
            report="https://github.com/pytorch/pytorch/issues/10118",
        ),
        Fault(
            "F",
            ChannelScale,
            "the axis of the channels is looked up by its length, which another may have",
            report="https://github.com/apache/mxnet/issues/12061",
        ),
        Fault(
            "F",
            Neighbours,
            "a transposed argument is read in the order of memory",
            report="https://github.com/chainer/chainer/issues/7726",
        ),
        Fault(
            "F",
            DecayFilter,
            "rows that run backwards in memory are turned around, and not turned back",
            report="https://github.com/cupy/cupy/issues/10303",
        ),
        Fault(
            "F", LayerNorm, "eps is ignored", report="https://github.com/microsoft/onnxruntime/issues/3768"
        ),
        Fault("F", SampleVariance, "ddof is ignored", report="https://github.com/cupy/cupy/issues/693"),
        Fault(
            "F",
            CumSum,
            "with reverse the flag exclusive is ignored",
            report="https://github.com/microsoft/onnxruntime/issues/13165",
        ),
    ]
)
