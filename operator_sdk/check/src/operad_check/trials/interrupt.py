"""Stopping a function at each line of an operator's code to run another in a second thread.

Two threads that really race meet at a bad moment once in a million runs. Here every line is such a
moment: a trace function runs between the lines of the operator's own modules and lets the other thread do
a whole call there. What is found is found every time. Native code is not stopped; what it shares is
visible between the calls.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as Unfinished
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Final, final

from operad.interrupts import block_signals
from operad_check.trials.cause import is_library, is_own

_MOST_STOPS: Final = 60
_PATIENCE_S: Final = 0.5
"""Seconds that the second thread may take before it counts as waiting for a lock of the first thread."""


@final
@dataclass(slots=True)
class Interrupted:
    """Results of a function, and of another that was run at each of its stops.

    Attributes:
        value: Of the first.
        others: Of the second, once for each stop.
        errors: Exceptions of both, but for those of the harness's own.
        place: The last line at which the first was stopped.
    """

    value: Any = None
    others: list[Any] = field(default_factory=list)
    errors: list[BaseException] = field(default_factory=list)
    place: str = "no line of its own"


def interrupted(
    function: Callable[[], Any], other: Callable[[], Any], only: int | None = None
) -> Interrupted:
    """Run `function`, and `other` in another thread at each line of the operator's code in it.

    Args:
        only: At the line that is reached after so many others, and no other one.
    """
    found = Interrupted()
    before = sys.gettrace()
    with ThreadPoolExecutor(1, "contract check", block_signals) as pool:
        stops = _Stops(found, lambda: pool.submit(other).result, only)
        sys.settrace(stops.on_call)
        try:
            found.value = function()
        except Exception as error:
            if is_own(error, outside=1):
                raise
            found.errors.append(error)  # whatever the operator raises under these conditions
        finally:
            sys.settrace(before)
    return found


@final
class _Stops:
    def __init__(
        self, found: Interrupted, start: Callable[[], Callable[[float], Any]], only: int | None
    ) -> None:
        self._found = found
        self._start = start
        self._to_skip = only or 0
        self._left = _MOST_STOPS if only is None else 1

    def on_call(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Trace function of a call: whether to stop in it."""
        if is_library(str(frame.f_globals.get("__name__", ""))):
            return None
        return self.on_line

    def on_line(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Trace function of a line: the moment for the other thread."""
        if event == "line" and self._to_skip > 0:
            self._to_skip -= 1
        elif event == "line" and self._left > 0:
            self._left -= 1
            self._found.place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
            sys.settrace(None)
            try:
                self._found.others.append(self._start()(_PATIENCE_S))
            except Unfinished:
                self._left = 0  # it waits for a lock held here; it will go on when this thread does
            except Exception as error:
                if is_own(error, outside=1):
                    raise
                self._found.errors.append(error)
                self._left = 0
            finally:
                sys.settrace(self.on_call)
        return self.on_line
