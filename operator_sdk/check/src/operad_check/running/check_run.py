"""One check of one operator, while it runs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from time import process_time
from typing import Any, Final, final

import numpy as np

from operad.operator import choose
from operad_check.cases.kinds import ORDINARY, WIDE, CaseKind
from operad_check.cases.retype import is_random
from operad_check.cases.strategies import is_takeable
from operad_check.register import Check, Evidence
from operad_check.reporting.advice import advice
from operad_check.reporting.outcome import OWN_FAULT, Failure, Status
from operad_check.running.repro import redrawn, run_with, script
from operad_check.running.session import Session
from operad_check.running.shrink import smallest
from operad_check.running.shrink_arrays import shrink_arrays
from operad_check.running.usual_time import usual_time
from operad_check.trials.case import Case
from operad_check.trials.cause import authors_line, is_own, last_line
from operad_check.trials.kernels import call_of
from operad_check.trials.subject import Subject
from operad_check.trials.trial import Trial
from operad_check.trials.violation import (
    OperatorRaised,
    Unavailable,
    UndeclaredError,
    Verdict,
    Violation,
    undeclared,
)

_MOST_CUTS: Final = 60
"""Runs of a check of several cases to make one of them smaller."""

_DESIGNED: Final = 20
"""Factor between the time that a check may take for designed cases and that for drawn ones."""

_REPORTS_CASES: Final = "F201"
"""The check that is red where no case can be made."""

Judgement = tuple[Status, str, Failure | None]


@final
class CheckRun:
    """One check of one operator, while it runs."""

    def __init__(self, session: Session, check: Check) -> None:
        self.session = session
        self.check = check
        self.subject: Subject = session.subject
        self.examples = 0
        self.evidence: Counter[str] = Counter()
        self.silent: dict[str, Case] = {}  # that says nothing of something, by what
        self.milder: tuple[Violation, Case] | None = None  # the first finding that is not wrong
        self.blocked: list[str] = []
        self.refused: list[str] = []

    def verdict(self) -> Judgement:
        """Run the check on its cases."""
        reason = self.subject.contract.completed_by_programs
        if reason and (self.check.kinds or self.check.of_session):
            return Status.INAPPLICABLE, reason, None
        try:
            return self._on_cases() if self.check.kinds else self._on_subject()
        except Unavailable as error:
            return Status.INAPPLICABLE, str(error), None

    def _on_cases(self) -> Judgement:
        try:
            pool = self._pool()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - code of the author's, or declared
            return self._without_cases(error)
        if not pool:
            return self._on_nothing(self.check.kinds[0]) or self._judged()
        found = self._on_pool(pool) if self.check.pooled else self._one_by_one(pool)
        return found or self._judged()

    def _pool(self) -> list[Case]:
        return [case for kind in self.check.kinds for case in self.session.pool(kind)]

    def _without_cases(self, error: BaseException) -> Judgement:
        """Verdict where no case can be made; one check reports this for all.

        Raises:
            Exception: It is none of the author's.
        """
        if is_own(error):
            raise error
        cause = error.error if isinstance(error, OperatorRaised) else error
        line = authors_line(cause) or last_line(cause)
        notes = "".join(f"; {note}" for note in getattr(cause, "__notes__", ()))
        message = f"making a case raised {type(cause).__name__}: {cause} ({line}){notes}"
        if self.check.id == _REPORTS_CASES:
            fix = (
                advice(cause)
                or "Correct the line named: of the constructor, inference, or what the contract declares."
            )
            return self._failed(Violation(message, fix=fix), ())
        return Status.BLOCKED, message, None

    def _on_nothing(self, kind: CaseKind) -> Judgement | None:
        """Verdict where a kind has no cases; None if other cases did as well."""
        if not kind.share and self.session.pool(ORDINARY):
            return Status.INAPPLICABLE, f"the operator takes no case of kind {kind.name!r}", None
        ordinary = self.session.pool(ORDINARY) if _wants_floats(kind) else []
        floating = [case for case in ordinary if any(a.dtype.kind == "f" for a in case.inputs.values())]
        if ordinary and not floating:
            return Status.INAPPLICABLE, "the operator takes no floating type", None
        if floating and kind is WIDE:
            return self._one_by_one(floating)
        if floating and self.subject.contract.no_numeric_gradient:
            return Status.INAPPLICABLE, "derivatives need float64, and are declared not to be compared", None
        advice = "declare Contract(params=..., shapes=..., inputs=...)"
        if floating:
            advice = (
                "derivatives are taken in float64, which type inference refuses: accept it too, or "
                "declare Contract(no_numeric_gradient=reason)"
            )
        reason = f"no case of kind {kind.name!r} was found that the operator accepts"
        if is_takeable(self.subject, kind):
            return Status.BROKEN, f"{OWN_FAULT}: {reason}, and its shape line says that there are some", None
        return Status.NO_EVIDENCE, f"{reason}; {advice}", None

    def _on_subject(self) -> Judgement:
        self.examples = 1
        try:
            self._count(self.check.run(self.session if self.check.of_session else self.subject))
        except Violation as error:
            return self._failed(error, ())
        except OperatorRaised as error:
            return Status.BLOCKED, str(error), None
        except (Exception, SystemExit) as error:
            line = authors_line(error)
            if line is None or is_own(error):
                raise
            notes = "".join(f"; {note}" for note in getattr(error, "__notes__", ()))
            what = f"code of the operator raised {type(error).__name__}: {error} ({line}){notes}"
            return self._failed(Violation(what, "Correct the line named."), ())
        return self._judged()

    def _on_pool(self, pool: Sequence[Case]) -> Judgement | None:
        trials = []
        for case in sorted(pool, key=lambda case: case.size):
            try:
                trials.append(self.session.trial(case))
            except OperatorRaised as error:
                self._note(error)
        self.examples = len(trials)
        try:
            self._count(run_with(self.check, trials) if trials else None)
        except Violation as error:
            return self._with_smaller_cases(self._shrunk_together, error, error.cases)
        except OperatorRaised as error:
            self._note(error)
        return None

    def _with_smaller_cases(
        self, shrink: Callable[[Violation], Judgement], error: Violation, cases: Sequence[Case]
    ) -> Judgement:
        """Verdict on a finding; it stands where the check breaks on the smaller cases that are looked for."""
        try:
            return shrink(error)
        except Exception:  # noqa: BLE001 - whatever breaks there
            return self._failed(error, cases)

    def _shrunk_together(self, error: Violation) -> Judgement:
        """The verdict on cases that fail together, each shrunk beside the others."""
        cases = list(error.cases)
        if not self.session.shrinks:
            return self._failed(error, cases)

        def failure(tried: Sequence[Case]) -> Violation | None:
            found = self._violation(*tried)
            return found if found is not None and _mentioned(tried[0], found) == thing else None

        thing = _mentioned(cases[0], error) if cases else frozenset()
        if not cases or failure(cases) is None:
            return self._failed(error, cases)
        end = process_time() + self.session.profile.shrinking_s
        for place in range(len(cases)):
            before, after = cases[:place], cases[place + 1 :]

            def fails(case: Case, before: Any = before, after: Any = after) -> bool:
                return process_time() < end and failure([*before, case, *after]) is not None

            cases[place] = shrink_arrays(self.subject, cases[place], fails, _MOST_CUTS)
            if len(cases) == 1:
                cases = [redrawn(self.subject, cases[0], lambda case: failure([case]) is not None)]
        return self._failed(failure(cases) or error, cases)

    def _one_by_one(self, pool: Sequence[Case]) -> Judgement | None:
        """Run on each case, then on further cases like those without evidence, while evidence is missing."""
        found = self._on_each(pool)
        for name in [name for name, count in self.evidence.items() if not count]:
            for case in () if found else self.session.more_like(self.silent[name]):
                if self.evidence[name] or found:
                    break
                found = self._on_each([case])
        if found is None and self.milder is not None:
            error, case = self.milder
            if error.verdict is Verdict.HARD:
                return self._failed(error, [case])  # a smaller case has another figure
            found = self._with_smaller_cases(partial(self._shrunk, case), error, [case])
        return found

    def _on_each(self, pool: Sequence[Case]) -> Judgement | None:
        profile = self.session.profile
        times: list[float] = []
        begin = process_time()  # of this process: how busy the machine is must not decide what is found
        for case in pool:
            # a slow machine is no reason to miss evidence, and a designed case has a reason of its own
            allowed = 1 if self.session.goal_of(case).is_drawn else _DESIGNED
            is_late = usual_time(times) > allowed * profile.seconds
            if is_late and self.examples >= profile.least and all(self.evidence.values()):
                continue
            self.examples += 1
            try:
                self._count(self._evidence(case), case)
            except Violation as error:
                if error.verdict is Verdict.WRONG:
                    return self._with_smaller_cases(partial(self._shrunk, case), error, [case])
                self.milder = self.milder or (error, case)  # a later case may show what is wrong
            except OperatorRaised as error:
                self._note(error)
            now = process_time()
            times.append(now - begin)
            begin = now
        return None

    def _note(self, error: OperatorRaised) -> None:
        """Note what kept the check from a case."""
        (self.refused if error.is_refusal else self.blocked).append(str(error))

    def _evidence(self, *cases: Case) -> Evidence:
        """Evidence of the check for some cases; exceptions are violations for the check that reports them."""
        try:
            trials = [self.session.trial(case) for case in cases]
            return run_with(self.check, trials if self.check.pooled else trials[0])
        except Violation as error:
            raise self._excused(error, cases) from None
        except OperatorRaised as error:
            if self.check.reports_raising and not error.is_refusal:
                if isinstance(error.error, UndeclaredError):
                    raise undeclared(str(error), error.error.declares) from error
                raise self._excused(Violation(str(error), fix=advice(error.error)), cases) from error
            raise

    def _excused(self, error: Violation, cases: Sequence[Case]) -> Violation:
        """A finding that only says what types an operator is for, as what is missing; any other as it is."""
        if any(array.dtype.kind == "f" for case in cases for array in case.inputs.values()):
            return error
        lacks = self.session.lacks
        return error if lacks is None else undeclared(error.message, lacks)

    def _violation(self, *cases: Case) -> Violation | None:
        """Violation that the check finds in some cases, if any."""
        try:
            self._evidence(*cases)
        except Violation as error:
            return error
        except OperatorRaised:
            pass
        return None

    def _shrunk(self, first: Case, found: Violation) -> Judgement:
        if not self.session.shrinks:
            return self._failed(found, [first])
        thing = _mentioned(first, found)
        end = process_time() + self.session.profile.shrinking_s

        def fails(case: Case) -> bool:
            if process_time() > end:
                return False
            smaller = self._violation(case)
            return (
                smaller is not None
                and smaller.verdict is found.verdict
                and _mentioned(case, smaller) == thing
            )

        case = smallest(self.session, self.session.goal_of(first), first, fails)
        case = redrawn(self.subject, case, fails)
        for candidate in (case, first):
            violation = self._violation(candidate)
            if violation is not None:
                return self._failed(violation, [candidate])
        message = f"{found.message}; it passed when it was run again on the same case"
        return self._failed(Violation(message, found.fix, verdict=found.verdict), [first])

    def _failed(self, error: Violation, cases: Sequence[Case]) -> Judgement:
        fix = error.fix or self.check.fix
        case = "; ".join(case.describe() + self._kernel(case) + self._draws(case) for case in cases)
        try:
            program = script(self.check.id, self.subject, cases, error.message)
        except Exception:  # noqa: BLE001 - whatever breaks there: the finding stands without a program
            program = ""
        failure = Failure(error.message, fix, case, program, declares=error.declares)
        return Status(error.verdict), "", failure

    def _kernel(self, case: Case) -> str:
        """The kernel that computes a case, where there are several."""
        if len(self.subject.cls.kernels) < 2:
            return ""
        try:
            chosen = choose(call_of(Trial(self.subject, case)))
            return f", computed by kernel {chosen.forward.name}"
        except Exception:  # noqa: BLE001 - what fails here is what is reported
            return ""

    def _draws(self, case: Case) -> str:
        """The seed of a case's draws, where the operator draws."""
        try:
            return f", draws of seed {case.seed}" if is_random(Trial(self.subject, case)) else ""
        except Exception:  # noqa: BLE001 - likewise
            return ""

    def _judged(self) -> Judgement:
        """Verdict where nothing failed."""
        missing = sorted(name for name, count in self.evidence.items() if not count)
        if not self.evidence:
            if self.blocked:
                return Status.BLOCKED, self.blocked[0], None
            if self.refused:
                return Status.INAPPLICABLE, self.refused[0], None
            return Status.INAPPLICABLE, "nothing that this operator declares is of that sort", None
        if missing and self.blocked and not any(self.evidence.values()):
            return Status.BLOCKED, self.blocked[0], None
        if missing:
            subject = ", ".join(missing) if missing != ["compared"] else "the operator"
            blocked = f"; in {len(self.blocked)} of them {self.blocked[0]}" if self.blocked else ""
            reason = f"{self.examples} examples, none of which says anything about {subject}{blocked}"
            # of a function that declares nothing, nothing was promised that the check could want
            is_lacking = self.subject.writer is None
            if (lacks := self.session.lacks) is not None:
                return self._failed(undeclared(reason, lacks), ())
            return Status.NO_EVIDENCE if is_lacking else Status.INAPPLICABLE, reason, None
        return Status.PASSED, "", None

    def _count(self, evidence: Evidence, case: Case | None = None) -> None:
        if evidence is None:
            return
        for name, count in ({"compared": evidence} if isinstance(evidence, int) else evidence).items():
            self.evidence[name] += int(count)  # NumPy counts in types of its own
            if case is not None and not count:
                self.silent[name] = case


def _mentioned(case: Case, found: Violation | None) -> frozenset[str]:
    """Names of the arrays that a finding mentions; a smaller case has to show the same finding."""
    words = set(re.findall(r"\w+", found.finding if found is not None else ""))
    return frozenset(words & {*case.inputs, *case.aux})


def _wants_floats(kind: CaseKind) -> bool:
    return all(np.dtype(name).kind == "f" for name in kind.dtypes)
