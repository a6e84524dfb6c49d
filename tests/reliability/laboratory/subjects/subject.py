"""What a subject is, and what is looked at after it was interrupted."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable
from typing import Any, Final

import numpy as np

import operad as od
from operad import autograd
from operad import engine as engines
from operad.errors import InterruptedOperationError
from tests.reliability.laboratory.trials import BROKEN, LOST, WRONG, Fault

CTX: Final = od.cpu()
_PATIENCE: Final = 2_000
"""Looks, a tenth of a millisecond apart, at whether a worker that has done its work has gone to rest."""


def require(condition: object, text: str, kind: str = WRONG) -> None:
    """A fault where the condition does not hold."""
    if not condition:
        raise Fault(kind, text)


def check_at_rest() -> None:
    """Waits return and raise nothing, pushes and inline runs work, nothing is counted as pending."""
    engine = engines.get()
    engine.wait_for_all()
    ran: list[object] = []
    var = engine.new_variable()
    engine.push_sync(ran.append, CTX, (), (var,))
    require(comes(lambda: ran), "what is pushed runs only once a thread waits for it", BROKEN)
    engine.wait_for_var(var)
    require(len(ran) == 1, f"a push ran {len(ran)} times")
    runs_inline = comes(lambda: engine.run_inline(ran.append, (2,), CTX, (), (var,), None))
    require(runs_inline, "nothing runs inline any more: the lock is not free, or something blocks", BROKEN)
    pending = engine._queue.pending
    require(pending == 0, f"{pending} operations are pending after all were waited for")
    with_mode = autograd.is_recording(), autograd.is_training()
    require(
        with_mode == (False, False), f"recording and training are {with_mode} outside of any scope", BROKEN
    )


def comes(condition: Callable[[], object]) -> bool:
    """Whether a condition holds now or in a while; other threads run meanwhile, and nothing is healed."""
    for _ in range(_PATIENCE):
        if condition():
            return True
        time.sleep(1e-4)
    return False


def caused_by(error: BaseException | None, cause: BaseException | None) -> bool:
    """Whether `error` is `cause` or of its class, or was raised because of such.

    That an operation was interrupted is always because of what came from outside.
    """
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if cause is not None and isinstance(error, type(cause) | InterruptedOperationError):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False


def value(array: Any, hit: BaseException | None) -> np.ndarray[Any, Any] | None:
    """The array's value; None where it has none because of `hit`."""
    try:
        return np.array(array.asnumpy())
    except BaseException as error:
        if hit is None or not caused_by(error, hit):
            raise
        return None


def require_one_of(found: np.ndarray[Any, Any] | None, *wanted: np.ndarray[Any, Any], what: str) -> None:
    """A value is one of those wanted, or there is none."""
    if found is not None:
        require(any(np.allclose(found, one, 1e-5, 1e-6) for one in wanted), f"{what} is {found.ravel()[:6]}")


class Subject:
    """One thing that a program does.

    Attributes:
        may_be_printed: Whether Python calls parts of it where it can only print what is raised.
    """

    may_be_printed = False

    def act(self) -> None:
        """What is interrupted."""
        raise NotImplementedError

    def check(self, hit: BaseException | None) -> None:
        """Raise `Fault` where something is wrong after `hit`; None: after an `act` that was left alone."""

    def settle(self, kinds: tuple[type[BaseException], ...]) -> BaseException | None:
        """Have the failures of operations raised that an error of these classes hit; the last of them."""
        try:
            engines.get().wait_for_all()
        except BaseException as error:  # noqa: BLE001 - judged here
            errors = error.exceptions if isinstance(error, BaseExceptionGroup) else (error,)
            found = [one for one in errors if not self.is_own(one)]
            if not all(any(caused_by(one, kind()) for kind in kinds) for one in found):
                raise Fault(BROKEN, traced(error)) from None
            return found[-1] if found else None
        return None

    def is_own(self, _: BaseException) -> bool:
        """Whether an error is what the subject's own operation raises."""
        return False


class Unraisable:
    """Errors that Python could raise nowhere ("Exception ignored in ..."), while this is installed."""

    def __init__(self) -> None:
        self._found: list[str] = []
        sys.unraisablehook = self._note

    def _note(self, unraisable: Any) -> None:
        self._found.append(f"{unraisable.err_msg or 'Exception ignored in'} {unraisable.object!r}: "
                           f"{unraisable.exc_value!r}")  # fmt: skip

    def take(self) -> list[str]:
        """Those since the last time."""
        found, self._found = self._found, []
        return found


def judge(subject: Subject, hit: BaseException | None, kind: type[BaseException]) -> None:
    """Check a subject and the engine after `hit`, and once more after an `act` that is left alone."""
    try:
        subject.check(hit)
        check_at_rest()
        subject.act()
        subject.check(None)
        check_at_rest()
    except Fault:
        raise
    except kind as error:
        raise Fault(LOST, f"it came out once more, of something else:\n{traced(error)}") from None
    except BaseException as error:  # noqa: BLE001 - what is raised is the verdict
        raise Fault(BROKEN, traced(error)) from None


def traced(error: BaseException) -> str:
    """An error with its traceback."""
    return "".join(traceback.format_exception(error))
