"""The thread that talks to other processes, so that a push returns at once.

Jobs run in the order in which they were given. The error of a job without a waiting caller is raised by
the next job with one; no job runs between the two.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any, TypeVar, final

from operad.interrupts import block_signals

T = TypeVar("T")


@final
class Courier:
    """One thread and its jobs. The thread does not keep a process alive that is about to end."""

    def __init__(self, name: str) -> None:
        self._jobs: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any] | None]] = queue.SimpleQueue()
        self._failed: BaseException | None = None  # used by the thread only
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def send(self, job: Callable[[], object]) -> None:
        """Run `job` after earlier ones; return at once."""
        self._jobs.put((job, None))

    def ask(self, job: Callable[[], T]) -> T:
        """Run `job` after earlier ones, wait for its result and return it; Ctrl-C ends the wait.

        Raises:
            Exception: What `job` raises, or what an earlier one raised for which no caller waited.
        """
        answer: Future[T] = Future()
        self._jobs.put((job, answer))
        return answer.result()

    def is_idle(self, within_s: float) -> bool:
        """Wait `within_s` seconds at most; return whether all jobs have ended, successfully or not."""
        answer: Future[None] = Future()
        self._jobs.put((lambda: None, answer))
        return bool(wait([answer], within_s).done)

    def _run(self) -> None:
        block_signals()
        while True:
            job, answer = self._jobs.get()
            failed, self._failed = self._failed, None
            try:
                if failed is not None:
                    raise failed
                result = job()
            except BaseException as error:  # noqa: BLE001 - raised again in whoever waits for it
                if answer is None:
                    self._failed = error
                else:
                    answer.set_exception(error)
            else:
                if answer is not None:
                    answer.set_result(result)
            del job, answer
