"""Workers of a loader: processes or threads that make batches.

Both kinds take the numbers of a batch's samples with `submit`, which returns a ticket, and give the batch for
a ticket with `take`. A batch that nobody will take is given up with `forget`.

Each process has a channel of its own, and its batches come in the order in which they were asked for. So no
lock is shared between processes, and one that is killed stops no other. Refused: `multiprocessing.Pool`,
which starts a killed process anew and waits for its batch until the time is over.

Processes end with the loader: it closes their channels. A process whose parent was killed finds that out
where it waits, for the parent's end of the channel is closed then, or has another parent.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import random
import signal
import traceback
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count
from typing import Any, Final, Protocol, final

import numpy as np

import operad
from operad.errors import EngineError, class_of_both
from operad.interrupts import block_signals
from operad.locks import new_lock
from operad_gluon.data.channel import Channel, channel

Batchify = Callable[[list[Any]], Any]

LoaderTimeoutError: Final = class_of_both(EngineError, multiprocessing.TimeoutError)
"""A batch took too long; a `multiprocessing.TimeoutError`, as in MXNet."""

_PATIENCE_S: Final = 5.0
"""How long a worker waits before it looks whether its parent is still there."""
_MOST_WAITING: Final = 64
"""How many batches a process is asked for at most.

invariant: so many messages fit into a socket both ways, so neither side waits in `send` for the other.
"""
_GRACE_S: Final = 1.0
"""How long a worker may take to end before it is killed."""


class Workers(Protocol):
    """What a loader asks of its workers."""

    is_open: bool

    def submit(self, samples: Sequence[Any]) -> int:
        """Have a batch of these samples made; returns its ticket."""

    def take(self, ticket: int) -> Any:
        """The batch of a ticket; waits for it."""

    def forget(self, ticket: int) -> None:
        """Give a batch up."""

    def close(self) -> None:
        """End the workers."""


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
        self.process = multiprocessing.get_context("fork").Process(target=_serve, args=args, daemon=True)
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
        self.is_open = True
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
        if self._owner != os.getpid():
            return
        with self._lock:
            self._of_ticket.pop(ticket, None)
            self._arrived.pop(ticket, None)

    def close(self) -> None:
        """End the processes. Does nothing in a child of a fork, whose processes they are not."""
        if self.is_open and self._owner == os.getpid():
            self.is_open = False
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
        if self._owner != os.getpid():
            raise EngineError("DataLoader: the workers are those of the process that forked this one")


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
        self.is_open = True
        self._timeout_s = timeout_s
        self._dataset, self._batchify = dataset, batchify
        self._pool = ThreadPoolExecutor(number, "operad-loader", initializer=block_signals)
        self._tickets = count()
        self._futures: dict[int, Future[Any]] = {}

    def submit(self, samples: Sequence[Any]) -> int:
        """Have a batch made; returns its ticket."""
        ticket = next(self._tickets)
        self._futures[ticket] = self._pool.submit(_batch, self._dataset, self._batchify, list(samples))
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
        self.is_open = False
        self._pool.shutdown(wait=False, cancel_futures=True)


def _batch(dataset: Any, batchify: Batchify, samples: Sequence[Any]) -> Any:
    return batchify([dataset[index] for index in samples])


def _serve(own: Channel, to_close: Sequence[Channel], dataset: Any, batchify: Batchify, number: int) -> None:
    """Make batches until the parent closes the channel; in the worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's, which then closes the channel
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for one in to_close:
        one.close()
    _seed(number)
    parent = os.getppid()
    while True:
        try:
            ticket, samples = own.receive(_PATIENCE_S)
        except TimeoutError:
            if os.getppid() != parent:
                return
            continue
        except (EOFError, ConnectionError):
            return
        try:
            _reply(own, ticket, dataset, batchify, samples)
        except (BrokenPipeError, ConnectionError):
            return


def _reply(own: Channel, ticket: int, dataset: Any, batchify: Batchify, samples: Sequence[Any]) -> None:
    try:
        reply: tuple[Any, ...] = (ticket, True, _batch(dataset, batchify, samples))
        own.send(reply)
    except (BrokenPipeError, ConnectionError):
        raise
    except Exception as error:  # noqa: BLE001 - raised again in the parent
        own.send((ticket, False, (_sendable(error), traceback.format_exc())))


def _sendable(error: Exception) -> Exception:
    """The error, or one of operad's that has its text where it cannot be pickled."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - what was just written
    except Exception:  # noqa: BLE001 - whatever its pickling raises
        return EngineError(f"DataLoader: a worker raised {type(error).__name__}: {error}")
    return error


def _seed(number: int) -> None:
    """Let this worker draw other numbers than the others, which begin with the same state."""
    words = np.random.get_state(legacy=False)["state"]["key"]
    seed = int(np.random.SeedSequence([*map(int, words[:8]), number]).generate_state(1)[0])
    np.random.seed(seed)
    random.seed(seed)
    operad.random.seed(seed)
