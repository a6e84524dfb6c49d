"""Reference of `BatchNorm`, one channel at a time, for the contract checks."""

from __future__ import annotations

import numpy as np

from operad_sdk import Array


def normalized(
    data: Array,
    gamma: Array,
    beta: Array,
    moving_mean: Array,
    moving_var: Array,
    eps: float,
    momentum: float,
    fix_gamma: bool,
    use_global_stats: bool,
    axis: int,
    is_train: bool,
    shows_variance: bool = False,
) -> tuple[Array, ...]:
    """One channel at a time: the outputs, the last of which is a rate or a variance, and the new states."""
    channels = np.moveaxis(data, axis, 0).reshape(data.shape[axis], -1)
    learns = is_train and not use_global_stats and data.size > 0
    # The mean of equal values is their value, without rounding.
    mean = np.array([row[0] + (row - row[0]).mean() for row in channels]) if learns else moving_mean
    var = np.array([row.var() for row in channels]) if learns else moving_var
    output = np.empty_like(np.moveaxis(data, axis, 0))
    for channel, row in enumerate(np.moveaxis(data, axis, 0)):
        scale = (1 if fix_gamma else gamma[channel]) / np.sqrt(var[channel] + eps)
        output[channel] = (row - mean[channel]) * scale + beta[channel]
    share = momentum if learns else 1
    states = [share * old + (1 - share) * new for old, new in ((moving_mean, mean), (moving_var, var))]
    return (np.moveaxis(output, 0, axis), mean, var if shows_variance else 1 / np.sqrt(var + eps), *states)
