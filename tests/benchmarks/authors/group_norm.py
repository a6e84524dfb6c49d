"""Normalization of groups of channels."""

from __future__ import annotations

import numpy as np

from operad_sdk import Array, Contract, OperatorProperty, Real, gradient, operator, param

_OF_GROUP = (2, 3, 4)


def _in_groups(data: Array, groups: int) -> Array:
    n, c, h, w = data.shape
    return data.reshape(n, groups, c // groups, h, w)


def _of_channels(vector: Array) -> Array:
    return vector.reshape(1, -1, 1, 1)


def _of_groups(statistic: Array) -> Array:
    return statistic[:, :, None, None, None]


def _reference(data: Array, gamma: Array, beta: Array, groups: int, eps: float) -> Array:
    parts = _in_groups(data, groups)
    mean, variance = (find(_OF_GROUP, keepdims=True) for find in (parts.mean, parts.var))
    normal = ((parts - mean) / np.sqrt(variance + eps)).reshape(data.shape)
    return normal * _of_channels(gamma) + _of_channels(beta)


@operator("author_group_norm")
class GroupNorm(OperatorProperty):
    """`normal(data) * gamma + beta`, with the mean and deviation of each sample's groups of channels.

    Source: Wu and He, Group Normalization, equations 1 to 7.
    """

    spec = (
        "data:(N, groups*c, H, W), gamma:(groups*c), beta:(groups*c)"
        " -> output:(N, groups*c, H, W), hidden mean:(N, groups), hidden deviation:(N, groups)"
    )
    accepts = "floating"
    compute_dtype = "float32"
    groups = param(int, 4, ge=1, doc="How many groups the channels are divided into.")
    eps = param(float, 1e-5, gt=0, doc="Added to the variance.")
    contract = Contract(
        reference=_reference,
        inputs={"data": Real(above=-16, below=16)},  # squares have to be in range
    )

    def forward(
        data: Array, gamma: Array, beta: Array, groups: int, eps: float
    ) -> tuple[Array, Array, Array]:
        """The definition."""
        parts = _in_groups(data, groups)
        mean = parts.mean(axis=_OF_GROUP)
        centred = parts - _of_groups(mean)
        deviation = np.sqrt((centred * centred).mean(axis=_OF_GROUP) + eps)
        normal = (centred / _of_groups(deviation)).reshape(data.shape)
        return normal * _of_channels(gamma) + _of_channels(beta), mean, deviation

    @gradient
    def data_grad(
        output_grad: Array, data: Array, gamma: Array, mean: Array, deviation: Array, groups: int
    ) -> Array:
        """`(g - mean(g) - y mean(g y)) / deviation` with `y = normal(data)` and `g = output_grad gamma`."""
        normal = (_in_groups(data, groups) - _of_groups(mean)) / _of_groups(deviation)
        scaled = _in_groups(output_grad * _of_channels(gamma), groups)
        average, slope = (each.mean(axis=_OF_GROUP) for each in (scaled, scaled * normal))
        grad = scaled - _of_groups(average) - normal * _of_groups(slope)
        return (grad / _of_groups(deviation)).reshape(data.shape)

    @gradient
    def gamma_grad(output_grad: Array, data: Array, mean: Array, deviation: Array, groups: int) -> Array:
        """The sum of `output_grad y` over samples and places."""
        normal = (_in_groups(data, groups) - _of_groups(mean)) / _of_groups(deviation)
        return (output_grad * normal.reshape(data.shape)).sum(axis=(0, 2, 3))

    @gradient
    def beta_grad(output_grad: Array) -> Array:
        """The sum over samples and places."""
        return output_grad.sum(axis=(0, 2, 3))
