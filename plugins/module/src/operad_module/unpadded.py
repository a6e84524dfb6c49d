"""Metrics of a batch without the rows that only fill it up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final


def padding_of(batch: Any, iterator: Any) -> int:
    """Number of rows at the end of a batch that fill it up.

    Rows that an iterator rolled over are counted by `pad` too, as in MXNet, but they are rows as any other.
    """
    if around := [*getattr(iterator, "iters", ()), *filter(None, [getattr(iterator, "data_iter", None)])]:
        return min(padding_of(batch, one) for one in around)  # of iterators that this one reads
    if getattr(iterator, "last_batch_handle", "") == "roll_over":
        return 0
    return getattr(batch, "pad", None) or 0


@final
class Unpadded:
    """A metric that is shown a batch without its padding, whichever executors have computed parts of it.

    Executors show their parts in the order of the batch, so a count of rows tells which are padding. Arrays
    of different lengths, as those of a network that joins batch and time, are counted as they are.

    Attributes:
        metric: Where the rows are counted.
    """

    def __init__(self, metric: Any, batch_size: int, padding: int) -> None:
        self.metric = metric
        self._size = batch_size
        self._end = batch_size - padding
        self._seen = 0

    def __getattr__(self, name: str) -> Any:
        """Everything else is the metric's."""
        return getattr(self.metric, name)

    def update(self, labels: Sequence[Any], preds: Sequence[Any]) -> None:
        """Count the rows of the batch that these lists of arrays hold."""
        rows = self._rows([*labels, *preds])
        if rows.stop != 0:
            self.metric.update([array[rows] for array in labels], [array[rows] for array in preds])

    def update_dict(self, label: Mapping[str, Any], pred: Mapping[str, Any]) -> None:
        """Count the rows of the batch that these arrays, by name, hold."""
        rows = self._rows([*label.values(), *pred.values()])
        if rows.stop != 0:
            labels = {name: array[rows] for name, array in label.items()}
            self.metric.update_dict(labels, {name: array[rows] for name, array in pred.items()})

    def _rows(self, arrays: Sequence[Any]) -> slice:
        """The rows that count, at the beginning of arrays of a part of the batch."""
        lengths = {array.shape[0] if array.shape else 0 for array in arrays}
        if len(lengths) != 1 or max(lengths) > self._size:
            return slice(None)
        (rows,) = lengths
        first = self._seen % self._size  # several modules may each show the whole batch
        self._seen += rows
        return slice(max(min(self._end - first, rows), 0))
