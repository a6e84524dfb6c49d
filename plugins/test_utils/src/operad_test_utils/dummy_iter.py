"""An iterator that gives one batch again and again; needs the iterators of `operad.io`."""

from __future__ import annotations

from typing import Any

import operad


class DummyIter(operad.io.DataIter):  # type: ignore[misc]  # of another plugin
    """The first batch of another iterator, without end: for timing what uses batches.

    Args:
        real_iter: The other.
    """

    def __init__(self, real_iter: Any) -> None:
        super().__init__(real_iter.batch_size)
        self.real_iter = real_iter
        self.provide_data = real_iter.provide_data
        self.provide_label = real_iter.provide_label
        self.the_batch = next(real_iter)

    def next(self) -> Any:
        """The batch."""
        return self.the_batch
