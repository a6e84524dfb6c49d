"""`DataLoader`: batches of a dataset, made here, by threads or by processes.

Source: python/mxnet/gluon/data/dataloader.py. Differs: batches come through files without a name, workers
draw different random numbers, an error of the dataset leaves the loader usable, and a worker that is killed
is an error at once.
"""

from __future__ import annotations

import os
import weakref
from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import Any, final

from operad import Context, cpu_pinned
from operad.errors import ParamError
from operad_gluon.data.batchify import as_in_context
from operad_gluon.data.batchify import default_batchify_fn as default_batchify_fn
from operad_gluon.data.batchify import default_mp_batchify_fn as default_mp_batchify_fn
from operad_gluon.data.processes import ProcessWorkers
from operad_gluon.data.sampler import BatchSampler, RandomSampler, SequentialSampler
from operad_gluon.data.workers import Batchify, ThreadWorkers, Workers

__all__ = ["DataLoader", "default_batchify_fn", "default_mp_batchify_fn"]


class DataLoader:
    """Batches of a dataset.

    Args:
        dataset: Samples: anything with a length and indices.
        batch_size: Samples in a batch.
        shuffle: Read the samples in a random order, drawn by `numpy.random`.
        sampler: The order of the samples, instead of `shuffle`.
        last_batch: As of `BatchSampler`; None is "keep".
        batch_sampler: Lists of numbers, instead of the four arguments before.
        batchify_fn: Makes a batch of a list of samples; None: `default_batchify_fn`.
        num_workers: Processes, or threads, that make batches; 0: the thread that asks for them.
        pin_memory: Give batches on `cpu_pinned(pin_device_id)`.
        pin_device_id: See `pin_memory`.
        prefetch: Batches that workers make ahead; None: two for each worker.
        thread_pool: Workers are threads.
        timeout: How long to wait for a worker's batch, in seconds.
        auto_reload: Begin the next pass as soon as the last one ends.
    Raises:
        ParamError: The arguments contradict each other.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = None,
        shuffle: bool = False,
        sampler: Any = None,
        last_batch: str | None = None,
        batch_sampler: Any = None,
        batchify_fn: Batchify | None = None,
        num_workers: int = 0,
        pin_memory: bool = False,
        pin_device_id: int = 0,
        prefetch: int | None = None,
        thread_pool: bool = False,
        timeout: float = 120,
        auto_reload: bool = False,
    ) -> None:
        if timeout <= 0:
            raise ParamError(f"DataLoader: timeout is {timeout!r}, expected more than 0 s")
        self._dataset = dataset
        self._pin = cpu_pinned(pin_device_id) if pin_memory else None
        self._thread_pool = thread_pool
        self._timeout = timeout
        self._batch_sampler = (
            _batches(dataset, batch_size, shuffle, sampler, last_batch)
            if batch_sampler is None
            else _alone(batch_sampler, batch_size, shuffle, sampler, last_batch)
        )
        self._num_workers = max(0, num_workers)
        self._prefetch = max(0, 2 * self._num_workers if prefetch is None else int(prefetch))
        self._batchify_fn = batchify_fn or default_batchify_fn
        self._pool: Workers | None = None
        self.auto_reload = auto_reload
        self._iter: Iterator[Any] | None = None
        if auto_reload:
            self.refresh()

    def __iter__(self) -> Iterator[Any]:
        batches, self._iter = self._iter or self._begun(), None
        try:
            yield from batches
        finally:
            if isinstance(batches, _Pass):
                batches.close()
        if self.auto_reload:
            self.refresh()

    def __len__(self) -> int:
        return len(self._batch_sampler)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_pool": None, "_iter": None}

    def refresh(self) -> None:
        """Begin a pass now, so that workers make its first batches before they are asked for."""
        self._iter = self._begun()

    def clean(self) -> None:
        """Forget the pass that `refresh` has begun."""
        self._iter = None

    def _begun(self) -> Iterator[Any]:
        """A new pass."""
        if self._num_workers:
            return _Pass(self._workers(), iter(self._batch_sampler), self._prefetch, self._pin)
        return self._here()

    def _here(self) -> Iterator[Any]:
        for indices in self._batch_sampler:
            yield _pinned(self._batchify_fn([self._dataset[index] for index in indices]), self._pin)

    def _workers(self) -> Workers:
        if self._pool is None or not self._pool.is_open:
            # Where there are no forks, threads give the same batches.
            kind = ThreadWorkers if self._thread_pool or not hasattr(os, "fork") else ProcessWorkers
            self._pool = kind(self._num_workers, self._dataset, self._batchify_fn, self._timeout)
            weakref.finalize(self, self._pool.close)
        return self._pool


@final
class _Pass:
    """One pass over the batches, some of which workers make ahead."""

    # It holds no reference to the loader, whose end ends the workers.
    def __init__(self, workers: Workers, indices: Iterator[Any], prefetch: int, pin: Context | None) -> None:
        self._workers, self._indices, self._pin = workers, indices, pin
        self._tickets: deque[int] = deque()
        self._submit(prefetch)

    def __iter__(self) -> _Pass:
        return self

    def __next__(self) -> Any:
        self._submit(1)
        if not self._tickets:
            raise StopIteration
        return _pinned(self._workers.take(self._tickets.popleft()), self._pin)

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Give up the batches that were not taken."""
        while self._tickets:
            self._workers.forget(self._tickets.popleft())

    def _submit(self, most: int) -> None:
        for indices in islice(self._indices, most):
            self._tickets.append(self._workers.submit(indices))


def _pinned(batch: Any, ctx: Context | None) -> Any:
    return batch if ctx is None else as_in_context(batch, ctx)


def _batches(
    dataset: Any, batch_size: int | None, shuffle: bool, sampler: Any, last_batch: str | None
) -> BatchSampler:
    if batch_size is None:
        raise ParamError("DataLoader: neither batch_size nor batch_sampler is given")
    if sampler is None:
        sampler = (RandomSampler if shuffle else SequentialSampler)(len(dataset))
    elif shuffle:
        raise ParamError("DataLoader: shuffle and sampler are given, expected one of them")
    return BatchSampler(sampler, batch_size, last_batch or "keep")


def _alone(batch_sampler: Any, *others: Any) -> Any:
    if any(one is not None and one is not False for one in others):
        raise ParamError(
            "DataLoader: batch_sampler is given beside batch_size, shuffle, sampler or last_batch, "
            "which it replaces"
        )
    return batch_sampler
