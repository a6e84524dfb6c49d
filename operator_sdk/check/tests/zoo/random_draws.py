"""Faults of operators that draw random numbers."""

from __future__ import annotations

import numpy as np

from operad.resource import ResourceRequest
from operad_sdk import Contract, Distribution, OperatorProperty, operator, param, unary
from operator_sdk.check.tests.zoo.draws import added, dropout
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients


class _Drawing(OperatorProperty):
    accepts = "floating"
    spec = "data:(*S) -> output:(*S)"

    def forward_resource(self, in_shapes):
        """One generator."""
        return [ResourceRequest.RANDOM]


def _kept(prop, inputs, outputs):
    return (outputs[1] != 0).astype(float)


def _standard_noise(shape):
    return Contract(
        distribution=Distribution(
            mean=lambda prop: 0.0, variance=lambda prop: 1.0, draws=added, shapes=(shape,)
        )
    )


@operator("zoo_wrong_side_dropout")
class WrongSideDropout(_Drawing):
    """Zeros with the probability that others are kept with."""

    p = param(float, 0.25, gt=0, lt=1, doc="Probability of 0.")
    spec = "data:(*S) -> output:(*S), hidden mask:(*S)"
    contract = dropout({"p": 0.25}, {"p": 0.5}, draws=_kept)

    def forward(op_ctx, data, output, mask, p):
        """Masked."""
        keep = (op_ctx.requested[0].generator.random(data.shape) < p).astype(data.dtype)
        mask[...] = keep
        output[...] = data * keep


@operator("zoo_narrow_uniform")
class NarrowUniform(_Drawing):
    """Uniform noise between -1 and 1, of the right variance and the wrong shape."""

    contract = Contract(
        distribution=Distribution(
            mean=lambda prop: 0.0,
            variance=lambda prop: 1 / 3,
            cdf=lambda prop, x: np.clip((x + 1) / 2, 0, 1),
            draws=added,
        )
    )

    def forward(op_ctx, data):
        """Normal noise."""
        noise = op_ctx.requested[0].generator.normal(scale=3**-0.5, size=data.shape)
        return data + noise.astype(data.dtype)


@operator("zoo_own_seed")
class OwnSeed(_Drawing):
    """Normal noise, the same each time whatever the seed."""

    contract = _standard_noise((20, 20))

    def forward(data):
        """From a generator of its own."""
        return data + np.random.default_rng(7).normal(size=data.shape).astype(data.dtype)


@operator("zoo_repeated_rows")
class RepeatedRows(_Drawing):
    """Normal noise, drawn once for all rows."""

    spec = "data:(N, D) -> output:(N, D)"
    contract = _standard_noise((4, 25))

    def forward(op_ctx, data):
        """One row of noise."""
        noise = op_ctx.requested[0].generator.normal(size=data.shape[1])
        return data + noise.astype(data.dtype)


@operator("zoo_noise_of_one_part")
class NoiseOfOnePart(_Drawing):
    """Normal noise; what is behind the first part of a large array is not drawn."""

    contract = _standard_noise((150, 200))

    def forward(op_ctx, data, output):
        """From the first 25,000 elements' generator alone."""
        noise = op_ctx.requested[0].generator.normal(size=min(data.size, 25_000))
        drawn = np.full(data.size, np.nan, data.dtype)
        drawn[: noise.size] = noise
        output[...] = data + drawn.reshape(data.shape)


@unary("zoo_undeclared_noise", resource=ResourceRequest.RANDOM, accepts="floating")
def undeclared_noise(op_ctx, x):
    """Every element, and noise of which nothing is said."""
    return x + op_ctx.requested[0].generator.normal(size=x.shape).astype(x.dtype)


@unary("zoo_global_generator", accepts="floating")
def global_generator(x):
    """Every element, and noise from NumPy's own generator."""
    return x + np.random.normal(size=x.shape).astype(x.dtype)


ZOO = without_gradients(
    [
        Fault("F218", RepeatedRows, "draws that should be independent are equal"),
        Fault("F218", WrongSideDropout, "keeps with the probability of dropping"),
        Fault("F218", NarrowUniform, "another distribution of equal moments"),
        Fault("F218", OwnSeed, "the seed makes no difference"),
        Fault("F218", NoiseOfOnePart, "a part of a large array is not drawn"),
        Fault("F218", undeclared_noise, "no distribution is declared"),
        Fault("F209 M405 M407 R501 R502 R503 X801 X804", global_generator, "NumPy's own generator"),
    ]
)
