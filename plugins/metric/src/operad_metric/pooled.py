"""Metrics of what all updates have together, which is no mean of what each has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from operad.errors import ParamError
from operad_metric.metric import EvalMetric, NamedMetric


class Pooled(NamedMetric, ABC):
    """A score of something that updates add to.

    Attributes:
        empty: What there is before the first update.
    """

    empty: ClassVar[Any]
    _local: Any
    _global: Any

    @abstractmethod
    def joined(self, one: Any, other: Any) -> Any:
        """Two updates together."""

    @abstractmethod
    def count(self, pooled: Any) -> int:
        """Number of its samples."""

    @abstractmethod
    def score(self, pooled: Any) -> float:
        """The score of it."""

    def take(self, found: Any) -> None:
        """Add what an update has; the value is the score, so that sum over count is it."""
        self._local, self._global = self.joined(self._local, found), self.joined(self._global, found)
        self.num_inst, self.global_num_inst = self.count(self._local), self.count(self._global)
        self.sum_metric = self.score(self._local) * self.num_inst
        self.global_sum_metric = self.score(self._global) * self.global_num_inst

    def reset(self) -> None:
        """Forget all."""
        super().reset()
        self._local = self._global = self.empty

    def reset_local(self) -> None:
        """Forget what `get` tells, but not what `get_global` does."""
        super().reset_local()
        self._local = self.empty


class Averaged(Pooled):
    """With `average="micro"` the score of all together; with `"macro"` the mean of each update's."""

    def __init__(
        self,
        name: str = "",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        average: str = "macro",
    ) -> None:
        EvalMetric.__init__(self, name, output_names, label_names, average=average, has_global_stats=True)
        if average not in ("macro", "micro"):
            raise ParamError(f"{self.name}: average is {average!r}, expected 'macro' or 'micro'")
        self.average = average

    def take(self, found: Any) -> None:
        """Add what an update has, or its score."""
        if self.average == "macro":
            self.accumulate(self.score(found), 1)
        else:
            super().take(found)
