"""Gradients that were reported to be wrong at kinks and ends, or to lose their digits."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, gradient, operator, unary
from operad_sdk.domains import Drawn, Index
from operator_sdk.check.tests.zoo.bases import Floating, InFloat64
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients
from operator_sdk.check.tests.zoo.forwards import Scaled


@operator("zoo_largest_share")
class LargestShare(Floating):
    """The largest of each row over 49."""

    spec = "data:(N, D + 1) -> output:(N)"

    def forward(data):
        return (data / 49).max(1)

    def data_grad(output_grad, data, output):
        is_largest = data == output[:, None] * 49
        return output_grad[:, None] * is_largest / np.maximum(is_largest.sum(1, keepdims=True), 1) / 49


@operator("zoo_scaled_by_one")
class ScaledByOne(Scaled):
    """Rows times one number."""

    spec = "data:(N, D), scale:(1) -> output:(N, D)"

    def scale_grad(output_grad, data):
        return output_grad * data


@operator("zoo_sampled")
class Sampled(InFloat64):
    """A signal between its elements, by places; the ends go on for ever."""

    spec = "data:(W + 2), place:(N) -> output:(N)"
    contract = Contract(
        inputs={
            "place": Drawn(lambda rng, shape, prop, shapes: rng.integers(0, 9, shape) / 2.0, is_real=True)
        }
    )

    def _around(data, place):
        last = len(data) - 1
        inside = np.clip(np.nan_to_num(place), 0, last)
        left = np.floor(inside).astype(np.intp)
        return left, np.minimum(left + 1, last), inside - left

    def forward(data, place):
        left, right, part = Sampled._around(data, place)
        return data[left] * (1 - part) + data[right] * part + 0 * place

    def data_grad(output_grad, data, place, data_grad):
        left, right, part = Sampled._around(data, place)
        data_grad[...] = 0
        np.add.at(data_grad, left, output_grad * (1 - part))
        np.add.at(data_grad, right, output_grad * part)

    def place_grad(output_grad, data, place):
        left, right, _ = Sampled._around(data, place)
        beyond = np.where(left == len(data) - 1, 0, data[right])
        return output_grad * (beyond - data[left]) * ((place >= 0) & (place <= len(data) - 1))


@unary("zoo_capped_exponential", accepts="floating")
def capped_exponential(x):
    """An exponential up to 1."""
    return np.minimum(np.exp(x), 1)


@capped_exponential.gradient
def _(output_grad, x):
    return output_grad * np.exp(x) * (x < 0)


@unary("zoo_sinc", accepts="floating", compute_dtype="float64")
def sinc(x):
    """`sin(pi x) / (pi x)`."""
    return np.sinc(x)


@sinc.gradient
def _(output_grad, x):
    return output_grad * (np.cos(np.pi * x) - np.sinc(x)) / x


@unary("zoo_sinc_near_zero", accepts="floating")
def sinc_near_zero(x):
    """`sin(pi x) / (pi x)`, with the right slope at 0 itself."""
    return np.sinc(x)


@sinc_near_zero.gradient
def _(output_grad, x):
    safe = np.where(x == 0, 1, x)
    return output_grad * np.where(x == 0, 0, (np.cos(np.pi * x) - np.sinc(x)) / safe)


@operator("zoo_reversed_up_to")
class ReversedUpTo(Floating):
    """The first elements of each row, as many as a length says, in the other order."""

    spec = "data:(N, W), length:(N) -> output:(N, W)"
    contract = Contract(inputs={"length": Index("data", axis=1, inclusive=True)})

    def _places(shape, length):
        column = np.arange(shape[1])
        back = length.astype(np.intp)[:, None] - 1 - column
        return np.where(back < 0, column, back)

    def forward(data, length):
        return np.take_along_axis(data, ReversedUpTo._places(data.shape, length), 1)

    @gradient
    def backward(output_grad, length, data_grad, length_grad):
        data_grad[...] = np.take_along_axis(output_grad, ReversedUpTo._places(output_grad.shape, length), 1)


ZOO = without_gradients(
    [
        Fault(
            "B",
            LargestShare,
            "the largest is looked for by equality with what was rounded",
            report="https://github.com/jax-ml/jax/issues/40564",
        ),
        Fault(
            "B",
            ScaledByOne,
            "the gradient of what was repeated is not summed",
            report="https://github.com/tensorflow/tensorflow/issues/2627",
        ),
        Fault(
            "B",
            Sampled,
            "at the last place the gradient is that of zeros beyond it",
            report="https://github.com/pytorch/pytorch/issues/23925",
        ),
        Fault(
            "B",
            capped_exponential,
            "infinity times 0, where the result does not change",
            report="https://github.com/pytorch/pytorch/issues/10729",
        ),
        Fault(
            "B",
            sinc,
            "0 / 0 where the function is smooth",
            report="https://github.com/pytorch/pytorch/issues/56760",
        ),
        Fault(
            "B",
            sinc_near_zero,
            "digits cancel beside 0, which alone is treated",
            report="https://github.com/jax-ml/jax/pull/35305",
        ),
        Fault(
            "B",
            ReversedUpTo,
            "the gradient of lengths is whatever was there",
            report="https://github.com/apache/mxnet/issues/15932",
        ),
    ]
)
