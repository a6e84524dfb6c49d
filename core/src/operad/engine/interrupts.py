"""Ctrl-C never tears a step of the engine in two.

Python's own handler raises KeyboardInterrupt between any two bytecodes of the main thread: between taking
the queue's lock and the `try` that would release it, or half-way through entering an operation. No
arrangement of `try` closes all such gaps. So where that handler is in force, the first engine puts
another in its place, which looks at the interrupted stack:

* in code of the engine (or a module that says `protect(__file__)`), and in what that code calls, it
  raises nothing: a trace function on the frame that called the engine raises at that frame's next line,
  and takes itself away. In case that line is far (`map(engine.push, ...)`), or a debugger traces already,
  the signal is sent again half a millisecond later, too;
* in a blocked wait it raises at once, since a wait may be left at any point;
* in an operation that this thread runs it raises there. The operation fails, the engine finishes its
  step and raises the same KeyboardInterrupt again from the call that ran the operation;
* anywhere else it does what Python's handler does.

The signal is sent, not simulated (`_thread.interrupt_main`), so that it wakes a main thread that has begun
to sleep meanwhile. Refused: sending it again alone; a loop that does little but push is nearly always
in the engine, and took seconds to be hit outside. Nothing is paid where nobody presses Ctrl-C, and a
handler that the program installed is left alone.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, Final, TypeVar, final

_RETRY_S: Final = 0.0005
_FOLDER: Final = os.path.dirname(__file__) + os.sep
_Function = TypeVar("_Function", bound=Callable[..., Any])

_protected: Final[set[str]] = set()
_blocking: Final[set[CodeType]] = set()
_calling: Final[set[CodeType]] = set()
_MARK: Final = "_operad_ctrl_c"


def protect(filename: str) -> None:
    """Count the module at `filename` as code of the engine."""
    _protected.add(filename)


def may_interrupt(function: _Function) -> _Function:
    """Mark a function that only blocks: Ctrl-C may raise in it."""
    _blocking.add(function.__code__)
    return function


def calls_operations(function: _Function) -> _Function:
    """Mark a function that calls operations: Ctrl-C may raise in what it calls outside the engine."""
    _calling.add(function.__code__)
    return function


def install() -> None:
    """Take over from Python's own handler, if that is in force and this is the main thread."""
    if threading.current_thread() is not threading.main_thread():
        return
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _on_sigint)


def is_ctrl_c(error: BaseException) -> bool:
    """Whether `error` is what Ctrl-C raised in an operation; who asks raises it again."""
    return hasattr(error, _MARK)


@final
class _Deferral:
    """What of a deferred signal is still to come.

    Attributes:
        is_due: Whether KeyboardInterrupt is still to be raised.
        is_sent: Whether the next signal is one that was sent again.
    """

    is_due = False
    is_sent = False


_deferral: Final = _Deferral()


def _on_sigint(number: int, frame: FrameType | None) -> None:
    is_old = _deferral.is_sent and not _deferral.is_due  # it was raised while it was sent again
    _deferral.is_sent = False
    if not is_old:
        _handle(number, frame)


def _handle(number: int, frame: FrameType | None) -> None:
    if frame is not None and _is_in_step(frame):
        _defer(frame)
        return
    _deferral.is_due = False
    if sys.gettrace() is _ignore:
        sys.settrace(None)
    if _is_in_operation(frame):
        error = KeyboardInterrupt()
        setattr(error, _MARK, True)
        raise error
    signal.default_int_handler(number, frame)


def _defer(step: FrameType) -> None:
    """See to it that the signal is handled once `step` has returned to whoever called the engine."""
    _deferral.is_due = True
    caller: FrameType | None = step
    while caller is not None and _is_in_step(caller):
        caller = caller.f_back
    if caller is not None and sys.gettrace() is None:
        caller.f_trace = _deliver
        sys.settrace(_ignore)  # a frame's own trace function is called only where there is a global one
    _thread.start_new_thread(_send_later, ())


def _ignore(*_: object) -> None:
    """Trace no further frames."""


def _deliver(frame: FrameType, *_: object) -> None:
    frame.f_trace = None
    if _deferral.is_due:
        _handle(signal.SIGINT, frame)


def _send_later() -> None:
    time.sleep(_RETRY_S)
    main = threading.main_thread().ident
    if not _deferral.is_due or main is None:
        return
    _deferral.is_sent = True
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(main, signal.SIGINT)
    else:
        _thread.interrupt_main()


def _is_of_engine(code: CodeType) -> bool:
    return code.co_filename.startswith(_FOLDER) or code.co_filename in _protected


def _is_in_step(frame: FrameType | None) -> bool:
    """Whether `frame` is the engine's, or called by the engine and no operation; a blocked wait is not."""
    if frame is None or frame.f_code in _blocking:
        return False
    called_by = _engine_frame(frame)
    return called_by is not None and (called_by is frame or called_by.f_code not in _calling)


def _is_in_operation(frame: FrameType | None) -> bool:
    called_by = _engine_frame(frame)
    return called_by is not None and called_by.f_code in _calling


def _engine_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame of the engine from `frame` outwards."""
    while frame is not None and not _is_of_engine(frame.f_code):
        frame = frame.f_back
    return frame
