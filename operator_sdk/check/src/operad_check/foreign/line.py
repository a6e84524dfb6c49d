"""A first look at a shape line: it has to describe some result before anything is checked by it."""

from __future__ import annotations

from operad.errors import ArgumentError, ShapeError
from operad_check.cases.kinds import ORDINARY
from operad_check.foreign.function import ForeignFunction
from operad_check.foreign.subject import subject_of_function
from operad_check.plan.profile import profile_of
from operad_check.running.session import Session
from operad_check.trials.subject import Subject
from operad_check.trials.trial import Trial
from operad_check.trials.violation import OperatorRaised

_MOST = 8
"""Cases that the function is tried on; with one that fits, a misfit is the function's fault."""


def described(function: ForeignFunction) -> Subject:
    """The function as a subject, if its line describes what it gives.

    Raises:
        ArgumentError: No result fits the line, whatever the function was tried on. A wrong line would make
            most checks red, each with advice about the function.
        SpecError: The line cannot be read.
    """
    subject = subject_of_function(function)
    try:
        cases = Session(subject, profile_of(None)).pool(ORDINARY)[:_MOST]
    except Exception:  # noqa: BLE001 - F201 reports what cannot be made, and whose fault it is
        return subject
    misfits = []
    for case in cases:
        try:
            Trial(subject, case).forward()
        except OperatorRaised as raised:
            if isinstance(raised.error, ShapeError):
                arguments = ", ".join(f"{name} {array.shape}" for name, array in case.inputs.items())
                misfits.append(f"for {arguments or 'no arguments'}, {raised.error}")
                continue
        except Exception:  # noqa: BLE001 - as above
            return subject
        return subject
    if not misfits:
        return subject
    raise ArgumentError(
        f"the line does not describe {function.name}: {misfits[-1]}. Write the shapes and types that the "
        "function gives; a result of another type than the arguments' has it before its axes, 'y:int64(N)'"
    )
