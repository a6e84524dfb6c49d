"""Samplers: the order in which a loader reads a dataset.

Source: python/mxnet/gluon/data/sampler.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from operad.errors import ParamError

__all__ = ["BatchSampler", "FilterSampler", "RandomSampler", "Sampler", "SequentialSampler"]


class Sampler:
    """Base of samplers: an iterable with a length."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__} does not define __iter__")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} does not define __len__")


class SequentialSampler(Sampler):
    """The numbers from `start` on, in order.

    Args:
        length: Number of samples.
        start: Number of the first sample.
    """

    def __init__(self, length: int, start: int = 0) -> None:
        self._length = length
        self._start = start

    def __iter__(self) -> Iterator[int]:
        return iter(range(self._start, self._start + self._length))

    def __len__(self) -> int:
        return self._length


class RandomSampler(Sampler):
    """The numbers below `length` in a random order, drawn again by `numpy.random` in every pass.

    Args:
        length: Number of samples.
    """

    def __init__(self, length: int) -> None:
        self._length = length

    def __iter__(self) -> Iterator[Any]:
        indices = np.arange(self._length)
        np.random.shuffle(indices)
        return iter(indices)

    def __len__(self) -> int:
        return self._length


class FilterSampler(Sampler):
    """The samples of a dataset for which a function returns true; it is called once for each.

    Args:
        fn: Takes a sample.
        dataset: The samples.
    """

    def __init__(self, fn: Callable[[Any], Any], dataset: Any) -> None:
        self._fn = fn
        self._dataset = dataset
        # Not by iteration: a dataset need not be iterable, and may only end with its length.
        self._indices = [i for i in range(len(dataset)) if fn(dataset[i])]

    def __iter__(self) -> Iterator[int]:
        return iter(self._indices)

    def __len__(self) -> int:
        return len(self._indices)


class BatchSampler(Sampler):
    """Lists of `batch_size` numbers of another sampler.

    Args:
        sampler: The numbers.
        batch_size: Length of each list.
        last_batch: "keep" gives numbers that do not fill a list as a shorter list, "discard" leaves them out,
            "rollover" begins the next pass with them.
    """

    def __init__(self, sampler: Any, batch_size: int, last_batch: str = "keep") -> None:
        self._sampler = sampler
        self._batch_size = batch_size
        self._last_batch = last_batch
        self._prev: list[Any] = []

    def __iter__(self) -> Iterator[list[Any]]:
        batch, self._prev = self._prev, []
        for index in self._sampler:
            batch.append(index)
            if len(batch) == self._batch_size:
                yield batch
                batch = []
        if batch:
            self._check()
            if self._last_batch == "keep":
                yield batch
            elif self._last_batch == "rollover":
                self._prev = batch

    def __len__(self) -> int:
        self._check()
        if self._last_batch == "keep":
            return (len(self._sampler) + self._batch_size - 1) // self._batch_size
        return (len(self._prev) + len(self._sampler)) // self._batch_size

    def _check(self) -> None:
        if self._last_batch not in ("keep", "discard", "rollover"):
            raise ParamError(
                f"BatchSampler: last_batch is {self._last_batch!r}, expected 'keep', 'discard' or 'rollover'"
            )
