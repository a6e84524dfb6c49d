"""Workers of a loader: processes or threads that make batches.

Both kinds take the numbers of a batch's samples with `submit`, which returns a ticket, and give the batch for
a ticket with `take`. A batch that nobody will take is given up with `forget`.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count
from typing import Any, Final, Protocol, final

from operad.errors import EngineError, class_of_both
from operad.interrupts import block_signals

Batchify = Callable[[list[Any]], Any]

LoaderTimeoutError: Final = class_of_both(EngineError, multiprocessing.TimeoutError)
"""A batch took too long; a `multiprocessing.TimeoutError`, as in MXNet."""


class Workers(Protocol):
    """Interface of workers."""

    @property
    def is_open(self) -> bool:
        """True until `close`; False in a child of a fork."""

    def submit(self, samples: Sequence[Any]) -> int:
        """Have a batch of these samples made; returns its ticket."""

    def take(self, ticket: int) -> Any:
        """The batch of a ticket; waits for it."""

    def forget(self, ticket: int) -> None:
        """Give a batch up."""

    def close(self) -> None:
        """End the workers."""


@final
class ThreadWorkers:
    """Worker threads; a batch is made in this process.

    Args:
        count: How many.
        dataset: The samples; must bear several threads.
        batchify: Makes a batch of a list of samples.
        timeout_s: How long `take` waits, in seconds.
    """

    def __init__(self, number: int, dataset: Any, batchify: Batchify, timeout_s: float) -> None:
        self._is_open, self._owner = True, os.getpid()
        self._timeout_s = timeout_s
        self._dataset, self._batchify = dataset, batchify
        self._pool = ThreadPoolExecutor(number, "operad-loader", initializer=block_signals)
        self._tickets = count()
        self._futures: dict[int, Future[Any]] = {}

    @property
    def is_open(self) -> bool:
        """True until `close`; False in a child of a fork, which has not the threads."""
        return self._is_open and self._owner == os.getpid()

    def submit(self, samples: Sequence[Any]) -> int:
        """Have a batch made; returns its ticket."""
        ticket = next(self._tickets)
        self._futures[ticket] = self._pool.submit(batch_of, self._dataset, self._batchify, list(samples))
        return ticket

    def take(self, ticket: int) -> Any:
        """The batch of a ticket; waits for it.

        Raises:
            LoaderTimeoutError: It took too long.
            Exception: The dataset's error.
        """
        try:
            return self._futures.pop(ticket).result(self._timeout_s)
        except TimeoutError as error:
            raise LoaderTimeoutError(
                f"DataLoader: no batch within {self._timeout_s} s; give a larger timeout"
            ) from error

    def forget(self, ticket: int) -> None:
        """Give a batch up."""
        if (future := self._futures.pop(ticket, None)) is not None:
            future.cancel()

    def close(self) -> None:
        """Let the threads end when they are done with their batches."""
        self._is_open = False
        self._pool.shutdown(wait=False, cancel_futures=True)


def batch_of(dataset: Any, batchify: Batchify, samples: Sequence[Any]) -> Any:
    """The batch of some samples."""
    return batchify([dataset[index] for index in samples])
