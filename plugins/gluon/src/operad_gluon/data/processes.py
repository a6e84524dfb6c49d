"""Worker processes of a loader.

Each process has a channel of its own, and its batches come in the order in which they were asked for. So no
lock is shared between processes, and one that is killed stops no other. Refused: `multiprocessing.Pool`,
which starts a killed process again and waits for its batch until the time is over.

Processes end with the loader: it closes their channels. A process whose parent was killed finds that out
where it waits, for the parent's end of the channel is closed then, or it has another parent.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import warnings
from collections.abc import Sequence
from itertools import count
from typing import Any, Final, final

from operad.errors import EngineError
from operad.locks import new_lock
from operad_gluon.data.channel import channel
from operad_gluon.data.serving import serve
from operad_gluon.data.workers import Batchify, LoaderTimeoutError

_MOST_WAITING: Final = 64
"""Batches that a process is asked for at once, at most.

invariant: so many messages fit into a socket both ways, so neither side waits in `send` for the other.
"""
_GRACE_S: Final = 1.0
"""Time that a worker may take to end before it is killed."""


class WorkerTracebackError(Exception):
    """Traceback of a worker's error, as its cause."""

    def __str__(self) -> str:
        return f'\n"""\n{self.args[0]}"""'


@final
class _Process:
    """A worker process, as its parent has it.

    Attributes:
        waiting: How many batches it has been asked for and has not sent.
    """

    def __init__(self, number: int, dataset: Any, batchify: Batchify, others: Sequence[_Process]) -> None:
        self.waiting = 0
        self.number = number
        self.channel, its_end = channel()
        # The child has copies of every end. It closes those of the parent, or it would keep them open.
        to_close = [self.channel, *(other.channel for other in others)]
        args = (its_end, to_close, dataset, batchify, number)
        self.process = multiprocessing.get_context("fork").Process(target=serve, args=args, daemon=True)
        with warnings.catch_warnings():
            # Python warns of threads at a fork; operad's own bear it.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.process.start()
        its_end.close()

    def end(self) -> None:
        """End the process, by force where it does not go."""
        self.channel.close()
        self.process.terminate()
        self.process.join(_GRACE_S)
        if self.process.exitcode is None:
            self.process.kill()
            self.process.join()

    def died(self) -> EngineError:
        """Error that says how the process ended."""
        self.process.join(_GRACE_S)
        code = self.process.exitcode
        how = (
            f"was killed by signal {signal.Signals(-code).name}"
            if code and code < 0
            else f"exited with {code}"
        )
        return EngineError(
            f"DataLoader: worker {self.number} (process {self.process.pid}) {how} before it sent a batch; "
            "num_workers=0 runs the dataset in this process"
        )


@final
class ProcessWorkers:
    """Worker processes, forked from this one: they have its dataset without a copy being sent.

    Args:
        count: How many.
        dataset: The samples.
        batchify: Makes a batch of a list of samples.
        timeout_s: How long `take` waits, in seconds.
    """

    def __init__(self, number: int, dataset: Any, batchify: Batchify, timeout_s: float) -> None:
        self._is_open = True
        self._timeout_s = timeout_s
        self._owner = os.getpid()
        self._lock = new_lock()
        self._tickets = count()
        self._of_ticket: dict[int, _Process] = {}
        self._arrived: dict[int, tuple[bool, Any]] = {}
        self._processes: list[_Process] = []
        try:
            for index in range(number):
                self._processes.append(_Process(index, dataset, batchify, self._processes))
        except BaseException:
            self.close()
            raise

    @property
    def is_open(self) -> bool:
        """True until `close`; False in a child of a fork, whose processes they are not."""
        return self._is_open and self._owner == os.getpid()

    @property
    def pids(self) -> list[int | None]:
        """Numbers of the processes."""
        return [one.process.pid for one in self._processes]

    def submit(self, samples: Sequence[Any]) -> int:
        """Have the process that has least to do make a batch; returns its ticket."""
        with self._lock:
            self._require_open()
            chosen = min(self._processes, key=lambda one: one.waiting)
            while chosen.waiting >= _MOST_WAITING:
                self._receive(chosen)
            ticket = next(self._tickets)
            try:
                chosen.channel.send((ticket, list(samples)))
            except OSError as error:
                raise self._failed(chosen.died()) from error
            chosen.waiting += 1
            self._of_ticket[ticket] = chosen
            return ticket

    def take(self, ticket: int) -> Any:
        """The batch of a ticket; waits for it.

        Raises:
            EngineError: Its process has ended.
            LoaderTimeoutError: The process took too long. All processes are ended then.
            Exception: The dataset's error, with the worker's traceback as its cause.
        """
        with self._lock:
            while ticket not in self._arrived:
                self._require_open()
                self._receive(self._of_ticket[ticket])
            is_batch, value = self._arrived.pop(ticket)
        if is_batch:
            return value
        error, text = value
        raise error from WorkerTracebackError(text)

    def forget(self, ticket: int) -> None:
        """Give a batch up: it is dropped where it arrives."""
        if self.is_open:
            with self._lock:
                self._of_ticket.pop(ticket, None)
                self._arrived.pop(ticket, None)

    def close(self) -> None:
        """End the processes."""
        if self.is_open:
            self._is_open = False
            self._arrived.clear()
            for one in self._processes:
                one.end()

    def _receive(self, one: _Process) -> None:
        try:
            ticket, *reply = one.channel.receive(self._timeout_s)
        except (EOFError, ConnectionError) as error:
            raise self._failed(one.died()) from error
        except TimeoutError as error:
            raise self._failed(
                LoaderTimeoutError(
                    f"DataLoader: worker {one.number} made no batch within {self._timeout_s} s; "
                    "give a larger timeout, or look why the dataset takes so long"
                )
            ) from error
        one.waiting -= 1
        if self._of_ticket.pop(ticket, None) is not None:  # otherwise it was given up
            self._arrived[ticket] = (reply[0], reply[1])

    def _failed(self, error: EngineError) -> EngineError:
        self.close()
        return error

    def _require_open(self) -> None:
        if not self.is_open:
            raise EngineError("DataLoader: the workers have ended; begin another pass over the loader")
