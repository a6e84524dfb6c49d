"""Functions of NumPy, right and wrong ones, each with its gradient."""

from __future__ import annotations

import numpy as np


def softplus(x):
    return np.logaddexp(x, 0)


def softplus_grad(g, x):
    return g / (1 + np.exp(-x))


def softplus_grad_of_half(g, x):
    return g * 0.5


def in_place(x):
    x *= 2
    return x.copy()


def flat_memory(x):
    """Reads the memory of its argument without regard to strides."""
    return np.lib.stride_tricks.as_strided(x, x.shape, np.empty(x.shape, x.dtype).strides) * 1.0


def rows(x):
    if x.shape[0] > 3:
        raise ValueError("too many rows")
    return x.sum(-1)


def refuses_negative(x):
    if (x < 0).any():
        raise ValueError("a number is negative")
    return np.sqrt(x)


def refuses_negative_grad(g, x):
    with np.errstate(divide="ignore", invalid="ignore"):
        return g / (2 * np.sqrt(x))


def swallows_nan(x):
    return np.nan_to_num(x) * 2


def halves(x):
    return x / 2


def backward_refuses(g, x):
    raise ValueError("no gradient of such shapes")


def other_shape(x):
    return x.sum(-1, keepdims=True)


def other_shape_of_rows(x):
    return x.sum(-1, keepdims=len(x) == 2)


def takes_scale(x, scale):
    return x * scale


def standardized(x):
    """Rows without their mean, by their deviation."""
    apart = x - x.mean(-1, keepdims=True)
    return apart / _deviation(apart)


def _deviation(apart):
    return np.sqrt((apart**2).mean(-1, keepdims=True) + np.asarray(1e-5, apart.dtype))


def standardized_grad(g, x):
    """(g - mean(g) - y mean(g y)) / deviation."""
    y = standardized(x)
    terms = g - g.mean(-1, keepdims=True) - y * (g * y).mean(-1, keepdims=True)
    return terms / _deviation(x - x.mean(-1, keepdims=True))


def standardized_grad_in_half(g, x):
    narrow = np.float16 if x.dtype == np.float32 else x.dtype
    return standardized_grad(g.astype(narrow), x.astype(narrow)).astype(x.dtype)


def standardized_by_strides(x):
    """All numbers without their mean, whose terms round in another way where strides are others."""
    mean = x.mean() if x.flags.c_contiguous else (x / np.asarray(x.size, x.dtype)).sum()
    apart = (x - mean).reshape(-1)
    return (apart / _deviation(apart)).reshape(x.shape)
