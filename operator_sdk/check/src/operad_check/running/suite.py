"""The contract as pytest tests, in a plugin's own repository.

    # tests/test_contract.py
    from operad_check import contract_suite

    test_contract = contract_suite("operad_losses")

gives one test for each operator and check, `test_contract[smooth_l1-F202]`, which can be chosen,
deselected and run apart like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

import pytest

from operad.errors import ArgumentError
from operad_check.cases.kinds import ALL_KINDS
from operad_check.plan.profile import Profile, profile_of
from operad_check.register import Check, all_checks, find_check
from operad_check.reporting.outcome import Outcome, Status
from operad_check.reporting.report import outcome_text
from operad_check.running.chosen import operators_of
from operad_check.running.order import RUNS_FIRST
from operad_check.running.runner import run_check
from operad_check.running.session import Session
from operad_check.trials.subject import Subject, subject_of

_STRICT: Final = "strict"
"""Name of the test of what is not proved, beside the ids of checks."""


class BrokenCheck(pytest.fail.Exception):  # type: ignore[misc, name-defined]  # pytest's own, by no name
    """End of a test whose check broke: it did not fail, though pytest has no other word for it.

    The plugin of operad-check-pytest, which knows it by `operad_status`, gives it a word of its own.
    """

    operad_status = "broken"


class MilderCheck(pytest.skip.Exception):  # type: ignore[misc, name-defined]  # likewise
    """End of a test whose check asks for a declaration, or shows a figure; likewise."""

    operad_status = ""


def contract_suite(
    operators: str | Sequence[Any],
    *,
    checks: Sequence[str | Check] | None = None,
    profile: str | Profile | None = None,
    strict: bool = False,
) -> Callable[..., None]:
    """A test function with one case for each operator and check.

    Args:
        operators: A package or distribution, whose operators are all meant; or a list of operators:
            names or property classes.
        checks: Ids, or checks as they are; None: all.
        profile: `"dev"`, `"ci"`, `"nightly"` or one of your own; None: what `HYPOTHESIS_PROFILE`
            names, else `dev`.
        strict: Whether a test `NAME-strict` fails for what is not proved and has no reason that says why,
            and the others for what is undeclared, as `operad check --strict` does.

    Raises:
        ArgumentError: No installed operator belongs to the package or distribution.
    """
    chosen = named_operators(operators) if isinstance(operators, str) else list(operators)
    asked = list(all_checks() if checks is None else checks)
    known = {each.id: each for each in (find_check(a) if isinstance(a, str) else a for a in asked)}
    ids = list(known)
    last = [_STRICT] if strict else []
    cases = [
        pytest.param(operator, id, id=f"{_label(operator)}-{id}")
        for operator in chosen
        for id in [*ids, *last]
    ]
    used = profile_of(profile)

    @pytest.mark.parametrize(("operator", "check_id"), cases)
    def test_contract(operator: Any, check_id: str, record_property: Callable[[str, object], None]) -> None:
        session = _session(operator, used)
        if check_id in (_STRICT, ids[-1]):
            note_unproved(session, record_property, is_strict=check_id == _STRICT)
        if check_id == _STRICT:
            return
        if RUNS_FIRST in ids:
            run_check(session, find_check(RUNS_FIRST))
        report(session.subject, run_check(session, known[check_id]), is_strict=strict)

    return test_contract  # type: ignore[no-any-return]  # a function that pytest has marked


def note_unproved(session: Session, note: Callable[[str, object], None], *, is_strict: bool) -> None:
    """Put what is not proved among the properties of the test; fail for it if that is asked for.

    Args:
        note: Takes a name and what it stands for.
    """
    for kind in ALL_KINDS if is_strict else ():
        session.pool(kind)
    found = session.unproved()
    for one in found:
        note("not proved", str(one))
    lacking = [f"  {one}" for one in found if not one.is_accepted]
    if is_strict and lacking:
        text = "\n".join([f"{session.subject.name}: not proved, and no reason says why:", *lacking])
        pytest.fail(text, pytrace=False)


def named_operators(name: str) -> list[str]:
    """The operators of a package or distribution, and those that it has kernels for; aliases left out.

    Raises:
        ArgumentError: There are none.
    """
    found = operators_of(name)
    if not found:
        raise ArgumentError(
            f"contract_suite: no installed operator belongs to {name!r}; expected an importable package or "
            "a distribution with entry points in the group operad.operators or operad.kernels; install it, "
            "pip install -e ."
        )
    return found


def _label(operator: Any) -> str:
    return operator if isinstance(operator, str) else subject_of(operator).name


@cache
def _session(operator: Any, profile: Profile) -> Session:
    """One session per operator, so that its checks share the cases."""
    return Session(subject_of(operator), profile)


def report(subject: Subject, outcome: Outcome, *, is_strict: bool = False) -> None:
    """End a test by what its check found: it fails, is expected to fail, is skipped, passes, or is broken."""
    if outcome.status is Status.BROKEN or outcome.status.is_found:
        text = outcome_text(subject.name, subject.provider, outcome)
        if outcome.status is Status.BROKEN:
            raise BrokenCheck(text, pytrace=False)
        if outcome.status.is_red or (is_strict and outcome.status is Status.UNDECLARED):
            pytest.fail(text, pytrace=False)
        milder = MilderCheck(text)
        milder.operad_status = str(outcome.status)
        raise milder
    if outcome.status is Status.EXPECTED:
        pytest.xfail(outcome.reason)
    if outcome.status is Status.BLOCKED:
        pytest.skip(f"another check reports it: {outcome.reason}")
