"""From a case that fails to the smallest that fails in the same check.

Hypothesis makes the structure smaller: parameters, sizes, mode, seed; with the sizes it draws other values.
Then arrays shrink while their elements keep their values, and values are replaced, element by element,
by simpler ones that their domains accept.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

import numpy as np
from hypothesis.errors import HypothesisException

from operad_check.cases.goal import Goal
from operad_check.cases.strategies import STATE, domain_of
from operad_check.running.session import Session
from operad_check.running.shrink_arrays import is_accepted, shrink_arrays
from operad_check.trials.case import Case
from operad_check.trials.subject import Subject

_MAX_RUNS: Final = 300
_SIMPLE: Final = (1.0, 0.5, 2.0, 0.0, -1.0)

Fails = Callable[[Case], bool]


class _Enough(BaseException):
    """End of a long search; no `Exception`, so that nothing on the way up catches it."""


def smallest(session: Session, goal: Goal, first: Case, fails: Fails) -> Case:
    """Smallest case found for which `fails` is true, at most as large as `first`."""
    best, runs = first, 0

    def look(case: Case) -> None:
        nonlocal best, runs
        runs += 1
        if runs > _MAX_RUNS + session.profile.examples:
            raise _Enough
        if fails(case):
            best = min(best, case, key=lambda candidate: candidate.size)
            raise AssertionError

    # How the search ends; a check whose verdict changes from run to run ends it early.
    with suppress(AssertionError, _Enough, HypothesisException, ExceptionGroup):
        session.examine(goal, look, shrink=True)
    best = shrink_arrays(session.subject, best, fails, _MAX_RUNS)
    simple = _with_simple_values(session, best, fails)
    # sizes that only a value held up may shrink now
    best = simple if simple is best else shrink_arrays(session.subject, simple, fails, _MAX_RUNS)
    return _with_plain_choices(session.subject, best, fails)


def _with_plain_choices(subject: Subject, case: Case, fails: Fails) -> Case:
    """Without the parameters, the mode and the seed that only came with the values."""
    for name in case.params:
        fewer = replace(case, params={other: case.params[other] for other in case.params if other != name})
        if is_accepted(subject, fewer) and fails(fewer):
            case = fewer
    for plain in ({"is_train": True}, {"seed": 0}):
        candidate = replace(case, **plain)
        if (candidate.is_train, candidate.seed) != (case.is_train, case.seed) and fails(candidate):
            case = candidate
    return case


def _with_simple_values(session: Session, case: Case, fails: Fails) -> Case:
    candidates = _simpler(session, case)
    with suppress(StopIteration):
        candidate = next(candidates)
        for _ in range(_MAX_RUNS + 1):
            is_kept = fails(candidate)
            case = candidate if is_kept else case
            candidate = candidates.send(is_kept)
    return case


def _simpler(session: Session, case: Case) -> Generator[Case, bool, None]:
    """The case with one element replaced, which stays so in those that follow where it is told to."""
    arrays: dict[str, dict[str, Any]] = {"inputs": dict(case.inputs), "aux": dict(case.aux)}
    contract = session.subject.contract
    for group, default in (("inputs", None), ("aux", STATE)):
        for name, array in list(arrays[group].items()):
            declared = contract.domain(name) or default or domain_of(contract, name)
            for place in np.ndindex(array.shape):
                for value in _SIMPLE:
                    now = arrays[group][name]
                    if now[place] == value:
                        break
                    if not (declared.accepts(value) and _can_hold(now.dtype, value)):
                        continue
                    changed = now.copy()
                    changed[place] = value
                    tried = {**arrays, group: {**arrays[group], name: changed}}
                    if (yield replace(case, inputs=tried["inputs"], aux=tried["aux"])):
                        arrays = tried
                        break


def _can_hold(dtype: np.dtype[Any], value: float) -> bool:
    return dtype.kind == "f" or (value == int(value) and (value >= 0 or dtype.kind == "i"))
