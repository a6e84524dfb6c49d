"""Contracts of operators of the zoo that draw at random; what they draw may be something else."""

from __future__ import annotations

from operad_sdk import Contract, Distribution


def added(prop, inputs, outputs):
    """What was added to the first argument."""
    return outputs[0] - inputs[0]


def dropout(*params, draws):
    """Elements are kept with a probability of `1 - p`."""
    return Contract(
        distribution=Distribution(
            mean=lambda prop: 1 - prop.p,
            variance=lambda prop: prop.p * (1 - prop.p),
            draws=draws,
            params=params,
        )
    )


def scaled_dropout(*params):
    """Elements are kept with a probability of `1 - p`, and scaled up; the second output has the factors."""
    return Contract(
        distribution=Distribution(
            mean=lambda prop: 1.0,
            variance=lambda prop: prop.p / (1 - prop.p),
            draws=lambda prop, inputs, outputs: outputs[1],
            params=params,
        )
    )
