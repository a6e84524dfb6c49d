"""Programs that show a failure, and the function they call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from operad_sdk.check.blame import authors_line
from operad_sdk.check.case import Case
from operad_sdk.check.register import CheckFunction, Evidence, find_check
from operad_sdk.check.subject import Subject, subject_of
from operad_sdk.check.trial import Trial
from operad_sdk.check.violation import OperatorRaised, Violation


def verify(check_id: str, operator: Any, *cases: Case) -> Evidence:
    """Run one check on exactly these cases; reproductions printed in reports call this.

    Args:
        check_id: Such as `"B301"`.
        operator: A name, a property class, or what a decorator returned.
        cases: One, or those that a check compares; none for a check of the operator as it stands.

    Returns:
        The check's evidence where it passes.

    Raises:
        Violation: It fails; the message starts with the id.
    """
    subject = subject_of(operator)
    try:
        return run_on(find_check(check_id), subject, cases)
    except (Violation, OperatorRaised) as error:
        raise Violation(f"[{check_id}] {subject.name}: {error}") from error


def run_on(check: CheckFunction, subject: Subject, cases: Sequence[Case]) -> Evidence:
    """Run a check on cases.

    Raises:
        Violation: It fails.
        OperatorRaised: Code of the operator raises, wherever the check calls it.
    """
    if check.kind is None:
        return check.run(subject)
    trials = [Trial(subject, case) for case in cases]
    return run_with(check, subject, trials if check.pooled else trials[0])


def run_with(check: CheckFunction, subject: Subject, trials: Trial | Sequence[Trial]) -> Evidence:
    """Run a check on what it takes; raises as `run_on` does."""
    try:
        return check.run(trials)
    except (Violation, OperatorRaised):
        raise
    except (Exception, SystemExit) as error:
        line = authors_line(error)
        if line is not None:
            raise OperatorRaised(f"code of the operator ({line})", error) from error
        raise  # a mistake of the check


def script(check_id: str, subject: Subject, cases: Sequence[Case], message: str) -> str:
    """A program of about fifteen lines or less that fails as the check did."""
    module, expression = subject.reference()
    names = [f"case{i}" if len(cases) > 1 else "case" for i in range(len(cases))]
    uses_arrays = any(case.inputs or case.aux for case in cases)
    head = [
        "import numpy as np" if uses_arrays else "",
        "from numpy import inf, nan" if any(map(_has_nonfinite, cases)) else "",
        f"from operad_sdk.check import {'Case, ' if cases else ''}verify",
        module,
    ]
    body = [line for name, case in zip(names, cases, strict=True) for line in _case_lines(name, case)]
    call = f"verify({', '.join([repr(check_id), expression, *names])})"
    return "\n".join([*filter(None, head), "", *body, call, *_comment(message)]) + "\n"


def _has_nonfinite(case: Case) -> bool:
    arrays = [*case.inputs.values(), *case.aux.values()]
    return not all(np.isfinite(array).all() for array in arrays)


def _case_lines(name: str, case: Case) -> list[str]:
    fields = [
        f"params={dict(case.params)!r}" if case.params else "",
        f"inputs={_arrays(case.inputs)}" if case.inputs else "",
        f"aux={_arrays(case.aux)}" if case.aux else "",
        f"is_train={case.is_train}",
        f"seed={case.seed}",
    ]
    return [f"{name} = Case(", *[f"    {text}," for text in fields if text], ")"]


def _arrays(arrays: Mapping[str, Any]) -> str:
    return "{" + ", ".join(f"{name!r}: {_literal(array)}" for name, array in arrays.items()) + "}"


def _literal(array: np.ndarray[Any, Any]) -> str:
    if array.size == 0:
        return f"np.zeros({array.shape}, {array.dtype.name!r})"
    if array.size > 1 and array.tobytes() == np.full_like(array, array.flat[0]).tobytes():
        return f"np.full({array.shape}, {array.flat[0].item()!r}, {array.dtype.name!r})"
    return f"np.array({array.tolist()!r}, {array.dtype.name!r})"


def _comment(message: str) -> list[str]:
    return ["# " + " ".join(message.split())[:300]]
