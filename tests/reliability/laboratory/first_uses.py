"""A fork, and a finalizer that computes, at every line of the first use of an operator.

A process uses operators for the first time: entry points are read, plugins imported, calls and graphs
prepared. At lines of that on the way, a trace function forks. What the child has to do:

* `own`: it goes on with the first use, and computes.
* `finalizer`: an object dies whose finalizer computes the same thing; then it goes on likewise. Within the
  import of the very plugin the finalizer may be refused by an `OperadError`; afterwards everything works.
* `error`: Ctrl-C ends the first use there, at the entry of a function; the next one computes. (Any other
  exception that is no error ends it too, but out of the import of a plugin that one cannot be told from the
  plugin's own.)
* `beside`: another thread forks while this one stands at that line for ever, as far as the child can see: it
  computes from the beginning. Where the fork waits until this thread has gone on, it cannot happen there.

Lines inside a commit, which `commits` proves to be one step, are left out.

With `--busy`, two threads compute with other operators all the while.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import signal
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any, Final

import numpy as np

import operad as od
from tests.reliability.laboratory.commits import within_commits
from tests.reliability.laboratory.trials import BROKEN, HANG, LIMIT_S, Trials, options_of, report

HOW: Final = ("own", "finalizer", "error", "beside")
FORKS_IN_S: Final = 0.5
"""A fork that takes longer waits for the thread that stands at a line."""


def call(size: int = 8) -> np.ndarray[Any, Any]:
    """An imperative call, whose plugin is imported first."""
    data = od.nd.array(np.full((size, size), 0.5))
    return np.array(od.nd.dot(od.nd.tanh(data), od.nd.ones((size, size))).asnumpy())


def bind(size: int = 8) -> np.ndarray[Any, Any]:
    """A graph that is bound and run."""
    net = od.sym.dot(od.sym.tanh(od.sym.var("x")), od.sym.var("y"))
    executor = net.simple_bind(od.cpu(), x=(size, size), y=(size, size))
    executor.arg_dict["x"][:] = 0.5
    executor.arg_dict["y"][:] = 1.0
    return np.array(executor.forward()[0].asnumpy())


def record(size: int = 8) -> np.ndarray[Any, Any]:
    """A recorded call and its gradient."""
    x = od.nd.array(np.full((size, size), 0.5))
    x.attach_grad()
    with od.autograd.record():
        y = od.nd.dot(od.nd.tanh(x), od.nd.ones((size, size)))
    y.backward()
    return np.array(y.asnumpy())


def again(size: int = 8) -> np.ndarray[Any, Any]:
    """All of them with shapes that were never seen, where operators were used before."""
    record(size)
    call(size)
    return bind(size)


USES: Final[dict[str, Callable[..., np.ndarray[Any, Any]]]] = {
    "call": call,
    "bind": bind,
    "record": record,
    "again": again,
}


def check(use: Callable[..., np.ndarray[Any, Any]], size: int = 8) -> None:
    """Compute and compare."""
    found, wanted = use(size), np.full((size, size), np.tanh(0.5) * size)
    if not np.allclose(found, wanted, 1e-5):
        raise AssertionError(f"found {found.ravel()[:4]}, expected {wanted.ravel()[:4]}")


class WithFinalizer:
    """Computes when it dies."""

    def __init__(self, use: Callable[[], Any]) -> None:
        self._use = use

    def __del__(self) -> None:
        with suppress(od.OperadError):  # it may be refused, with an error that says so
            check(self._use)


class FirstUse:
    """A first use that is stopped at some of its lines."""

    def __init__(self, name: str, how: str, trials: Trials, most: int) -> None:
        self._name, self._use, self._how = name, USES[name], how
        self._trials = trials
        self._seen: set[tuple[str, int]] = set()
        self._most = most
        self._step = 1
        self._is_child = False
        self._entered: FrameType | None = None
        self._forker = Forker(self._use) if how == "beside" else None

    def go(self) -> None:
        """Use the operators for the first time."""
        if self._name == "again":
            check(self._use, size=7)
        if self._most:
            limit_time(2 * LIMIT_S)
            self._step = max(1, self._lines() // self._most)
            limit_time(0)
        sys.settrace(self._trace)
        try:
            check(self._use)
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(None)
        check(self._use)
        if self._is_child:
            os._exit(0)
        if self._forker is not None:
            self._forker.end()
        self._trials.end()

    def _lines(self) -> int:
        """How many lines there are, counted in a child."""
        reader, writer = os.pipe()
        if os.fork() == 0:
            self._step = 1 << 60
            sys.settrace(self._trace)
            check(self._use)
            sys.settrace(None)
            os.write(writer, str(len(self._seen)).encode())
            os._exit(0)
        os.close(writer)
        text = os.read(reader, 99)
        os.close(reader)
        os.wait()
        return int(text)

    def _trace(self, frame: FrameType, event: str, _: object) -> Any:
        filename = frame.f_code.co_filename
        if event == "call" and "operad" not in filename and not filename.startswith("<frozen importlib"):
            return None
        is_entry, self._entered = self._entered is frame, frame if event == "call" else None
        if self._how == "error" and event == "line" and not is_entry:
            return self._trace  # the interpreter delivers nothing at the beginning of other lines
        place = filename, frame.f_lineno
        if event == "line" and place not in self._seen and place[1] not in within_commits(filename):
            self._seen.add(place)
            if len(self._seen) % self._step == 0:
                key = f"{self._name} {'/'.join(filename.split('/')[-2:])}:{place[1]} {frame.f_code.co_name}"
                if self._trials.wants(key):
                    sys.settrace(None)
                    self._stop_at(key)
                    if not self._is_child:
                        sys.settrace(self._trace)
        return self._trace

    def _stop_at(self, key: str) -> None:
        if self._forker is not None:
            self._forker.fork_at(key)
            return
        watched = Child()
        report(key=key)
        limit_time(2 * LIMIT_S)  # the fork, too
        pid = os.fork()
        if pid:
            watched.report(pid)
            limit_time(0)
            return
        self._is_child = True
        watched.begin()
        sys.excepthook = lambda _, error, __: watched.fail(error)
        if self._how == "error":
            raise KeyboardInterrupt
        if self._how == "finalizer":
            dying = WithFinalizer(self._use)
            del dying


def limit_time(limit_s: float) -> None:
    """Have SIGALRM end this process then, with a stack dump; 0: no longer.

    A timer of faulthandler's that runs while the process forks would have the child wait for ever where
    that sets its own.
    """
    faulthandler.register(signal.SIGALRM, chain=True)
    signal.setitimer(signal.ITIMER_REAL, limit_s)


class Child:
    """A child's last words, and what they mean."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed with the object

    def begin(self) -> None:
        """In the child: end it in time."""
        faulthandler.dump_traceback_later(LIMIT_S, exit=True, file=self._file)

    def fail(self, error: BaseException) -> None:
        """In the child: end it with an error."""
        self._file.write("".join(traceback.format_exception(error)))
        self._file.flush()
        os._exit(2)

    def report(self, pid: int) -> None:
        """In the parent: what became of it."""
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        self._file.seek(0)
        text = self._file.read() or f"exit code {code}"
        report(kind="" if code == 0 else HANG if "Timeout" in text else BROKEN, text=text if code else "")
        if code:
            os._exit(0)  # another process goes on, if there are not enough faults already


