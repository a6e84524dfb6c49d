"""Cases for all checks of one operator, drawn once for each kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, Final, final
from zlib import crc32

from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st
from hypothesis.errors import FlakyFailure, Unsatisfiable

from operad_check.cases import backend
from operad_check.cases.attempts import Attempts
from operad_check.cases.goal import Goal
from operad_check.cases.kinds import DESIGNED, ORDINARY, CaseKind
from operad_check.cases.retype import floating_alone
from operad_check.cases.strategies import cases
from operad_check.comparison.closeness import stem
from operad_check.comparison.trusted import has_more_digits
from operad_check.plan import CasePlan
from operad_check.plan.profile import Profile
from operad_check.reporting.outcome import Coverage, Outcome, Unproved
from operad_check.reporting.unproved import unproved
from operad_check.trials.case import Case
from operad_check.trials.subject import Subject
from operad_check.trials.trial import Trial
from operad_check.trials.violation import Declaration, OperatorRaised, Violation


class _GivenUp(BaseException):
    """Refusal of a goal by the operator; no `Exception`, so that nothing on the way up catches it."""


_MOST_TRIES: Final = 4
"""Choices of parameters that are tried to bring an argument into a kind of cases."""

_MORE: Final = 20
"""Cases that are made where others say too little."""


@final
class Session:
    """One operator and one profile, with the cases made so far.

    Attributes:
        shrinks: Whether a case that fails is shrunk.
        outcomes: What each check found that has run.
    """

    def __init__(self, subject: Subject, profile: Profile, *, shrinks: bool = True) -> None:
        self.subject = subject
        self.profile = profile
        self.shrinks = shrinks
        self.outcomes: dict[str, Outcome] = {}
        self._coverage: dict[Goal, Coverage] = {}
        self._pools: dict[CaseKind, list[Case]] = {}
        self._goals: dict[int, Goal] = {}
        self._trials: dict[int, Trial] = {}
        self._more: dict[Any, list[Case]] = {}

    @cached_property
    def plan(self) -> CasePlan:
        """Goals of the cases; made by the first check that wants some, which can say what breaks."""
        return CasePlan(self.subject, self.profile)

    def pool(self, kind: CaseKind) -> list[Case]:
        """Cases of one kind, always the same; empty if the operator accepts none.

        Raises:
            OperatorRaised: The operator's constructor breaks on parameters within their bounds.
        """
        if kind not in self._pools:
            self._pools[kind] = [case for goal in self.plan.of(kind) for case in self._cases(goal)]
            if kind in DESIGNED and self._pools[kind]:
                self._pools[kind] += self._with_lacking_arguments(kind)
        return self._pools[kind]

    def _with_lacking_arguments(self, kind: CaseKind) -> list[Case]:
        """Cases with arguments that a few values of parameters bring, and that are in no case of the plan."""
        filled = _filled(self._pools[kind])
        found: list[Case] = []
        tries = Counter[str]()
        for case in self.pool(ORDINARY):
            names = {name for name in _filled([case]) - filled if tries[name] < _MOST_TRIES}
            if names:
                tries.update(names)
                made = self._cases(self.plan.with_arguments(kind, case.params, sorted(names)))
                found += made
                filled |= _filled(made)
        return found

    def more_like(self, case: Case) -> list[Case]:
        """Further cases with the kind and the parameters of `case`, which gave too little evidence."""
        kind = self._goals[id(case)].kind
        key = (kind, repr(case.params))
        if key not in self._more:
            words = ", ".join(f"{name}={value!r}" for name, value in case.params.items())
            goal = Goal(
                name=f"more {kind.name} cases" + (f" with {words}" if words else ""),
                reason="the others said nothing of some argument, output or state",
                kind=kind,
                examples=_MORE,
                params=case.params,
            )
            self._more[key] = self._cases(goal)
        return self._more[key]

    @cached_property
    def lacks(self) -> Declaration | None:
        """Declaration of element types without which cases of integers were made."""
        for case in self.pool(ORDINARY):
            if any(array.dtype.kind == "f" and array.size for array in case.inputs.values()):
                with suppress(OperatorRaised):
                    return floating_alone(Trial(self.subject, case))
        return None

    def coverage(self) -> list[Coverage]:
        """Number of cases for each goal whose cases were made."""
        return list(self._coverage.values())

    def made_params(self) -> list[Mapping[str, Any]]:
        """Parameters of all cases that were made."""
        return [case.params for pool in self._pools.values() for case in pool]

    def left_out(self) -> dict[str, list[str]]:
        """Arguments with elements in no case of a kind, by the kind, among those that others have so."""
        filled = {kind: _filled(pool) for kind, pool in self._pools.items() if pool}
        every = sorted(filled.get(ORDINARY, set()))
        return {kind.name: [name for name in every if name not in found] for kind, found in filled.items()}

    def has_wide_reference(self) -> bool | None:
        """Return whether the reference gives more digits than float64 has; None: it has no such results."""
        function = self.subject.contract.reference
        if function is None:
            return None
        for case in self._pools.get(ORDINARY, ()):
            with suppress(OperatorRaised, Violation):  # the checks say what a run, or the reference, raises
                found = has_more_digits(Trial(self.subject, case), function)
                if found is not None:
                    return found
        return None

    def unproved(self) -> list[Unproved]:
        """Everything that the cases made so far do not prove."""
        return unproved(
            self.subject, self.made_params(), self.coverage(), self.has_wide_reference(), self.left_out()
        )

    def trial(self, case: Case) -> Trial:
        """A trial that has run nothing; cases of a pool, which many checks see, are inferred once.

        Raises:
            OperatorRaised: As `Trial` does.
        """
        if id(case) not in self._goals:
            return Trial(self.subject, case)
        if id(case) not in self._trials:
            self._trials[id(case)] = Trial(self.subject, case)
        return self._trials[id(case)].again()

    def goal_of(self, case: Case) -> Goal:
        """Goal that a case of a pool serves."""
        return self._goals[id(case)]

    def _cases(self, goal: Goal) -> list[Case]:
        found: list[Case] = []
        used, attempts = goal, Attempts()
        self.examine(used, found.append, shrink=False, attempts=attempts)
        if not found and attempts.is_limited:
            used, attempts = goal.with_shorter_axes(), Attempts()
            self.examine(used, found.append, shrink=False, attempts=attempts)
        lack = "" if found else attempts.lack
        words = attempts.refusal if lack == "refused" else ""
        self._coverage[goal] = Coverage(goal.kind.name, goal.name, goal.reason, len(found), lack, words)
        self._goals.update((id(case), used) for case in found)
        return found

    def examine(
        self, goal: Goal, function: Callable[[Case], Any], *, shrink: bool, attempts: Attempts | None = None
    ) -> None:
        """Call `function` with each case that serves a goal, in the order of the pool.

        Args:
            shrink: Go on with smaller and smaller cases once one raises `AssertionError`.
            attempts: Told why cases are passed over.
        """
        name = f"{self.subject.name} {goal.name if goal.examples == 1 else goal.kind.name}"
        seed = crc32(name.encode()) ^ self.profile.seed
        phases = (Phase.generate, Phase.shrink) if shrink else (Phase.generate,)
        tries = 0

        def count() -> None:
            nonlocal tries
            tries += 1
            if tries > goal.tries and not shrink and not goal.is_drawn:
                raise _GivenUp

        @seeded(seed)
        @settings(
            max_examples=goal.examples,
            database=None,
            deadline=None,
            derandomize=False,
            backend=backend.NAME,
            phases=phases,
            verbosity=Verbosity.quiet,
            report_multiple_bugs=False,
            print_blob=False,
            suppress_health_check=list(HealthCheck),
        )
        @given(st.builds(count), cases(self.subject, goal, attempts))
        def run(_: None, case: Case) -> None:
            function(case)

        backend.SeededProvider.seed = seed
        try:
            with suppress(Unsatisfiable, _GivenUp):
                run()
        except FlakyFailure as failure:
            # What is no `Exception` comes from outside, as a test's time-out does. Hypothesis took it for a
            # failure of the case, and wrapped it.
            for error in [each.__cause__ for each in failure.exceptions]:
                if error is not None and not isinstance(error, Exception):
                    raise error from None
            raise


def _filled(pool: Sequence[Case]) -> set[str]:
    """Names of the arguments that have elements in some case; numbered ones are one."""
    return {stem(name) for case in pool for name, array in case.inputs.items() if array.size}
