"""Batches made by threads, in order, the same for any number of threads.

A batch is divided into units of a few images; units are what threads take. Every image draws its random
numbers from a stream of its own, by seed, pass and the number of the image, so it does not matter which
thread makes it when. An error is kept with its unit and raised where the batch is taken; the batches behind
it are whole.

Arrays are used again once nothing else refers to them: fresh memory of this size costs a page fault for each
4 KB, which is as much work as normalizing the images.

Units and results pass through queues in C code. A `ThreadPoolExecutor` waits in Python code: an exception
that a signal handler raises there leaves a lock held, without which its threads do nothing further.
"""

from __future__ import annotations

import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Final, NamedTuple, final

import numpy as np

from operad.interrupts import start_thread
from operad.profiler import laps

Array = np.ndarray[Any, Any]
Fill = Callable[[int, Array, Array, "Workspace"], None]
"""Writes the image of a number, and its labels, into their positions of a batch."""

STAGES: Final = ("read", "decode", "augment", "compile", "copy")
"""Stages whose end `fill` reports by `Workspace.lap`; `compile` comes once."""

_UNIT: Final = 8
_POLL_S: Final = 1e-3
_MOST_KEPT_BYTES: Final = 1 << 25
_OWN_REFERENCES: Final = 3
"""References of a free array: the list's, the loop variable's, and that of the function that counts."""


@final
class Workspace:
    """Memory and random numbers of one thread for one image after another.

    Attributes:
        rng: Random numbers of the image that was begun last.
        pixels: uint8, one axis: where images are decoded to.
        lap: Counts a stage of the present unit, if stages are counted; see `operad.profiler.laps`.
    """

    lap: Callable[[str], None]

    def __init__(self, seed: int) -> None:
        self.pixels = np.empty(1 << 20, np.uint8)
        self._bits = np.random.Philox(key=seed)
        self.rng = np.random.Generator(self._bits)
        self._state: Any = self._bits.state

    def begin(self, epoch: int, number: int) -> None:
        """Go to the numbers of the image `number` in the pass `epoch`."""
        # invariant: fewer than 2^64 draws for one image, so streams do not meet.
        self._state["state"]["counter"][:] = (0, number, epoch, 0)
        self._state["buffer_pos"] = 4
        self._state["has_uint32"] = 0
        self._bits.state = self._state

    def hold(self, size_bytes: int) -> None:
        """Make room for images of that size, which are decoded elsewhere where there is none.

        None is made for the largest: each thread would keep it for good.
        """
        if len(self.pixels) < size_bytes <= _MOST_KEPT_BYTES:
            self.pixels = np.empty(size_bytes, np.uint8)


@final
class Job(NamedTuple):
    """One batch to make.

    Attributes:
        rows: Numbers of its images.
        pad: How many at the end only fill it up.
        epoch: The pass, for random numbers.
    """

    rows: Array
    pad: int
    epoch: int


@final
class Made(NamedTuple):
    """One batch that is being made, or is; `done` gets the first row of each unit, and its error."""

    job: Job
    data: Array
    labels: Array
    done: SimpleQueue[tuple[int, BaseException | None]]
    units: int


_Unit = tuple[Callable[[int], None], int, SimpleQueue[tuple[int, BaseException | None]]]


@final
class BatchMaker:
    """Makes batches with threads.

    Args:
        fill: Called for each image, by any thread.
        shapes: Of the data and of the labels of a batch.
        dtype: Of the data.
        seed: Of random numbers.
        num_threads: That make images.
    """

    def __init__(
        self,
        fill: Fill,
        shapes: tuple[tuple[int, ...], tuple[int, ...]],
        dtype: np.dtype[Any],
        seed: int,
        num_threads: int,
    ) -> None:
        self._shapes, self._dtype = shapes, dtype
        self._make = partial(_make, fill, seed, threading.local())
        self._arrays: list[Array] = []
        self._pending: deque[Made] = deque()
        self._units: SimpleQueue[_Unit | None] = SimpleQueue()
        self._running = [True] * num_threads
        self._end = weakref.finalize(self, _end, self._units, num_threads)
        for number in range(num_threads):
            start_thread(f"operad-images-{number}", _serve, self._units, self._running)

    def __len__(self) -> int:
        return len(self._pending)

    def begin(self, job: Job) -> None:
        """Let threads make a batch, behind those that were begun before."""
        data, labels = self._free_array(), np.empty(self._shapes[1], np.float32)
        make, done = partial(self._make, job, data, labels), SimpleQueue[tuple[int, BaseException | None]]()
        firsts = range(0, len(job.rows), _UNIT)
        for first in firsts:
            self._units.put((make, first, done))
        self._pending.append(Made(job, data, labels, done, len(firsts)))

    def take(self) -> Made:
        """The batch that was begun first; waits for it.

        Raises:
            Exception: What its first bad image raised.
        """
        made = self._pending.popleft()
        errors = dict(made.done.get() for _ in range(made.units))  # of all units: none writes any longer
        error = next((errors[first] for first in sorted(errors) if errors[first]), None)
        if error is None:
            return made
        try:
            raise error
        finally:
            # The error refers to this call, and in a circle the files would stay open until it is collected.
            del made, errors, error

    def close(self) -> None:
        """Forget what was begun, and let the threads end."""
        with suppress(Empty):
            while True:
                self._units.get_nowait()
        self._end()
        while self._running:
            time.sleep(_POLL_S)
        self._pending.clear()

    def _free_array(self) -> Array:
        for array in self._arrays:
            # Views, such as that of an NDArray made of it, hold references; operations hold the view.
            if sys.getrefcount(array) <= _OWN_REFERENCES:
                return array
        array = np.empty(self._shapes[0], self._dtype)
        self._arrays.append(array)
        return array


def _end(units: SimpleQueue[_Unit | None], num_threads: int) -> None:
    for _ in range(num_threads):
        units.put(None)


def _serve(units: SimpleQueue[_Unit | None], running: list[bool]) -> None:
    """Make units until there is None."""
    while (unit := units.get()) is not None:
        make, first, done = unit
        failed = None
        try:
            make(first)
        except BaseException as error:  # noqa: BLE001 - raised where the batch is taken
            failed = error
        del unit, make  # which refer to the arrays
        done.put((first, failed))
        del done, failed
    running.pop()


def _make(fill: Fill, seed: int, own: Any, job: Job, data: Array, labels: Array, first: int) -> None:
    """Make a unit of a batch; no method, as its errors would refer to the maker that keeps them."""
    workspace = getattr(own, "workspace", None)
    if workspace is None:
        workspace = own.workspace = Workspace(seed)
    with laps(*STAGES) as workspace.lap:
        for row in range(first, min(first + _UNIT, len(job.rows))):
            number = int(job.rows[row])
            workspace.begin(job.epoch, number)
            fill(number, data[row], labels[row], workspace)
