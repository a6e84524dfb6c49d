"""Group X: mutation testing of the checks by faults in the operator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, final

import numpy as np

from operad_check.cases.kinds import ORDINARY, SMOOTH, CaseKind
from operad_check.cases.params import are_usual
from operad_check.cases.retype import retyped
from operad_check.checks.sharing import both_passes
from operad_check.comparison.bitwise import first_difference
from operad_check.comparison.closeness import ROUNDINGS
from operad_check.comparison.rounding import largest
from operad_check.mutations import FAULTS, Fault
from operad_check.register import Check, Evidence, check, find_check
from operad_check.running.repro import run_on
from operad_check.trials.case import Case
from operad_check.trials.subject import Subject
from operad_check.trials.trial import Array, Trial
from operad_check.trials.violation import OperatorRaised, Verdict, Violation

_FIRST: Final = 6
"""Cases in which most faults are noticed; the others are tried for a fault that is not."""
_MIDDLING: Final = 40
"""Elements of such a case at most."""


@check("X804", ORDINARY, pooled=True)
def self_audit(trials: Sequence[Trial]) -> Evidence:
    """The checks detect faults that are injected into this operator.

    That all checks pass says little if they would pass for a wrong operator too. So the operator is
    broken on purpose, in every way that could apply to it, and some check must fail each time.

    Broken by:
        @rounded.gradient
        def _(data_grad): data_grad[...] = 0    # and no reference: any steps would do
    Within:
        @unary("checked_example", accepts="floating")
        def rounded(data): return np.rint(data)
        HERE
        Example = rounded
    Fix:
        Give examples on which the fault named shows: Contract(inputs=..., params=..., shapes=...,
        reference=...).
    How:
        Check that the checks notice each fault that can be put into the operator.
    """
    usable = [trial for trial in trials if trial.is_runnable and trial.outputs]
    # with a divisor of a thousandth, say, no digit of a result is certain, and no fault of digits shows
    usable = [trial for trial in usable if are_usual(trial.case.params)] or usable
    if not usable:
        return 0
    audit = _Audit(usable)
    caught = 0
    for fault in FAULTS:
        tried = audit.notices(fault)
        if tried is None:
            continue
        if tried:
            raise Violation(
                f"the checks would not notice if {fault.words}; none of {', '.join(tried)} fails then",
                cases=[usable[0].case],
            )
        caught += 1
    return caught


def _in_audit_order(usable: Sequence[Trial]) -> list[Trial]:
    """A few cases of middling size, in which most faults show, then the others."""
    several = [trial for trial in usable if 1 < sum(array.size for array in trial.inputs) <= _MIDDLING]
    half = several[len(several) // 2 :]
    first = half[:: max(1, len(half) // _FIRST)]
    return [*first, *[trial for trial in usable if trial not in first]]


@final
class _Audit:
    """Checks of one operator, with their verdicts on the operator without faults."""

    def __init__(self, usable: Sequence[Trial]) -> None:
        self._trials = _in_audit_order(usable)
        self._subject = usable[0].subject
        self._usable: dict[tuple[str, int], bool] = {}

    def notices(self, fault: Fault) -> list[str] | None:
        """Checks that should notice the fault and do not.

        The list is empty if some check notices the fault; None: the fault changes nothing here.
        """
        mutant = fault.put_into(self._subject)
        passed: list[str] = []
        for begin, end in ((0, _FIRST), (_FIRST, len(self._trials))):
            trials = [trial for trial in self._trials[begin:end] if fault.applies(trial)]
            others = []
            if fault.may_be_equal:
                shown = [trial for trial in trials if not self._is_equal(mutant, trial)]
                # A check that moves arguments may see the fault where it does not show at once; it need not.
                trials, others = shown, [trial for trial in trials if shown and trial not in shown]
            for id in fault.caught_by if trials else ():
                if id in self._subject.contract.expected_failures:
                    continue
                found = find_check(id)
                for cases in self._usable_cases(found, trials):
                    if _fails(found, mutant, cases):
                        return []
                    passed.append(id)
                if passed and any(
                    _fails(found, mutant, cases) for cases in self._usable_cases(found, others)
                ):
                    return []
        return list(dict.fromkeys(passed)) or None

    def _usable_cases(self, check: Check, trials: Sequence[Trial]) -> Iterator[list[Case]]:
        """Lists of cases in which the check applies and passes without the fault.

        A pooled check gets one list of all cases, any other check one case per list.
        """
        if check.pooled:
            cases = [trial.case for trial in self._trials]
            if self._applies(check, cases, 0):
                yield cases
            return
        for trial in trials:
            case = _case_for(check.kinds, trial)
            if case is not None and self._applies(check, [case], id(trial)):
                yield [case]

    def _applies(self, check: Check, cases: list[Case], key: int) -> bool:
        if check.pooled:
            return True  # one that fails without fault as well is red itself; it takes long
        if (check.id, key) not in self._usable:
            try:
                evidence = run_on(check, self._subject, cases)
            except (Violation, OperatorRaised):
                evidence = None
            counts = evidence.values() if isinstance(evidence, Mapping) else [evidence]
            self._usable[check.id, key] = any(counts)
        return self._usable[check.id, key]

    @staticmethod
    def _is_equal(mutant: Subject, trial: Trial) -> bool:
        """Return whether the fault changes no result of this case."""
        try:
            other = Trial(mutant, trial.case)
            found = both_passes(other, other.new_operator())
        except OperatorRaised:
            return False
        pairs = zip(found, both_passes(trial, trial.new_operator()), strict=True)
        return not any(a is not None and _is_visible(a, b) for a, b in pairs)


def _is_visible(one: Array, other: Array) -> bool:
    """Return whether results differ by more than the checks attribute to rounding."""
    if one.dtype.kind != "f" or first_difference(one, other) is None:
        return first_difference(one, other) is not None
    limit = 2 * ROUNDINGS * float(np.finfo(one.dtype).eps) * largest(other.astype(np.float64))
    with np.errstate(all="ignore"):
        far = ~(np.abs(one - other) <= limit) & ~(np.isnan(one) & np.isnan(other)) & (one != other)
    return bool(far.any())


def _case_for(kinds: Sequence[CaseKind], trial: Trial) -> Case | None:
    """The case as the first of the kinds wants it: for derivatives, in float64 and small."""
    kind = kinds[0] if kinds else None
    if kind is None or "float32" in kind.dtypes:
        return trial.case
    wide = retyped(trial, np.dtype(np.float64))
    if wide is None or (kind == SMOOTH and sum(array.size for array in wide.inputs) > kind.max_elements):
        return None
    return wide.case


def _fails(check: Check, subject: Subject, cases: Sequence[Case]) -> bool:
    try:
        run_on(check, subject, cases)
    except Violation as error:
        return error.verdict is Verdict.WRONG
    except OperatorRaised:
        return True
    return False
