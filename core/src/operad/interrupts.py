"""Exceptions that come from outside: Ctrl-C, handlers of signals that raise, exceptions sent to a thread.

They come at any point of any call, and the engine neither defers nor catches them: its steps bear it (see
`lock`). What they interrupt is distinguished from what an operation does wrong. A failure of an operation is
kept and surfaces at a wait; an exception from outside surfaces once, out of the call that it interrupted.
"""

from __future__ import annotations

import gc
import signal
import sys
import threading
import weakref
from _thread import start_new_thread
from collections.abc import Callable, Iterable
from opcode import opmap
from types import CodeType, FrameType
from typing import Final

from operad import system

_RAISE: Final = opmap["RAISE_VARARGS"]
_OF_PROGRAMS: Final = {
    "SIGALRM", "SIGVTALRM", "SIGUSR1", "SIGUSR2", "SIGIO", "SIGURG", "SIGWINCH", "SIGRTMIN",
    "SIGRTMAX", "",
}  # fmt: skip
"""Names of signals that a program uses for itself; of the real-time ones only the first and last have one."""


def block_signals() -> None:
    """Leave a program's signals to its own threads; called in each thread of operad (`start_thread`).

    A handler's Python code runs in the main thread, whichever thread takes the signal. A helper that takes it
    is interrupted for nothing, and a main thread that waits does not hear of it.

    A process that a helper starts inherits the mask. So signals that stop a process stay open, or
    `Popen.terminate` and Ctrl-C would not reach it; every wait of a helper goes on after an interruption.
    """
    system.block_signals(
        number for number in signal.valid_signals() if getattr(number, "name", "") in _OF_PROGRAMS
    )


def start_thread(name: str, function: Callable[..., object], *args: object) -> None:
    """Start a daemon thread that calls `function`, and leaves signals to the program.

    `Thread.start` waits for the new thread in Python code, where an exception that a signal's handler raises
    leaves a lock held that the new thread needs. Handlers run in the main thread alone. So another thread,
    which one call of C code starts, starts the named one: the function is called, or nothing is started.

    Raises:
        RuntimeError: No thread can be started, or the interpreter is ending.
    """

    def start() -> None:
        block_signals()  # the new thread inherits it
        try:
            threading.Thread(target=function, args=args, name=name, daemon=True).start()
        except RuntimeError:  # there may be no further thread, so this one does
            function(*args)

    start_new_thread(start, ())


def is_from_outside(error: BaseException) -> bool:
    """Return whether a handler of a signal, the interpreter or another thread raised `error`.

    Of what is no `Exception`, all is, unless a `raise` of the operation raised it. An `Exception` that
    another thread sent (`PyThreadState_SetAsyncExc`) cannot be told from the operation's own.
    """
    if is_of_handler(error):
        return True
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    is_raised = traceback is not None and traceback.tb_frame.f_code.co_code[traceback.tb_lasti] == _RAISE
    return not isinstance(error, Exception) and not is_raised


def is_of_handler(error: BaseException) -> bool:
    """Return whether a handler of a signal raised `error`."""
    traceback, handlers = error.__traceback__, _codes(_signal_handlers())
    while traceback is not None:
        if traceback.tb_frame.f_code in handlers:
            return True
        traceback = traceback.tb_next
    return False


def raise_of_handler(error: BaseException) -> None:
    """Raise `error` again if a handler of a signal raised it, for who goes on after errors of anybody's code.

    A time limit's handler raises an `Exception` too, and it may do so while such code runs.
    """
    if is_of_handler(error):
        raise error


def is_interruption() -> bool:
    """Return whether a finalizer, a collector's callback or a signal handler is on the thread's stack.

    It may have interrupted anything, and so must not be made to wait for other threads. Slow; asked
    only before a thread would wait.
    """
    handlers = _codes([*_signal_handlers(), *gc.callbacks, weakref.finalize.__call__])
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_name == "__del__" or code in handlers:
            return True
        frame = frame.f_back
    return False


def _signal_handlers() -> list[object]:
    found = [signal.getsignal(number) for number in signal.valid_signals()]
    return [handler for handler in found if callable(handler)]


def _codes(functions: Iterable[object]) -> set[CodeType]:
    """The code that Python runs for functions, bound methods, partials and objects with `__call__`."""
    codes = set()
    for function in functions:
        while hasattr(function, "func"):
            function = function.func
        code = getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)
        if isinstance(code, CodeType):
            codes.add(code)
    return codes
