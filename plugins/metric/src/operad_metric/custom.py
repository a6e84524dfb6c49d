"""Metrics that are what a program says: the mean of outputs, and functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from operad.errors import UnsupportedError
from operad_metric.arrays import check_label_shapes, listed, values
from operad_metric.metric import EvalMetric, NamedMetric
from operad_metric.registered import register


@register
class Loss(NamedMetric, called="loss"):
    """The mean of the outputs, which are losses; labels are not looked at."""

    def update(self, labels: Any, preds: Any) -> None:
        """Add every element."""
        for pred in map(values, listed(preds)):
            self.accumulate(float(pred.sum()), pred.size)


@register
class Torch(Loss, called="torch"):
    """`Loss` under the name that MXNet used for criterions of Torch."""


@register
class Caffe(Loss, called="caffe"):
    """`Loss` under the name that MXNet used for layers of Caffe."""


@register
class CustomMetric(EvalMetric):
    """The mean of what a function says of each label and prediction, given as NumPy arrays.

    Args:
        feval: Function of a label and a prediction; returns a number, or a sum and a count.
        name: Default: the function's name.
        allow_extra_outputs: There may be predictions without a label.
        output_names: As in `EvalMetric`, with what follows.
    """

    def __init__(
        self,
        feval: Callable[[Any, Any], Any],
        name: str | None = None,
        allow_extra_outputs: bool = False,
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        named = getattr(feval, "__name__", type(feval).__name__) if name is None else name
        super().__init__(
            f"custom({named})" if "<" in named else named,
            output_names,
            label_names,
            feval=feval,
            allow_extra_outputs=allow_extra_outputs,
            has_global_stats=True,
        )
        self._feval = feval
        self._allow_extra_outputs = allow_extra_outputs

    def update(self, labels: Any, preds: Any) -> None:
        """Add what the function says.

        Raises:
            ShapeError: There are not as many predictions as labels, and extra ones are not allowed.
        """
        labels, preds = listed(labels), listed(preds)
        if not self._allow_extra_outputs:
            check_label_shapes(labels, preds)
        for label, pred in zip(labels, preds, strict=False):
            said = self._feval(values(label), values(pred))
            total, count = said if isinstance(said, tuple) else (said, 1)
            self.accumulate(total, count)

    def get_config(self) -> dict[str, Any]:
        """Refused: a function cannot be told.

        Raises:
            UnsupportedError: Always.
        """
        raise UnsupportedError("CustomMetric cannot be serialized: it is made of a function; make it again")


def np(
    numpy_feval: Callable[[Any, Any], Any], name: str | None = None, allow_extra_outputs: bool = False
) -> CustomMetric:
    """A metric of a function of NumPy arrays, called by the function's name unless one is given.

    >>> metric = np(lambda label, pred: abs(label - pred).max(), name="worst")
    >>> metric.update([[1.0, 2.0]], [[1.0, 2.5]])
    >>> float(metric.get()[1])
    0.5
    """
    return CustomMetric(numpy_feval, name, allow_extra_outputs)
