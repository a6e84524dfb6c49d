"""`ResizeIter`: another number of batches in a pass.

Source: ResizeIter, python/mxnet/io/io.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

from operad.errors import ArgumentError, ParamError
from operad_iterators.batch import DataBatch, DataDesc
from operad_iterators.checks import is_count, own_state, state_of
from operad_iterators.iterator import CurrentBatchIter


@final
class ResizeIter(CurrentBatchIter):
    """Passes of `size` batches of another iterator, which begins again as often as that needs.

    Args:
        data_iter: The other iterator.
        size: Batches in a pass.
        reset_internal: Whether `reset` resets the other iterator; else the next pass goes on where this
            one ended.

    Example:
        >>> import numpy as np
        >>> import operad as od
        >>> four = od.io.ResizeIter(od.io.NDArrayIter(np.arange(3)), 4)
        >>> [batch.data[0].asscalar().item() for batch in four]
        [0.0, 1.0, 2.0, 0.0]
    """

    def __init__(self, data_iter: Any, size: int, reset_internal: bool = True) -> None:
        if not is_count(size, 0):
            raise ParamError(
                f"ResizeIter: size is {size!r}, expected a number of batches, an integer from 0 on"
            )
        super().__init__(data_iter.batch_size)
        self.data_iter = data_iter
        self.size = size
        self.reset_internal = reset_internal
        self.cur = 0
        self.current_batch: DataBatch | None = None
        self.provide_data: list[DataDesc] = data_iter.provide_data
        self.provide_label: list[DataDesc] = data_iter.provide_label
        if hasattr(data_iter, "default_bucket_key"):
            self.default_bucket_key = data_iter.default_bucket_key

    def reset(self) -> None:
        """Begin the next pass."""
        self.cur = 0
        if self.reset_internal:
            self.data_iter.reset()

    def state_dict(self) -> dict[str, Any]:
        """Number of batches so far, and the state of the other iterator."""
        return {"cur": self.cur, "data_iter": state_of(self.data_iter)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where `state_dict` was called.

        Raises:
            FormatError: The state is not one of such iterators.
        """
        found = own_state("ResizeIter", state, "cur", "data_iter")
        self.data_iter.load_state_dict(found["data_iter"])
        self.cur, self.current_batch = int(found["cur"]), None

    def iter_next(self) -> bool:
        """Move to the next batch; False where the pass has ended.

        Raises:
            ArgumentError: The other iterator has no batches even after its `reset`.
        """
        if self.cur == self.size:
            return False
        self.current_batch = self._next()
        self.cur += 1
        return True

    def next(self) -> DataBatch:
        """The next batch, as the other iterator gave it."""
        if not self.iter_next():
            raise StopIteration
        return self._batch()

    def _next(self) -> DataBatch:
        for _ in range(2):
            batch: DataBatch | None = next(self.data_iter, None)
            if batch is not None:
                return batch
            self.data_iter.reset()
        raise ArgumentError(
            f"ResizeIter: {type(self.data_iter).__name__} has no batches, also after its reset"
        )
