"""Instructions at which the running interpreter looks at signals.

The explorer of schedules and the checker of commits both rest on where that is, so it is measured and not
taken from the interpreter's source. In two ways:

*Traced*: before one instruction of a probe function a C function pretends that a signal came
(`PyErr_SetInterruptEx`, called as the frame's trace function, so that no byte code runs between), and
the handler says at which instruction it is called. Every instruction that runs between is one at which
signals are not looked at. Done once from each instruction of the probe.

*Sampled*: a timer's signals arrive anywhere in a loop over the probe with no trace function installed; the
handler notes the instruction that it interrupted.

Asynchronous exceptions (`PyThreadState_SetAsyncExc`) and other threads' wish to run are looked at in the same
place of the interpreter, but not where C code asks for signals alone (`PyErr_CheckSignals`); see `commits`.
"""

from __future__ import annotations

import ctypes
import dis
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from types import CodeType, FrameType
from typing import Any

_SIGNAL = signal.SIGUSR1
_INTERVAL_S = 5e-5
_SAMPLES = 20_000


class _Slots:
    __slots__ = ("count", "owner", "token")

    def __init__(self) -> None:
        self.token: Any = None
        self.owner: Any = None
        self.count = 0


class _Scope:
    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


def _callee() -> int:
    return 1


def _iterate() -> Any:
    yield 1


def _probe(slots: _Slots, items: list[Any], table: dict[str, Any], lock: Any) -> Any:  # noqa: PLR0915
    """Use most instructions that code of an engine is compiled to."""
    del slots.token
    slots.owner = table
    slots.token = None
    slots.count += 1
    items[0] = slots.owner
    table["key"] = items[0]
    del table["key"]
    first, second = items[0], items[1]
    pair = (first, second)
    a, b = pair
    try:
        slots.count -= 1
        if not slots.count and a is not b:
            slots.owner = None
    finally:
        slots.owner = a
    try:
        try:
            del slots.token
            del slots.token
        except AttributeError:
            slots.token = None
    finally:
        slots.token = None
    made = [first, *items]
    named = {"a": a, **table}
    joined = {a, b} if a is b else None
    text = f"{second}"
    tail = made[1:]
    if "a" in named and slots.count == 0 and text != "":
        second = -second
    for _ in pair:
        slots.count = 0
    count = 2
    while count:
        count -= 1
    with lock:
        slots.owner = joined
    with _Scope():
        slots.owner = None
    len(pair)
    items.append(tail)
    items.pop()
    _callee()
    max(*pair, 1, key=id)
    for _ in _iterate():
        pass
    closed = [item for item in pair if item]
    return lambda: closed


def _arguments() -> tuple[Any, ...]:
    slots = _Slots()
    return slots, [1, 2], {"b": 1}, threading.Lock()


def _instructions(code: CodeType) -> dict[int, str]:
    return {found.offset: found.opname for found in dis.get_instructions(code)}


def traced() -> tuple[Counter[str], Counter[str]]:
    """Instructions at which a signal that came before was looked at, and those that were passed before."""
    path, _ = _run(None)
    names = _instructions(_probe.__code__)
    looked, passed = Counter[str](), Counter[str]()
    for start in range(len(path)):
        _, seen = _run(start)
        if seen is None:
            continue
        code, at = seen
        looked[_instructions(code)[at]] += 1
        if code is _probe.__code__:
            # Since 3.12 a jump calls trace functions before it looks, so that it may come again.
            reached = path.index(at, start) if at in path[start:] else start
            passed.update(names[offset] for offset in path[start + 1 : reached])
    return looked, passed


def _run(start: int | None) -> tuple[list[int], tuple[CodeType, int] | None]:
    """Run the probe with a signal that comes between the instruction numbered `start` and the next one.

    Returns:
        The instructions that ran until the signal came, and the one at which it was handled.
    """
    path: list[int] = []
    seen: list[tuple[CodeType, int]] = []

    def handle(_: int, frame: FrameType | None) -> None:
        sys.settrace(None)
        assert frame is not None
        frame.f_trace = None
        seen.append((frame.f_code, frame.f_lasti))

    def trace(frame: FrameType, event: str, _: object) -> Any:
        if frame.f_code is not _probe.__code__:
            return None
        frame.f_trace = trace  # Python 3.13 asks for it when the next line is set, and only then
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        if event == "opcode":
            path.append(frame.f_lasti)
            if len(path) - 1 == start:
                return _signal_comes()
        return trace

    before = signal.signal(_SIGNAL, handle)
    arguments = _arguments()
    sys._getframe().f_trace_opcodes = True  # Python 3.12 asks for it when tracing begins, and only then
    sys.settrace(trace)
    try:
        _probe(*arguments)
    finally:
        sys.settrace(None)
        signal.signal(_SIGNAL, before)
    return path, seen[0] if seen else None


@cache
def _signal_comes() -> Callable[..., object]:
    """A trace function that runs no byte code."""
    made = ctypes.PYFUNCTYPE(None, ctypes.c_int, *[ctypes.py_object] * 3)
    address = ctypes.cast(ctypes.pythonapi.PyErr_SetInterruptEx, ctypes.c_void_p).value
    return partial(made(address or 0), int(_SIGNAL))


def sampled() -> Counter[str]:
    """Instructions that a timer's signals interrupted, with no trace function installed."""
    seen = Counter[tuple[CodeType, int]]()

    def handle(_: int, frame: FrameType | None) -> None:
        assert frame is not None
        seen[frame.f_code, frame.f_lasti] += 1

    before = signal.signal(signal.SIGALRM, handle)
    arguments = _arguments()
    signal.setitimer(signal.ITIMER_REAL, _INTERVAL_S, _INTERVAL_S)
    try:
        while seen.total() < _SAMPLES:
            _probe(*arguments)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    looked = Counter[str]()
    for (code, offset), count in seen.items():
        looked[_instructions(code)[offset]] += count
    return looked


def report() -> str:
    """What was measured on the running interpreter."""
    looked, passed = traced()
    lines = [
        f"Python {sys.version.split()[0]}",
        f"looks, of {looked.total()} traced signals: {_listed(looked)}",
        f"does not look, passed by those: {_listed(passed)}",
        f"looks, of {_SAMPLES} signals of a timer: {_listed(sampled())}",
    ]
    return "\n".join(lines)


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.most_common())
