"""Values of the losses, and the scalars whose gradients they give, for the contract checks.

Each is written from the loss's definition, not from the operator's gradient, so that the two check
each other. Arrays are double precision.
"""

from __future__ import annotations

from math import log, prod
from typing import Any, Final

import numpy as np

from operad_sdk import Array

LARGEST_LOSS: Final = -log(1e-8)
"""Largest loss of an item of `softmax_cross_entropy`: a probability below 1e-8 counts as that."""


def prediction(data: Array, *label: Array) -> Array:
    """The data, which is what several losses predict."""
    return data


def logistic(data: Array, label: Array) -> Array:
    """The logistic function of the data."""
    return np.asarray(1 / (1 + np.exp(-data.astype(np.float64))))


def probabilities(data: Array, label: Array, multi_output: bool, preserve_shape: bool) -> Array:
    """The softmax along the classes."""
    wide = np.exp(data.astype(np.float64))
    classes = 1 if multi_output else -1 if preserve_shape else tuple(range(1, data.ndim))
    return np.asarray(wide / wide.sum(classes, keepdims=True))


def half_squared_error(data: Array, label: Array, grad_scale: float) -> Any:
    """Half the squared distances, over the outputs of an item."""
    return grad_scale * np.square(data - label.reshape(data.shape)).sum() / 2 / _outputs(data)


def absolute_error(data: Array, label: Array, grad_scale: float) -> Any:
    """The distances, over the outputs of an item."""
    return grad_scale * np.abs(data - label.reshape(data.shape)).sum() / _outputs(data)


def logistic_cross_entropy(data: Array, label: Array, grad_scale: float) -> Any:
    """The cross-entropies of labels and logistic probabilities, over the outputs of an item."""
    wanted = label.reshape(data.shape)
    entropies = wanted * np.logaddexp(0, -data) + (1 - wanted) * np.logaddexp(0, data)
    return grad_scale * entropies.sum() / _outputs(data)


def scaled_sum(data: Array, grad_scale: float, valid_thresh: float, normalization: str) -> Any:
    """The sum of the data, over the rows, or over the elements above the threshold."""
    divisors = {
        "null": 1,
        "batch": prod(data.shape[:-1]),
        "valid": np.sum(data > valid_thresh),
    }
    return grad_scale * data.sum() / max(divisors[normalization], 1)


def hinge(
    data: Array, label: Array, margin: float, regularization_coefficient: float, use_linear: bool
) -> Any:
    """The shortfalls of the scores, or their squares."""
    side = np.where(_is_label(label, data.shape[-1]), -1.0, 1.0)
    shortfall = np.maximum(margin + side * data, 0)
    return regularization_coefficient * (shortfall if use_linear else shortfall**2).sum()


def cross_entropy(data: Array, label: Array) -> Array:
    """The sum of the cross-entropies of labels and softmax; a label that is no class gives none."""
    scores = data.astype(np.float64)
    labelled = _is_label(label, data.shape[1])
    losses = np.minimum(_log_sum_exp(scores) - np.where(labelled, scores, 0).sum(1), LARGEST_LOSS)
    return np.reshape(losses[labelled.any(1)].sum(), 1)


def softmax_loss(
    data: Array,
    label: Array,
    grad_scale: float,
    ignore_label: float,
    multi_output: bool,
    use_ignore: bool,
    preserve_shape: bool,
    normalization: str,
    smooth_alpha: float,
) -> Any:
    """The cross-entropies of labels and softmax, over what `normalization` says."""
    if not data.size:
        return 0.0
    if multi_output:
        rows = np.moveaxis(data, 1, -1)
    else:
        rows = data if preserve_shape else data.reshape(len(data), -1)
    if label.shape == data.shape:
        return grad_scale * (_log_sum_exp(rows).sum() - (label * data).sum())
    positions = label.reshape(rows.shape[:-1])
    wanted = _is_label(positions, rows.shape[-1]).astype(np.float64)
    if smooth_alpha and not multi_output:
        share = smooth_alpha / max(rows.shape[-1] - 1, 1)
        wanted = np.where(wanted == 1, 1 - smooth_alpha, share)
    losses = _log_sum_exp(rows) - (wanted * rows).sum(-1)
    counted = positions != ignore_label
    divisor = {"null": 1, "batch": len(positions) if multi_output else positions.size, "valid": counted.sum()}
    total = (losses * counted if use_ignore else losses).sum() / max(divisor[normalization], 1)
    return (
        grad_scale * total / (prod(positions.shape[1:]) if multi_output and normalization != "valid" else 1)
    )


def _outputs(data: Array) -> int:
    return max(int(prod(data.shape[1:])), 1)


def _is_label(label: Array, classes: int) -> Array:
    return np.asarray(np.arange(classes) == np.asarray(label).astype(np.int64)[..., None])


def _log_sum_exp(rows: Array) -> Array:
    return np.asarray(np.logaddexp.reduce(rows, axis=-1))
