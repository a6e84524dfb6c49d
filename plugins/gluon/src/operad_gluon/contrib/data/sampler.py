"""`IntervalSampler`.

Source: python/mxnet/gluon/contrib/data/sampler.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from operad.errors import ParamError
from operad_gluon.data.sampler import Sampler

__all__ = ["IntervalSampler"]


class IntervalSampler(Sampler):
    """The numbers 0, k, 2k, ..., then 1, k + 1, ..., and so on.

    Args:
        length: Number of samples.
        interval: k, at most `length`.
        rollover: Whether to go on after the first round, which begins with 0.
    """

    def __init__(self, length: int, interval: int, rollover: bool = True) -> None:
        if interval > length:
            raise ParamError(f"IntervalSampler: interval is {interval}, expected at most length, {length}")
        self._length = length
        self._interval = interval
        self._rollover = rollover

    def __iter__(self) -> Iterator[int]:
        for start in range(self._interval if self._rollover else 1):
            yield from range(start, self._length, self._interval)

    def __len__(self) -> int:
        return self._length
