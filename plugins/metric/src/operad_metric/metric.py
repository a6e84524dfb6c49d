"""Base of metrics: a sum, a count, and both again for all that a reset of the first leaves.

Source: EvalMetric, python/mxnet/metric.py.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from operad.errors import FormatError, ParamError, UnsupportedError
from operad_sdk.arguments import Suggesting, described
from operad_sdk.notebook import html_table

_SUMS: Final = (int, float, np.number, np.ndarray)
"""Types of sums and counts; flags, which are ints too, come to no harm."""


class EvalMetric(metaclass=Suggesting):
    """A number that says how good predictions are, over all updates since a reset.

    A subclass says in `update` what a batch adds, by `accumulate` or in the attributes themselves. Reading an
    array waits for it, so an update reads each array once, and nothing else waits.

    Args:
        name: Stands beside the number where it is shown.
        output_names: Outputs that `update_dict` takes; None: all.
        label_names: Labels that `update_dict` takes; None: all.
        arguments: What else `get_config` tells, so that `create` can make an equal metric;
            `has_global_stats` says that a metric keeps global sums of its own.

    Attributes:
        sum_metric: Sum over what came since `reset` or `reset_local`.
        num_inst: Count of what was summed.
        global_sum_metric: Sum over what came since `reset`.
        global_num_inst: Its count.
    """

    def __init__(
        self,
        name: str,
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        **arguments: Any,
    ) -> None:
        self.name = str(name)
        self.output_names = output_names
        self.label_names = label_names
        self._has_global_stats = bool(arguments.pop("has_global_stats", False))
        self._kwargs = arguments
        self.reset()

    def __repr__(self) -> str:
        values = "".join(f" {name}={value}" for name, value in self.get_name_value())
        return f"<{described(self)}{values}>"

    def _repr_html_(self) -> str:
        return html_table(described(self), self.get_name_value())

    def __str__(self) -> str:
        return f"EvalMetric: {dict(self.get_name_value())}"

    def get_config(self) -> dict[str, Any]:
        """Settings from which `create` makes an equal metric without updates."""
        own = {"metric": type(self).__name__, "name": self.name}
        return {
            **self._kwargs,
            **own,
            "output_names": self.output_names,
            "label_names": self.label_names,
        }

    def update_dict(self, label: Mapping[str, Any], pred: Mapping[str, Any]) -> None:
        """`update` with arrays by name, of which the metric takes its own.

        Raises:
            ParamError: One of its own is not there.
        """
        self.update(
            self._chosen("label", self.label_names, label), self._chosen("output", self.output_names, pred)
        )

    def update(self, labels: Any, preds: Any) -> None:
        """Take labels and predictions into account.

        Args:
            labels: Arrays, one for each output.
            preds: Outputs.
        """
        raise UnsupportedError(f"{type(self).__name__} does not say what a batch adds; define update")

    def accumulate(self, total: float, count: int) -> None:
        """Add to both sums and counts."""
        self.sum_metric += total
        self.global_sum_metric += total
        self.num_inst += count
        self.global_num_inst += count

    def reset(self) -> None:
        """Forget all updates."""
        self.num_inst: Any = 0
        self.sum_metric: Any = 0.0
        self.global_num_inst: Any = 0
        self.global_sum_metric: Any = 0.0

    def reset_local(self) -> None:
        """Forget updates, but not in what `get_global` tells; of a metric without that, `reset`."""
        if self._has_global_stats:
            self.num_inst = 0
            self.sum_metric = 0.0
        else:
            self.reset()

    def get(self) -> tuple[Any, Any]:
        """Name and value; `nan` if there was no update."""
        return self.name, self.value_of(self.sum_metric, self.num_inst)

    def get_global(self) -> tuple[Any, Any]:
        """`get`, of all updates since `reset`."""
        if not self._has_global_stats:
            return self.get()
        return self.name, self.value_of(self.global_sum_metric, self.global_num_inst)

    def value_of(self, total: Any, count: Any) -> Any:
        """The value of a sum over a count: the mean."""
        return total / count if count else float("nan")

    def get_name_value(self) -> list[tuple[str, Any]]:
        """Names and values, as pairs."""
        return _paired(*self.get())

    def get_global_name_value(self) -> list[tuple[str, Any]]:
        """Names and global values, as pairs; of a metric without these, what `get_name_value` gives."""
        return _paired(*self.get_global()) if self._has_global_stats else self.get_name_value()

    def state_dict(self) -> dict[str, Any]:
        """All that updates have added, for `load_state_dict` of a metric that is made alike.

        The attributes that are numbers or NumPy's arrays, those of a subclass among them.
        """
        return {name: value for name, value in vars(self).items() if isinstance(value, _SUMS)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from the updates after which `state_dict` was called.

        Raises:
            FormatError: It is the state of another metric.
        """
        missing = sorted({*EvalMetric.state_dict(self)} ^ {*state})
        if missing:
            raise FormatError(
                f"metric {self.name!r}: the state is of another metric; they differ in {', '.join(missing)}"
            )
        vars(self).update(state)

    def _chosen(self, kind: str, names: Sequence[str] | None, given: Mapping[str, Any]) -> list[Any]:
        absent = [name for name in names or () if name not in given]
        if absent:
            there = ", ".join(given) or "none"
            raise ParamError(f"metric {self.name!r}: no {kind} is called {absent[0]!r}; there are {there}")
        return [given[name] for name in (given if names is None else names)]


class NamedMetric(EvalMetric):
    """A metric with global sums; `class MAE(NamedMetric, called="mae")` says what it is called by default."""

    def __init__(
        self,
        name: str = "",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def __init_subclass__(cls, called: str = "") -> None:
        """Give the class a constructor of its own, whose signature has that name."""
        if called:
            cls.__init__ = _calling(called, cls.__init__)  # type: ignore[method-assign]


def _calling(name: str, init: Callable[..., None]) -> Callable[..., None]:
    """The constructor with another default of `name`."""
    known = inspect.signature(init)
    default = known.parameters["name"].replace(default=name)
    signature = known.replace(parameters=[*{**known.parameters, "name": default}.values()])

    @functools.wraps(init)
    def construct(*args: Any, **arguments: Any) -> None:
        bound = signature.bind(*args, **arguments)
        bound.apply_defaults()
        init(*bound.args, **bound.kwargs)

    construct.__signature__ = signature  # type: ignore[attr-defined]
    return construct


def _paired(names: Any, numbers: Any) -> list[tuple[str, Any]]:
    if isinstance(names, list):
        return list(zip(names, numbers, strict=True))
    return [(names, numbers)]
