"""`BatchProcessor`: forward and backward pass of a batch.

Source: python/mxnet/gluon/contrib/estimator/batch_processor.py.
"""

from __future__ import annotations

from typing import Any

from operad import autograd
from operad_gluon.training_tools import split_and_load

__all__ = ["BatchProcessor"]


class BatchProcessor:
    """The passes of a batch; a subclass may do something else with it."""

    def _get_data_and_label(self, batch: Any, ctx: Any, batch_axis: int = 0) -> tuple[Any, Any]:
        data, label = (split_and_load(one, ctx_list=ctx, batch_axis=batch_axis) for one in batch[:2])
        return data, label

    def evaluate_batch(
        self, estimator: Any, val_batch: Any, batch_axis: int = 0
    ) -> tuple[Any, Any, Any, Any]:
        """Data, labels, predictions and losses of a batch, by context."""
        data, label = self._get_data_and_label(val_batch, estimator.context, batch_axis)
        pred = [estimator.val_net(one) for one in data]
        return data, label, pred, [estimator.val_loss(*pair) for pair in zip(pred, label, strict=True)]

    def fit_batch(self, estimator: Any, train_batch: Any, batch_axis: int = 0) -> tuple[Any, Any, Any, Any]:
        """Data, labels, predictions and losses of a batch, by context, with gradients."""
        data, label = self._get_data_and_label(train_batch, estimator.context, batch_axis)
        with autograd.record():
            pred = [estimator.net(one) for one in data]
            loss = [estimator.loss(*pair) for pair in zip(pred, label, strict=True)]
        for one in loss:
            one.backward()
        return data, label, pred, loss
