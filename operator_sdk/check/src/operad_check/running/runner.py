"""Running checks on operators and collecting what they find."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Sequence
from time import perf_counter
from typing import Any

from operad_check.cases.kinds import ALL_KINDS
from operad_check.plan.profile import Profile, profile_of
from operad_check.register import Check, all_checks, find_check
from operad_check.reporting.diagnosis import diagnosed
from operad_check.reporting.outcome import OWN_FAULT, OperatorReport, Outcome, Status, broken
from operad_check.reporting.unproved import without_evidence
from operad_check.running.check_run import CheckRun
from operad_check.running.limit import TimeIsUp, limited
from operad_check.running.order import in_order
from operad_check.running.session import Session
from operad_check.trials.cause import last_line, trace_of
from operad_check.trials.subject import subject_of

Progress = Callable[[Outcome], None]


def check_operator(
    operator: Any,
    *,
    checks: Sequence[str | Check] | None = None,
    profile: str | Profile | None = None,
    progress: Progress | None = None,
    red: Collection[str] = (),
    until_red: bool = False,
) -> OperatorReport:
    """Check one operator, in the order in which most faults show first.

    Args:
        operator: A name or a property class.
        checks: Checks to run, by their ids or as they are; None: all that are registered.
        profile: `"dev"`, `"ci"`, `"nightly"`, or one of your own.
        progress: Called after each check.
        red: Ids of checks that were red the last time, which run first.
        until_red: Whether to stop at the first that is red; the report has those that ran.
    """
    session = Session(subject_of(operator), profile_of(profile))
    asked = all_checks() if checks is None else checks
    found = [find_check(each) if isinstance(each, str) else each for each in asked]
    chosen = {each.id: each for each in found}
    for id in in_order(chosen, red):
        outcome = run_check(session, chosen[id])
        if progress is not None:
            progress(outcome)
        if until_red and outcome.status.is_red:
            break
    return _report(session, [session.outcomes[id] for id in chosen if id in session.outcomes])


def case_plan(operator: Any, *, profile: str | Profile | None = None) -> OperatorReport:
    """The cases that an operator is checked on, and why, with no check run on them.

    Args:
        operator: A name or a property class.
        profile: As for `check_operator`.
    """
    session = Session(subject_of(operator), profile_of(profile))
    for kind in ALL_KINDS:
        session.pool(kind)
    return _report(session, [])


def _report(session: Session, outcomes: Sequence[Outcome]) -> OperatorReport:
    subject, used = session.subject, session.profile
    return OperatorReport(
        operator=subject.name,
        distribution=subject.distribution,
        version=subject.version,
        profile=used.name,
        seed=used.seed,
        outcomes=diagnosed(outcomes),
        coverage=session.coverage(),
        unproved=[*session.unproved(), *without_evidence(subject, outcomes)],
    )


def run_check(session: Session, check: Check) -> Outcome:
    """Run one check, unless the session has it already, and judge it by what the author expects."""
    if check.id not in session.outcomes:
        session.outcomes[check.id] = _outcome(session, check)
    return session.outcomes[check.id]


def _outcome(session: Session, check: Check) -> Outcome:
    begin = perf_counter()
    run = CheckRun(session, check)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an operator's warnings are not the harness's errors
        traceback = ""
        limit_s = session.profile.limit_s
        try:
            with limited(limit_s):
                status, reason, failure = run.verdict()
        except TimeIsUp:
            reason = f"stopped after {limit_s:g} s, the limit of profile {session.profile.name!r}"
            status, failure = Status.NO_EVIDENCE, None
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the other checks run all the same
            status, reason, failure, traceback = Status.BROKEN, _broken_by(error), None, trace_of(error)
    expected = session.subject.contract.expected_failures.get(check.id)
    if expected is not None and status in (Status.WRONG, Status.UNDECLARED, Status.HARD, Status.PASSED):
        is_failure = status is not Status.PASSED
        status = Status.EXPECTED if is_failure else Status.UNEXPECTED_PASS
        reason = expected if is_failure else f"it passes, though a failure is expected: {expected}"
    evidence = dict(run.evidence)
    return Outcome(
        check.id,
        status,
        run.examples,
        evidence,
        reason,
        failure,
        seconds=perf_counter() - begin,
        traceback=traceback,
    )


def broken_report(operator: str, error: BaseException) -> OperatorReport:
    """The report where the harness broke outside of any check."""
    outcome = broken(_broken_by(error), trace_of(error))
    profile = profile_of(None)
    return OperatorReport(operator, "", "", profile.name, profile.seed, [outcome])


def _broken_by(error: BaseException) -> str:
    """Reason of an outcome where an exception of the harness's own ended the check."""
    return f"{OWN_FAULT}: the check raised {type(error).__name__}: {error} ({last_line(error)})"
