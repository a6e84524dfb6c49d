"""Base of losses, and the weights of samples.

Source: python/mxnet/gluon/loss.py.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

from operad_gluon.block import HybridBlock
from operad_gluon.errors import ParameterError


def weighted(F: Any, loss: Any, weight: Any = None, sample_weight: Any = None) -> Any:
    """`loss` times the weight of each sample, and one of all."""
    if sample_weight is not None:
        loss = F.broadcast_mul(loss, sample_weight)
    if weight is not None:
        if not isinstance(weight, Real):
            raise ParameterError(f"weight of a loss is {weight!r}, expected a number")
        loss = loss * weight
    return loss


def softplus_of_minus_abs(F: Any, pred: Any) -> Any:
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
        loss = weighted(F, loss, weight, sample_weight)
        return F.mean(loss, axis=self._batch_axis, exclude=True)


class MarginLoss(Loss):
    """Base of losses with a margin.

    Args:
        margin: From which number on there is no loss.
        weight: Factor of all values, or None.
        batch_axis: The axis of samples.
    """

    def __init__(
        self, margin: float = 1, weight: float | None = None, batch_axis: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin
