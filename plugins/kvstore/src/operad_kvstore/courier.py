"""The thread that talks to other processes, so that a push returns at once.

Jobs run in the order in which they were given. The error of a job without a waiting caller is raised by
the next job with one; no job runs between the two.

Callers wait at a queue in C code. A `Future` waits in Python code: an exception that a signal's handler
raises there leaves a lock held, without which the thread gives no result and does no further job.
"""

from __future__ import annotations

import queue
from collections.abc import Callable
from typing import Any, TypeVar, final

from operad.interrupts import start_thread

T = TypeVar("T")
_Answer = tuple[Any, BaseException | None]


@final
class Courier:
    """One thread and its jobs. The thread does not keep a process alive that is about to end."""

    def __init__(self, name: str) -> None:
        self._jobs: queue.SimpleQueue[tuple[Callable[[], Any], queue.SimpleQueue[_Answer] | None]]
        self._jobs = queue.SimpleQueue()
        self._failed: BaseException | None = None  # used by the thread only
        start_thread(name, self._run)

    def send(self, job: Callable[[], object]) -> None:
        """Run `job` after earlier ones; return at once."""
        self._jobs.put((job, None))

    def ask(self, job: Callable[[], T]) -> T:
        """Run `job` after earlier ones, wait for its result and return it; Ctrl-C ends the wait.

        Raises:
            Exception: What `job` raises, or what an earlier one raised for which no caller waited.
        """
        answer: queue.SimpleQueue[_Answer] = queue.SimpleQueue()
        self._jobs.put((job, answer))
        result, error = answer.get()
        if error is not None:
            try:
                raise error
            finally:
                del error  # which refers to this call
        return result  # type: ignore[no-any-return]

    def is_idle(self, within_s: float) -> bool:
        """Wait `within_s` seconds at most; return whether all jobs have ended, successfully or not."""
        answer: queue.SimpleQueue[_Answer] = queue.SimpleQueue()
        self._jobs.put((int, answer))
        try:
            answer.get(timeout=within_s)
        except queue.Empty:
            return False
        return True

    def _run(self) -> None:
        while True:
            job, answer = self._jobs.get()
            failed, self._failed = self._failed, None
            result = None
            try:
                if failed is not None:
                    raise failed
                result = job()
            except BaseException as error:  # noqa: BLE001 - raised again in whoever waits for it
                failed = error
            if answer is not None:
                answer.put((result, failed))
            else:
                self._failed = failed
            del job, answer, result, failed
