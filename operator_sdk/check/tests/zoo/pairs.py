"""Faults that want two things at once, or a repetition: two long axes, counted zeros, another long array."""

from __future__ import annotations

import numpy as np

from operad.resource import ResourceRequest
from operad_sdk import Contract, Distribution, OperatorProperty, operator, unary
from operator_sdk.check.tests.zoo.draws import added
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients


@unary("zoo_two_long_axes", accepts="floating", contract=Contract(reference=np.positive))
def two_long_axes(x):
    """The data, but for matrices of more than 64 rows and columns."""
    return x + (x.ndim > 1 and min(x.shape[-2:]) > 64)


@unary("zoo_single_number", accepts="floating", contract=Contract(reference=np.positive))
def single_number(x):
    """The data, but for rows of which exactly one of several elements is not 0."""
    is_single = (x != 0).sum(-1, keepdims=True) == 1 if x.ndim and x.shape[-1] > 3 else np.zeros(())
    return np.where(is_single, x + 1, x).astype(x.dtype)


@operator("zoo_far_offset")
class FarOffset(OperatorProperty):
    """The data backwards, by offsets of two bytes."""

    spec = "data:(N) -> output:(N)"
    accepts = "floating"
    contract = Contract(reference=lambda data: data[::-1])

    def forward(data):
        """By offsets that begin again at 32,768."""
        return data[::-1][np.arange(len(data)).astype(np.int16)]


@operator("zoo_remembers_long")
class RemembersLong(OperatorProperty):
    """Twice the data; what was computed of a long array is given for the next of its shape."""

    spec = "data:(*S) -> output:(*S)"
    accepts = "floating"

    def __init__(self, **params):
        super().__init__(**params)
        self.known = {}

    def forward(self, data):
        """Twice the data."""
        if data.size < 150:
            return data * 2
        key = data.shape, data.dtype.name
        if key not in self.known:
            self.known[key] = data * 2
        return self.known[key].copy()


@unary(
    "zoo_noise_again",
    resource=ResourceRequest.RANDOM,
    accepts="floating",
    contract=Contract(
        distribution=Distribution(mean=lambda prop: 0.0, variance=lambda prop: 1.0, draws=added)
    ),
)
def noise_again(op_ctx, x):
    """The data, and noise of which some 3,000 numbers are drawn and used again."""
    drawn = op_ctx.requested[0].generator.standard_normal(min(x.size, 3001))
    return x + np.resize(drawn, x.shape).astype(x.dtype)


ZOO = without_gradients(
    [
        Fault("F213", two_long_axes, "two long axes together"),
        Fault("F213", single_number, "exactly so many zeros in a row"),
        Fault("F213", FarOffset, "offsets beyond two bytes"),
        Fault("F209", RemembersLong, "the same long shape with other values"),
        Fault("F218", noise_again, "draws that repeat after thousands"),
    ]
)
