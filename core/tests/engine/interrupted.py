"""A program that is interrupted by Ctrl-C again and again; prints "sound" if nothing was ever torn.

One interrupt at a time, at a random moment of a loop that pushes, waits, groups and deletes. After each,
nothing may be pending, held or half done.
"""

from __future__ import annotations

import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress

import numpy as np

from operad.device import cpu
from operad.engine import Engine, Var, bulk, get
from operad.engine.thread import local

# A shell ignores it for programs in the background, and they pass that on.
signal.signal(signal.SIGINT, signal.default_int_handler)

CTX = cpu()
X = np.ones((40, 40))


class Sender(threading.Thread):
    """Sends one SIGINT to the main thread, a random moment after each `ask`."""

    def __init__(self, seed: int) -> None:
        super().__init__(daemon=True)
        self._asked = threading.Semaphore(0)
        self._is_over = False
        self._source = random.Random(seed)
        self.start()

    def ask(self, is_over: bool = False) -> None:
        """Want one more, or none any more."""
        self._is_over = is_over
        self._asked.release()

    def run(self) -> None:
        main = threading.main_thread().ident
        assert main is not None
        while True:
            self._asked.acquire()
            if self._is_over:
                return
            time.sleep(self._source.random() * 0.003)  # not a wait for something: the moment is at random
            signal.pthread_kill(main, signal.SIGINT)


def nothing(_: object) -> None:
    """The function that is pushed."""


def work(engine: Engine, variables: list[Var]) -> None:
    """Everything that an engine can be asked for."""
    a, b, c = variables
    for _ in range(30):
        engine.push_sync(nothing, CTX, (a,), (b,))
        engine.run_inline(nothing, (0,), CTX, (), (c,), None)
        engine.push_sync(nothing, CTX, (b,), (a,))
    with bulk(3):
        for _ in range(4):
            engine.push_sync(lambda _: X @ X, CTX, (a,), (b,))
    engine.push_async(lambda _, done: done(), CTX, (b,), (a,))
    engine.wait_for_var(a)
    gone = engine.new_variable()
    engine.push_sync(nothing, CTX, (), (gone,))
    engine.delete_variable(nothing, CTX, gone)
    engine.wait_for_all()


def becomes(is_so: Callable[[], bool]) -> bool:
    """Return whether something is so within a minute."""
    end = time.monotonic() + 60
    while not (found := is_so()) and time.monotonic() < end:
        time.sleep(0.001)
    return found


def check(engine: Engine) -> None:
    """Nothing is pending, held or half done, and the engine works."""
    assert engine.lock.owner is not local.state
    assert local.state.inside == 0
    assert not engine._queue.pending
    # A worker that has told of the last operation may not be at rest yet.
    assert becomes(lambda: not engine.lock.is_busy and not engine._queue.running), engine._queue.running
    ran: list[object] = []
    var = engine.new_variable()
    engine.push_sync(ran.append, CTX, (), (var,))
    engine.wait_for_var(var)
    assert ran
    assert becomes(lambda: engine.run_inline(ran.append, (2,), CTX, (), (var,), None)), engine.lock.blockers


def main(rounds: int) -> None:
    """Be interrupted `rounds` times."""
    engine, sender = get(), Sender(seed=7)
    for _ in range(rounds):
        variables = [engine.new_variable() for _ in range(3)]
        sender.ask()
        with suppress(KeyboardInterrupt):
            while True:
                work(engine, variables)
        engine.wait_for_all()
        check(engine)
    sender.ask(is_over=True)
    sender.join()
    sys.stdout.write("sound\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
