"""Several metrics as one, and metrics from whatever names them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from operad.errors import FormatError, IndexOutOfRangeError
from operad_metric.custom import CustomMetric
from operad_metric.metric import EvalMetric
from operad_metric.registered import alias, described, found, register


def create(metric: Any, *args: Any, **kwargs: Any) -> EvalMetric:
    """A metric.

    >>> create("acc").get()
    ('accuracy', nan)
    >>> create(["mae", "rmse"]).get()
    (['mae', 'rmse'], [nan, nan])

    Args:
        metric: A name, in any case; a function of labels and predictions, given as NumPy arrays by `np` and
            as they are otherwise; a class; what `get_config` returned, or its JSON text; a metric, which is
            returned as it is; or a list of these.
        args: Arguments of the class.
        kwargs: Arguments of the class.

    Raises:
        ParamError: There is no such metric.
    """
    if isinstance(metric, EvalMetric):
        return metric
    if isinstance(metric, type) and issubclass(metric, EvalMetric):
        return metric(*args, **kwargs)
    if callable(metric):
        return CustomMetric(metric, *args, **kwargs)
    if isinstance(metric, list):
        return CompositeEvalMetric([create(one, *args, **kwargs) for one in metric])
    name, own, named = described(metric)
    return found(name)(*own, *args, **{**named, **kwargs})


@register
@alias("composite")
class CompositeEvalMetric(EvalMetric):
    """Several metrics of the same labels and predictions.

    Args:
        metrics: Whatever `create` takes.
        name: The name of all together.
        output_names: Outputs that any of them sees; None: all.
        label_names: Labels that any of them sees; None: all.
    """

    def __init__(
        self,
        metrics: Sequence[Any] | None = None,
        name: str = "composite",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        self.metrics = [create(metric) for metric in metrics or ()]
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def add(self, metric: Any) -> None:
        """Add a metric; whatever `create` takes."""
        self.metrics.append(create(metric))

    def get_metric(self, index: int) -> EvalMetric:
        """The metric at a position.

        Raises:
            IndexOutOfRangeError: There is none.
        """
        if not -len(self.metrics) <= index < len(self.metrics):
            raise IndexOutOfRangeError(
                f"metric {self.name!r}: there is no metric {index} among {len(self.metrics)}"
            )
        return self.metrics[index]

    def update_dict(self, label: Mapping[str, Any], pred: Mapping[str, Any]) -> None:
        """`update_dict` of each, with what all of them may see."""
        labels, preds = _seen(self.label_names, label), _seen(self.output_names, pred)
        for metric in self.metrics:
            metric.update_dict(labels, preds)

    def update(self, labels: Any, preds: Any) -> None:
        """`update` of each."""
        for metric in self.metrics:
            metric.update(labels, preds)

    def reset(self) -> None:
        """`reset` of each."""
        for metric in self.metrics:
            metric.reset()

    def reset_local(self) -> None:
        """`reset_local` of each."""
        for metric in self.metrics:
            metric.reset_local()

    def state_dict(self) -> dict[str, Any]:
        """State of each metric, in order."""
        return {"metrics": [metric.state_dict() for metric in self.metrics]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """`load_state_dict` of each.

        Raises:
            FormatError: It is the state of other metrics.
        """
        states = state.get("metrics", ())
        if len(states) != len(self.metrics):
            raise FormatError(
                f"metric {self.name!r}: the state is of {len(states)} metrics, expected {len(self.metrics)}"
            )
        for metric, own in zip(self.metrics, states, strict=True):
            metric.load_state_dict(own)

    def get(self) -> tuple[list[str], list[Any]]:
        """Names and values."""
        return _joined(metric.get_name_value() for metric in self.metrics)

    def get_global(self) -> tuple[list[str], list[Any]]:
        """Names and global values."""
        return _joined(metric.get_global_name_value() for metric in self.metrics)

    def get_config(self) -> dict[str, Any]:
        """Settings of each metric, under `metrics`."""
        return {**super().get_config(), "metrics": [metric.get_config() for metric in self.metrics]}


def _seen(names: Sequence[str] | None, given: Mapping[str, Any]) -> Mapping[str, Any]:
    return given if names is None else {name: array for name, array in given.items() if name in names}


def _joined(parts: Any) -> tuple[list[str], list[Any]]:
    both = [pair for part in parts for pair in part]
    return [name for name, _ in both], [value for _, value in both]
