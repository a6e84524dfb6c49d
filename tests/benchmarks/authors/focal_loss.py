"""The loss of a detector, in which what is easy counts little."""

from __future__ import annotations

import numpy as np

from operad_sdk import Array, Contract, Integers, OperatorProperty, operator, param


def _signed(data: Array, label: Array) -> Array:
    """Logits of the class that each label names."""
    return np.where(label == 1, data, -data)


def _logs(logits: Array) -> tuple[Array, Array]:
    """`log p` and `log(1 - p)` with `p = sigmoid(logits)`."""
    return -np.logaddexp(0, -logits), -np.logaddexp(0, logits)


def _weights(label: Array, alpha: float, dtype: np.dtype) -> Array:
    return np.where(label == 1, alpha, 1 - alpha).astype(dtype)


def _reference(data: Array, label: Array, alpha: float, gamma: float) -> Array:
    ones, zeros = data[label == 1], data[label != 1]
    found = alpha * np.exp(-gamma * np.logaddexp(0, ones)) * np.logaddexp(0, -ones)
    refused = (1 - alpha) * np.exp(-gamma * np.logaddexp(0, -zeros)) * np.logaddexp(0, zeros)
    return np.array([(found.sum() + refused.sum()) / data.size])


@operator("author_focal_loss")
class FocalLoss(OperatorProperty):
    """The mean of `-a (1 - p)^gamma log p`, with `p` the probability that the logit gives to its label.

    The weight `a` is `alpha` where the label is 1, and `1 - alpha` where it is 0.

    Source: Lin et al., Focal Loss for Dense Object Detection, equation 5.
    """

    spec = "data:(N, C), label:int64(N, C) -> output:(1); N >= 1, C >= 1"
    accepts = "floating"
    compute_dtype = "float32"
    alpha = param(float, 0.25, ge=0, le=1, doc="The weight of elements with label 1.")
    gamma = param(float, 2.0, ge=0, doc="How little the elements count whose probability is high.")
    contract = Contract(reference=_reference, inputs={"label": Integers(0, 1)})

    def forward(data: Array, label: Array, alpha: float, gamma: float) -> Array:
        """The definition."""
        hit, miss = _logs(_signed(data, label))
        losses = _weights(label, alpha, data.dtype) * np.exp(gamma * miss) * -hit
        return losses.mean().reshape(1)

    def data_grad(output_grad: Array, data: Array, label: Array, alpha: float, gamma: float) -> Array:
        """`a (1 - p)^gamma (gamma p log p - (1 - p))` by the logit of the label."""
        hit, miss = _logs(_signed(data, label))
        slope = np.exp(gamma * miss) * (gamma * np.exp(hit) * hit - np.exp(miss))
        slope = _weights(label, alpha, data.dtype) * slope
        return _signed(slope, label) * (output_grad / data.size)
