"""A storm of real signals whose handlers raise, at random moments of a loop.

Another process sends each signal, so that it comes at any moment, also while the interpreter's lock is
held. One at a time: after each, the subject and the engine are looked at. The moments differ from run to run,
and what has to hold does not.

A *cell* is compiled and run for each signal, as a notebook does, and loops until the signal stops it.
"""

from __future__ import annotations

import argparse
import gc
import math
import os
import random
import signal
import struct
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, Final

from tests.reliability.laboratory.trials import BROKEN, LOST, Fault, conduct, options_of

WARM_UP: Final = 12
MOST_DELAY_S: Final = 0.0008
STOPS_IN_S: Final = 15.0
"""After which a cell that goes on has lost its signal, where the handler does not tell that it ran."""

_handled: list[int] = []
"""The signals whose handlers have run, of those that tell."""


class Alarm(BaseException):
    """What a handler raises that wants to end whatever runs."""


class Late(Exception):  # noqa: N818 - a time limit's, as in test runners
    """What a handler raises that takes what runs for a function with errors of its own.

    In an operation that cannot be told from the operation's own failure, and may be stored like one.
    """


def raise_alarm(number: int, _: FrameType | None) -> None:
    """A handler."""
    _handled.append(number)
    raise Alarm


def raise_late(number: int, _: FrameType | None) -> None:
    """A handler."""
    _handled.append(number)
    raise Late


def leave(number: int, _: FrameType | None) -> None:
    """A handler of SIGTERM as programs have it."""
    _handled.append(number)
    raise SystemExit(128 + number)


Handler = Callable[[int, FrameType | None], Any]

KINDS: Final[dict[str, tuple[int, Handler, type[BaseException]]]] = {
    "alarm": (signal.SIGALRM, raise_alarm, Alarm),
    "late": (signal.SIGALRM, raise_late, Late),
    "interrupt": (signal.SIGINT, signal.default_int_handler, KeyboardInterrupt),
    "terminate": (signal.SIGTERM, leave, SystemExit),
}

WHEN: Final = ("before", "after", "each")
"""Handlers are installed before the first operation, after it, or before each cell, as ipykernel does."""


class Sender:
    """Another process that sends this one a signal, some time after each `ask`."""

    def __init__(self, number: int) -> None:
        self._random = random.Random(7)
        reader, self._writer = os.pipe()
        if os.fork() == 0:
            os.close(self._writer)
            _send(reader, os.getppid(), number)
        os.close(reader)

    def ask(self) -> None:
        """Want one more."""
        os.write(self._writer, struct.pack("d", self._random.random() * MOST_DELAY_S))


def _send(reader: int, receiver: int, number: int) -> None:
    while asked := os.read(reader, 8):
        time.sleep(struct.unpack("d", asked)[0])  # the moment is at random
        os.kill(receiver, number)
    os._exit(0)  # whoever asked has ended


def hand_over() -> None:
    """Have the interpreter's lock handed over now and then, until the process ends.

    CPython 3.11 overlooks a signal that comes while a thread works out again what it has to look at; it looks
    again when the lock changes hands, which a lone loop never makes happen. A kernel or a server has such
    threads.
    """

    def wake() -> None:
        while True:
            time.sleep(0.05)

    threading.Thread(target=wake, daemon=True).start()


class Trial:
    """A kind of signal in this process, and the subjects it comes into."""

    def __init__(self, kind: str, when: str) -> None:
        self._number, self._handler, self._raised = KINDS[kind]
        self._when = when
        self._sender = Sender(self._number)
        hand_over()
        if when == "before":
            signal.signal(self._number, self._handler)
        # The first operation of the process is run by what this imports.
        from tests.reliability.laboratory import subjects

        self._parts = subjects
        self._unraisable = subjects.Unraisable()
        self._subjects: dict[str, Any] = {}

    def keys(self, name: str, count: int) -> Iterator[str]:
        """So many signals for one subject."""
        subject = self._subjects[name] = {**self._parts.SUBJECTS, **self._parts.APART}[name]()
        for _ in range(WARM_UP):
            subject.act()
            subject.check(None)
        self._parts.check_at_rest()
        if self._when == "after":
            signal.signal(self._number, self._handler)
        yield from (f"{name} {number}" for number in range(count))

    def attempt(self, key: str) -> str:
        """Send one signal into a cell, and look what became of it."""
        subject, kind = self._subjects[key.split(maxsplit=1)[0]], self._raised
        if self._when == "each":
            signal.signal(self._number, self._handler)
        # Where the handler tells, a signal that never comes is a hang.
        limit_s = time.monotonic() + (STOPS_IN_S if kind is KeyboardInterrupt else math.inf)
        _handled.clear()
        cell = compile("while not is_over(): act()", "<cell>", "exec")
        hit: BaseException | None = None
        try:
            self._sender.ask()
            exec(cell, {"act": subject.act, "is_over": lambda: self._is_over(limit_s)})  # noqa: S102
        except kind as error:
            hit = error
        except BaseException as error:  # noqa: BLE001 - what is raised is the verdict
            signal.signal(self._number, signal.SIG_IGN)
            raise Fault(BROKEN, self._parts.traced(error)) from None
        if issubclass(kind, Exception):
            hit = subject.settle((kind,)) or hit
        ignored = self._unraisable.take()
        if hit is None or ignored:
            raise Fault(LOST, "\n".join(ignored) or "it did not stop its cell")
        self._parts.judge(subject, hit, kind)
        return ""

    @staticmethod
    def _is_over(limit_s: float) -> bool:
        """Whether the cell goes on although the signal was handled."""
        return bool(_handled) or time.monotonic() > limit_s


def main() -> None:
    """Try some subjects in this process; with `--report` in others, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("subjects", nargs="*")
    parser.add_argument("--kind", choices=KINDS, default="alarm")
    parser.add_argument("--when", choices=WHEN, default="after")
    parser.add_argument("--count", type=int, default=60)
    options = options_of(parser, __spec__.name)
    trial = Trial(options.kind, options.when)
    gc.set_threshold(0)
    names = options.subjects or list(trial._parts.SUBJECTS)
    conduct(names, lambda name: trial.keys(name, options.count), trial.attempt)


if __name__ == "__main__":
    main()
