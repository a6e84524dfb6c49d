"""Reference of `BatchNorm`, from the rows of channels, for the contract checks."""

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
    """The outputs, the last of which is a rate or a variance, and the new states."""
    channels = np.moveaxis(data, axis, 0)
    rows = channels.reshape(len(channels), -1)
    learns = is_train and not use_global_stats and data.size > 0
    # The mean of equal values is their value, without rounding.
    mean = rows[:, 0] + (rows - rows[:, :1]).mean(axis=1) if learns else moving_mean
    var = rows.var(axis=1) if learns else moving_var
    output = np.empty_like(channels)
    scale, offset, middle = (
        np.reshape(one, (-1, *[1] * (data.ndim - 1)))
        for one in ((1 if fix_gamma else gamma) / np.sqrt(var + eps), beta, mean)
    )
    output[...] = (channels - middle) * scale + offset
    share = momentum if learns else 1
    states = [share * old + (1 - share) * new for old, new in ((moving_mean, mean), (moving_var, var))]
    return (np.moveaxis(output, 0, axis), mean, var if shows_variance else 1 / np.sqrt(var + eps), *states)
