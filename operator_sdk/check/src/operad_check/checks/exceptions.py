"""Group R: exceptions in kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, final

import numpy as np

from operad.operator import ForwardArrays, OpContext
from operad_check.cases.kinds import ORDINARY
from operad_check.mutations.mutant import Wrapped, mutant
from operad_check.register import Evidence, check
from operad_check.trials.cause import Meant, is_own
from operad_check.trials.runs import ImperativeRun, Run, SymbolicRun, can_be_bound
from operad_check.trials.subject import IN_PROCESS
from operad_check.trials.trial import Trial
from operad_check.trials.violation import OperatorRaised, Violation, shown_by

_WRITING: Final = "writing its result"
_READING: Final = "reading its arguments"
_ENGINE_RUNS: Final = 2
"""Cases that are run through the engine."""


class _Planted(Meant, Exception):  # noqa: N818 - a fault, and not one of ours
    """Exception that the check plants."""


class _Tripwire(np.ndarray[Any, Any]):
    """Array that raises where it is written, and counts how often it did."""

    tripped = 0

    def _trip(self, *_: Any, **__: Any) -> Any:
        _Tripwire.tripped += 1
        raise _Planted("planted by the contract check")

    __setitem__ = __iadd__ = __isub__ = __imul__ = __itruediv__ = fill = _trip
    __array_ufunc__ = __array_function__ = _trip


@final
class _Failing(Wrapped):
    """Operator whose forward pass raises."""

    def forward(self, op_ctx: OpContext, arrays: ForwardArrays) -> None:
        """Raise."""
        raise _Planted("planted by the contract check")


@check("R504", ORDINARY, pooled=True)
def surfacing(trials: Sequence[Trial]) -> Evidence:
    """An exception is raised where the result is read, and names operator, node and plugin.

    An operator that swallows an exception returns uninitialised memory.

    Broken by:
        def forward(data, output):
            try:
                output[...] = solve(data)
            except Exception:
                pass
    Not run:
        Which function raises.
    Fix:
        Let exceptions pass; the engine brings them to the reader.
    How:
        Check that an exception at a first write leaves either pass, and that a kernel's reaches the reader.
    """
    through_engine = passed_on = 0
    for trial in trials:
        if not trial.outputs or not trial.is_runnable:
            continue
        with shown_by(trial.case):
            passed_on += _passed_on("forward", partial(_forward_into_tripwires, trial), _WRITING)
            _passed_on("forward", partial(_forward_from_tripwires, trial), _READING)
            if any(trial.differentiable()):
                passed_on += _passed_on("backward", partial(_backward, trial), _WRITING)
            is_seen = trial.visible or trial.states
            if through_engine < 2 * _ENGINE_RUNS and is_seen and can_be_bound(trial):
                through_engine += _reaches_reader(ImperativeRun, trial) + _reaches_reader(SymbolicRun, trial)
    return {"exceptions passed on": passed_on, "exceptions at the reader": through_engine}


def _forward_into_tripwires(trial: Trial) -> None:
    trial.forward(outputs=[array.view(_Tripwire) for array in trial.poisoned_outputs()])


def _forward_from_tripwires(trial: Trial) -> None:
    trial.forward([array.copy().view(_Tripwire) for array in trial.inputs])


def _backward(trial: Trial) -> None:
    gradients = trial.poisoned_gradients(trial.write_requests())
    trial.backward(in_grads=[None if g is None else g.view(_Tripwire) for g in gradients])


def _passed_on(where: str, run: Callable[[], object], what: str) -> int:
    before = _Tripwire.tripped
    try:
        run()
    except OperatorRaised:
        return 1
    if _Tripwire.tripped > before:
        raise Violation(f"{where} keeps an exception to itself that {what} raised")
    return 0


def _reaches_reader(kind: type[Run], trial: Trial) -> int:
    """Check that a failing kernel's error surfaces at the read, with the names that help to find it."""
    subject = trial.subject
    run = kind(Trial(mutant(subject, _Failing), trial.case))
    try:
        run.push()
    except _Planted as error:
        raise Violation(
            f"an exception in forward surfaces where a {kind.name} run is pushed, not where it is read"
        ) from error
    try:
        run.read()
    except _Planted as error:
        notes = " ".join(getattr(error, "__notes__", ()))
    except Exception as error:
        if is_own(error):
            raise
        raise OperatorRaised(f"a {kind.name} run", error) from error  # its own, before the planted one
    else:
        raise Violation(f"an exception in forward does not reach who reads the result of a {kind.name} run")
    expected = [trial.prop.name]
    if kind is SymbolicRun:
        expected += ["checked", *([subject.distribution] if subject.distribution != IN_PROCESS else [])]
    for name in expected:
        if name not in notes:
            raise Violation(
                f"an exception in a {kind.name} run does not name {name!r}; its notes say: {notes}"
            )
    return 1
