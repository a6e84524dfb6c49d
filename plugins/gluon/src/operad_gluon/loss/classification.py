"""Losses of classes that are predicted."""

from __future__ import annotations

from typing import Any

from operad_gluon.errors import BlockValueError, ParameterError
from operad_gluon.loss.base import Loss, MarginLoss, softplus_of_minus_abs, weighted


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
            loss = F.relu(pred) - pred * label + softplus_of_minus_abs(F, pred)
        else:
            factor = 1 + F.broadcast_mul(pos_weight - 1, label)
            loss = pred - pred * label + factor * (softplus_of_minus_abs(F, pred) + F.relu(-pred))
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
        loss = weighted(F, loss, self._weight, sample_weight)
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
        return weighted(F, loss, self._weight, sample_weight)


class HingeLoss(MarginLoss):
    """max(0, margin - pred * label), for labels of -1 and 1.

    Args:
        margin: The product from which on there is no loss.
        weight: Factor of all values, or None.
        batch_axis: The axis of samples.
    """

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
        loss = F.relu(pred) - pred * label + softplus_of_minus_abs(F, pred)
        return self._mean(F, loss, sample_weight)
