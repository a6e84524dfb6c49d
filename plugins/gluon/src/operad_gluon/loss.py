"""Losses of predictions: a value for each sample.

Source: python/mxnet/gluon/loss.py. Differs: `CosineEmbeddingLoss` runs on any context, and `SDMLLoss` can be
hybridized.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

from operad_gluon.block import HybridBlock
from operad_gluon.errors import BlockValueError, ParameterError


def _apply_weighting(F: Any, loss: Any, weight: Any = None, sample_weight: Any = None) -> Any:
    """`loss` times the weight of each sample, and one of all."""
    if sample_weight is not None:
        loss = F.broadcast_mul(loss, sample_weight)
    if weight is not None:
        if not isinstance(weight, Real):
            raise ParameterError(f"weight of a loss is {weight!r}, expected a number")
        loss = loss * weight
    return loss


def _softplus_of_minus_abs(F: Any, pred: Any) -> Any:
    """log(1 + exp(-|pred|)), which is exact for large predictions."""
    return F.Activation(-F.abs(pred), act_type="softrelu")


class Loss(HybridBlock):
    """Base of losses.

    Args:
        weight: Factor of all values, or None.
        batch_axis: The axis of samples.
    """

    def __init__(self, weight: float | None, batch_axis: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._weight, self._batch_axis = weight, batch_axis

    def __repr__(self) -> str:
        return f"{type(self).__name__}(batch_axis={self._batch_axis}, w={self._weight})"

    def _mean(self, F: Any, loss: Any, sample_weight: Any = None, weight: Any = None) -> Any:
        """The weighted mean of each sample."""
        weight = self._weight if weight is None else weight
        loss = _apply_weighting(F, loss, weight, sample_weight)
        return F.mean(loss, axis=self._batch_axis, exclude=True)


class L2Loss(Loss):
    """(label - pred)^2 / 2, its mean for each sample."""

    def __init__(self, weight: float = 1.0, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """A value for each sample."""
        loss = F.square(F.reshape_like(label, pred) - pred)
        return self._mean(F, loss, sample_weight, None if self._weight is None else self._weight / 2)


class L1Loss(Loss):
    """|label - pred|, its mean for each sample."""

    def __init__(self, weight: float | None = None, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """A value for each sample."""
        return self._mean(F, F.abs(F.reshape_like(label, pred) - pred), sample_weight)


class SigmoidBinaryCrossEntropyLoss(Loss):
    """Cross entropy of labels in [0, 1] and the sigmoid of predictions.

    Args:
        from_sigmoid: Whether predictions are probabilities already.
        weight: Factor of all values, or None.
        batch_axis: The axis of samples.
    """

    def __init__(
        self, from_sigmoid: bool = False, weight: float | None = None, batch_axis: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._from_sigmoid = from_sigmoid

    def hybrid_forward(
        self, F: Any, pred: Any, label: Any, sample_weight: Any = None, pos_weight: Any = None
    ) -> Any:
        """A value for each sample; `pos_weight` are factors of labels that are 1."""
        label = F.reshape_like(label, pred)
        if self._from_sigmoid:
            positive = F.log(pred + 1e-12) * label
            if pos_weight is not None:
                positive = F.broadcast_mul(positive, pos_weight)
            loss = -(positive + F.log(1.0 - pred + 1e-12) * (1.0 - label))
        elif pos_weight is None:
            loss = F.relu(pred) - pred * label + _softplus_of_minus_abs(F, pred)
        else:
            factor = 1 + F.broadcast_mul(pos_weight - 1, label)
            loss = pred - pred * label + factor * (_softplus_of_minus_abs(F, pred) + F.relu(-pred))
        return self._mean(F, loss, sample_weight)


SigmoidBCELoss = SigmoidBinaryCrossEntropyLoss


class SoftmaxCrossEntropyLoss(Loss):
    """-log of the probability of the label, by the softmax of predictions.

    >>> import operad as od
    >>> loss = od.gluon.loss.SoftmaxCrossEntropyLoss()
    >>> loss(od.nd.array([[0, 0], [100, 0]]), od.nd.array([1, 0])).asnumpy().round(3)
    array([0.693, 0.   ], dtype=float32)

    Args:
        axis: The axis of classes.
        sparse_label: Whether labels are numbers of classes, else probabilities of each.
        from_logits: Whether predictions are logarithms of probabilities already.
        weight: Factor of all values, or None.
        batch_axis: The axis of samples.
    """

    def __init__(
        self,
        axis: int = -1,
        sparse_label: bool = True,
        from_logits: bool = False,
        weight: float | None = None,
        batch_axis: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._axis, self._sparse_label, self._from_logits = axis, sparse_label, from_logits

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """A value for each sample."""
        if not self._from_logits:
            pred = F.log_softmax(pred, axis=self._axis)
        if self._sparse_label:
            loss = -F.pick(pred, label, axis=self._axis, keepdims=True)
        else:
            loss = -F.sum(pred * F.reshape_like(label, pred), axis=self._axis, keepdims=True)
        return self._mean(F, loss, sample_weight)


SoftmaxCELoss = SoftmaxCrossEntropyLoss


class KLDivLoss(Loss):
    """label * (log(label) - pred): the divergence of predictions from labels.

    Args:
        from_logits: Whether predictions are logarithms of probabilities already.
        axis: The axis of classes.
        weight: Factor of all values, or None.
        batch_axis: The axis of samples.
    """

    def __init__(
        self,
        from_logits: bool = True,
        axis: int = -1,
        weight: float | None = None,
        batch_axis: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._from_logits, self._axis = from_logits, axis

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """A value for each sample."""
        if not self._from_logits:
            pred = F.log_softmax(pred, self._axis)
        loss = label * (F.log(label + 1e-12) - pred)
        loss = _apply_weighting(F, loss, self._weight, sample_weight)
        return F.sum(loss, axis=self._batch_axis, exclude=True)


class CTCLoss(Loss):
    """Connectionist temporal classification: -log of the probability of a sequence of labels.

    Args:
        layout: Order of the axes of predictions, "NTC" or "TNC".
        label_layout: Order of the axes of labels, "NT" or "TN".
        weight: Factor of all values, or None.
    """

    def __init__(
        self, layout: str = "NTC", label_layout: str = "NT", weight: float | None = None, **kwargs: Any
    ) -> None:
        if layout not in ("NTC", "TNC"):
            raise ParameterError(f"Only 'NTC' and 'TNC' layouts for pred are supported. Got: {layout}")
        if label_layout not in ("NT", "TN"):
            raise ParameterError(f"Only 'NT' and 'TN' layouts for label are supported. Got: {label_layout}")
        self._layout, self._label_layout = layout, label_layout
        super().__init__(weight, label_layout.find("N"), **kwargs)

    def hybrid_forward(
        self,
        F: Any,
        pred: Any,
        label: Any,
        pred_lengths: Any = None,
        label_lengths: Any = None,
        sample_weight: Any = None,
    ) -> Any:
        """A value for each sample."""
        if self._layout == "NTC":
            pred = F.swapaxes(pred, 0, 1)
        if self._batch_axis == 1:
            label = F.swapaxes(label, 0, 1)
        loss = F.CTCLoss(
            pred,
            label,
            *[lengths for lengths in (pred_lengths, label_lengths) if lengths is not None],
            use_data_lengths=pred_lengths is not None,
            use_label_lengths=label_lengths is not None,
            blank_label="last",
        )
        return _apply_weighting(F, loss, self._weight, sample_weight)


class HuberLoss(Loss):
    """|label - pred| less `rho / 2` where it is above `rho`, else its square over `2 rho`.

    Args:
        rho: Where the square ends.
        weight: Factor of all values, or None.
        batch_axis: The axis of samples.
    """

    def __init__(
        self, rho: float = 1, weight: float | None = None, batch_axis: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._rho = rho

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """A value for each sample."""
        loss = F.abs(F.reshape_like(label, pred) - pred)
        loss = F.where(loss > self._rho, loss - 0.5 * self._rho, (0.5 / self._rho) * F.square(loss))
        return self._mean(F, loss, sample_weight)


class HingeLoss(Loss):
    """max(0, margin - pred * label), for labels of -1 and 1.

    Args:
        margin: The product from which on there is no loss.
        weight: Factor of all values, or None.
        batch_axis: The axis of samples.
    """

    def __init__(
        self, margin: float = 1, weight: float | None = None, batch_axis: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def _hinge(self, F: Any, pred: Any, label: Any) -> Any:
        return F.relu(self._margin - pred * F.reshape_like(label, pred))

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """A value for each sample."""
        return self._mean(F, self._hinge(F, pred, label), sample_weight)


class SquaredHingeLoss(HingeLoss):
    """max(0, margin - pred * label)^2, for labels of -1 and 1; see `HingeLoss`."""

    def _hinge(self, F: Any, pred: Any, label: Any) -> Any:
        return F.square(super()._hinge(F, pred, label))


class LogisticLoss(Loss):
    """log(1 + exp(-pred * label)), for labels of -1 and 1.

    Args:
        weight: Factor of all values, or None.
        batch_axis: The axis of samples.
        label_format: "signed", or "binary" for labels of 0 and 1.
    """

    def __init__(
        self, weight: float | None = None, batch_axis: int = 0, label_format: str = "signed", **kwargs: Any
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        if label_format not in ("signed", "binary"):
            raise BlockValueError(f"label_format can only be signed or binary, received {label_format}.")
        self._label_format = label_format

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """A value for each sample."""
        label = F.reshape_like(label, pred)
        if self._label_format == "signed":
            label = (label + 1.0) / 2.0
        loss = F.relu(pred) - pred * label + _softplus_of_minus_abs(F, pred)
        return self._mean(F, loss, sample_weight)


class TripletLoss(Loss):
    """max(0, |positive - pred|^2 - |negative - pred|^2 + margin).

    Args:
        margin: Added to the difference of the distances.
        weight: Factor of all values, or None.
        batch_axis: The axis of samples.
    """

    def __init__(
        self, margin: float = 1, weight: float | None = None, batch_axis: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F: Any, pred: Any, positive: Any, negative: Any) -> Any:
        """A value for each sample."""
        positive, negative = F.reshape_like(positive, pred), F.reshape_like(negative, pred)
        difference = F.square(positive - pred) - F.square(negative - pred)
        loss = F.relu(F.sum(difference, axis=self._batch_axis, exclude=True) + self._margin)
        return _apply_weighting(F, loss, self._weight)


class PoissonNLLLoss(Loss):
    """-log of the probability of a count, by the Poisson distribution whose mean is predicted; one mean.

    Args:
        weight: Factor of all values, or None.
        from_logits: Whether predictions are logarithms of means.
        batch_axis: The axis of samples.
        compute_full: Whether the term that depends on the count alone is added, by Stirling's formula.
    """

    def __init__(
        self,
        weight: float | None = None,
        from_logits: bool = True,
        batch_axis: int = 0,
        compute_full: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._from_logits, self._compute_full = from_logits, compute_full

    def hybrid_forward(
        self, F: Any, pred: Any, target: Any, sample_weight: Any = None, epsilon: float = 1e-08
    ) -> Any:
        """The mean of all values."""
        target = F.reshape_like(target, pred)
        if self._from_logits:
            loss = F.exp(pred) - target * pred
        else:
            loss = pred - target * F.log(pred + epsilon)
        if self._compute_full:
            stirling = target * F.log(target) - target + 0.5 * F.log(2 * target * math.pi)
            loss = loss + stirling * (target > 1)
        return F.mean(_apply_weighting(F, loss, self._weight, sample_weight))


class CosineEmbeddingLoss(Loss):
    """1 - cos of two vectors where the label is 1, max(0, cos - margin) where it is -1.

    Args:
        weight: Factor of all values, or None.
        batch_axis: The axis of samples.
        margin: The cosine up to which vectors count as different.
    """

    def __init__(
        self, weight: float | None = None, batch_axis: int = 0, margin: float = 0, **kwargs: Any
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F: Any, input1: Any, input2: Any, label: Any, sample_weight: Any = None) -> Any:
        """A value for each sample, of shape (samples, 1)."""
        input1 = F.reshape_like(input1, input2)
        product = F.sum(input1 * input2, axis=-1).reshape((-1, 1))
        lengths = F.norm(input1, axis=-1).reshape((-1, 1)) * F.norm(input2, axis=-1).reshape((-1, 1))
        cosine = product / F.maximum(lengths, 1e-12)
        label = F.reshape(label, (-1, 1))
        alike, different = (label == 1) * (1 - cosine), (label == -1) * (cosine - self._margin)
        return _apply_weighting(F, alike + F.relu(different), self._weight, sample_weight)


class SDMLLoss(Loss):
    """Smoothed deep metric learning: pairs of a batch are told from all others by the distances.

    Args:
        smoothing_parameter: Probability of the others, together.
        weight: Taken and not used, as in MXNet.
        batch_axis: The axis of samples.
    """

    def __init__(
        self, smoothing_parameter: float = 0.3, weight: float = 1.0, batch_axis: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._smoothing = smoothing_parameter

    def hybrid_forward(self, F: Any, x1: Any, x2: Any) -> Any:
        """A value for each pair."""
        apart = F.broadcast_sub(F.expand_dims(x1, axis=1), F.expand_dims(x2, axis=0))
        logarithms = F.log_softmax(-F.sum(F.square(apart), axis=2), axis=1)
        rows = F.expand_dims(F.contrib.arange_like(logarithms, axis=0), axis=1)
        same = F.broadcast_equal(rows, F.expand_dims(F.contrib.arange_like(logarithms, axis=1), axis=0))
        others = F.sum(same, keepdims=True) - 1
        label = same * (1 - self._smoothing) + F.broadcast_div((1 - same) * self._smoothing, others)
        return F.sum(label * (F.log(label + 1e-12) - logarithms), axis=0, exclude=True)