class Forker:
    """A thread that forks when it is asked to, and its children, which compute."""

    def __init__(self, use: Callable[[], Any]) -> None:
        self._use = use
        self._asked: list[str] = []
        self._work = threading.Semaphore(0)
        self._forked = threading.Event()
        self._done = threading.Event()
        self._done.set()
        threading.Thread(target=self._serve, daemon=True).start()

    def fork_at(self, key: str) -> None:
        """Fork now, unless an earlier fork still waits, and go on when that is done or seems to wait."""
        if not self._done.is_set():
            return
        self._forked.clear()
        self._done.clear()
        self._asked.append(key)
        self._work.release()
        if self._forked.wait(FORKS_IN_S):
            self._done.wait()

    def end(self) -> None:
        """Wait for a fork that waits."""
        limit_time(2 * LIMIT_S)
        self._done.wait()
        limit_time(0)

    def _serve(self) -> None:
        while True:
            self._work.acquire()
            key = self._asked.pop()
            report(key=key)
            watched = Child()
            pid = os.fork()
            if pid == 0:
                watched.begin()
                try:
                    check(self._use)
                except BaseException as error:  # noqa: BLE001 - reported
                    watched.fail(error)
                os._exit(0)
            self._forked.set()
            watched.report(pid)
            self._done.set()


def keep_busy() -> None:
    """Compute with other operators, in two threads, until the process ends."""
    x = od.nd.ones((16, 16))

    def work() -> None:
        while True:
            (od.nd.relu(x) + x).asnumpy()

    work_once = od.nd.relu(x) + x
    work_once.asnumpy()
    for _ in range(2):
        threading.Thread(target=work, daemon=True).start()


def main() -> None:
    """Try one first use in this process; with `--report` in others, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("use", choices=USES)
    parser.add_argument("how", choices=HOW)
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--most", type=int, default=0)
    options = options_of(parser, __spec__.name)
    if options.busy:
        keep_busy()
    FirstUse(options.use, options.how, Trials(), options.most).go()


if __name__ == "__main__":
    main()
