"""Processes of one program: started, shown line by line, started again, ended."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Final, final

from operad.interrupts import start_thread
from operad_kvstore_ray import reminders
from operad_kvstore_ray.watching import Watch, WorkerStatus, report_of

OF_SIGNAL: Final = 128
"""Added to a signal's number, the exit code of what it ended."""
_POLL_S: Final = 0.05
_LAST_WORDS_S: Final = 2.0


@final
class Workers:
    """Processes of one program, numbered by `OPERAD_KV_RANK`.

    Args:
        command: What each runs.
        env: All variables of each.
        count: How many.
        echo: Prints a line.
        restarts: How often each is started again that fails.
    """

    def __init__(
        self,
        command: Sequence[str],
        env: Mapping[str, str],
        count: int,
        echo: Callable[[str], None],
        restarts: int = 0,
    ) -> None:
        self._command, self._env, self._count, self._echo = command, env, count, echo
        self._restarts, self._left = restarts, [restarts] * count
        self._read: list[threading.Lock] = []  # each is held until all lines of a process are shown
        self._processes: dict[int, subprocess.Popen[str]] = {}
        self._silent = set(range(count))
        self._states = ["starting"] * count
        self._reports = [[""] for _ in range(count)]  # of each process: one may be read late

    def run(
        self, grace_s: float, on_loss: Callable[[int, str], None] | None = None, watch: Watch | None = None
    ) -> int:
        """Start the processes, and wait until all have ended.

        Args:
            grace_s: After such a failure the others are ended after so many seconds.
            on_loss: Is told the rank that failed, and why, before it is started again; a line has said so.
            watch: Is told the state of all, again and again until they have ended.
        Returns:
            The exit code of the first that failed and was not started again.
        """
        for rank in range(self._count):
            self._start(rank)
        running = set(range(self._count))
        code, end, is_ending = 0, float("inf"), False
        begun, remind_s = time.monotonic(), reminders.REMIND_S
        while running:
            if watch is not None:
                watch(self._statuses(running))
            if (silent := sorted(self._silent & running)) and time.monotonic() > begun + remind_s:
                names = ", ".join(map(str, silent))
                self._echo(f"operad launch: waiting for a first line of rank {names}, {remind_s:.0f} s")
                remind_s *= 2  # a program may have nothing to say
            for rank in sorted(running):
                ended = self._processes[rank].poll()
                if ended is None:
                    continue
                is_restarted = bool(ended and self._left[rank] and not code)
                self._states[rank] = _why(ended) if ended else "ended"
                if not is_restarted:
                    running.discard(rank)
                if ended and not is_ending:
                    self._echo(f"operad launch: rank {rank} {_why(ended)}{self._again(rank, is_restarted)}")
                    if running and on_loss is not None:
                        on_loss(rank, _why(ended))
                if is_restarted:
                    self._left[rank] -= 1
                    self._start(rank)
                    self._states[rank] = (
                        f"running again, {self._restarts - self._left[rank]} of {self._restarts}"
                    )
                elif ended and not code:
                    code, end = _exit_code(ended), time.monotonic() + grace_s
            if time.monotonic() > end and not is_ending:
                is_ending = True
                self._echo(f"operad launch: ending rank {', '.join(map(str, sorted(running)))}")
                self.end()
            time.sleep(_POLL_S)
        return code

    def end(self) -> None:
        """End the processes that still run: first politely, after two seconds for certain."""
        end = time.monotonic() + _LAST_WORDS_S
        for process in self._processes.values():
            if process.poll() is None:
                process.terminate()
        for process in self._processes.values():
            try:
                process.wait(max(end - time.monotonic(), 0))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for read in self._read:
            if read.acquire(timeout=_LAST_WORDS_S):
                read.release()

    def _start(self, rank: int) -> None:
        self._processes[rank] = process = subprocess.Popen(
            self._command, env={**self._env, "OPERAD_KV_RANK": str(rank)}, text=True, errors="replace",
            bufsize=1, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        read = threading.Lock()
        read.acquire()
        self._read.append(read)
        self._states[rank], self._reports[rank] = "running", [""]
        start_thread(f"rank {rank}", self._show, rank, process.stdout, read, self._reports[rank])

    def _statuses(self, running: set[int]) -> list[WorkerStatus]:
        both = enumerate(zip(self._states, self._reports, strict=True))
        return [WorkerStatus(state, report[0], rank in running) for rank, (state, report) in both]

    def _again(self, rank: int, is_restarted: bool) -> str:
        number = self._restarts - self._left[rank] + 1
        return f"; starting it again, {number} of {self._restarts}" if is_restarted else ""

    def _show(self, rank: int, lines: IO[str], read: threading.Lock, report: list[str]) -> None:
        try:
            with lines:
                for line in lines:
                    self._silent.discard(rank)
                    report[0] = report_of(line) or report[0]
                    self._echo(f"[{rank}] {line.rstrip()}")
        finally:
            read.release()


def _why(ended: int) -> str:
    return f"was killed by signal {-ended}" if ended < 0 else f"exited with {ended}"


def _exit_code(ended: int) -> int:
    return OF_SIGNAL - ended if ended < 0 else ended
