"""Group X: declarations of an operator, beside the comparisons of the other checks.

A check that does not apply is silent, and so is a fault where none applies: a kernel that no case
selects, a state whose value nothing knows. So what is declared is a list of obligations, and each has to be
met by the evidence of some check, or by an exemption with a reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple, final

from operad.operator import Param
from operad_check.cases.kinds import ALL_KINDS, ORDINARY
from operad_check.cases.retype import is_random
from operad_check.comparison.closeness import stem
from operad_check.register import Evidence, check, find_check
from operad_check.reporting.outcome import Outcome, Status
from operad_check.running.runner import run_check
from operad_check.running.session import Session
from operad_check.trials.kernels import call_of, is_possible
from operad_check.trials.trial import Trial
from operad_check.trials.violation import OperatorRaised, Verdict, Violation

_DERIVATIVES: Final = ("B301", "B302")
_REFERENCE: Final = "F213"
_DISTRIBUTION: Final = "F218"
_CALLERS: Final = ("ctx",)
"""Parameters that the call itself answers, whatever text they are."""


@final
class Obligation(NamedTuple):
    """Declaration that the evidence of some check must meet.

    Attributes:
        name: What; the same for all cases in which it comes up.
        is_met: Whether some check compared it.
        fix: What to declare where none does.
        verdict: How much that weighs; cases that should be there and are not are more than a missing word.
    """

    name: str
    is_met: bool
    fix: str
    verdict: Verdict = Verdict.WRONG


@check("X805", of_session=True)
def everything_is_compared(session: Session) -> Evidence:
    """Every gradient, output, state, kernel and value of a parameter is compared in some case.

    A check that does not apply is silent. A kernel that no case selects, or an output or a state whose
    value nothing knows, may compute anything.

    Broken by:
        @smooth.kernel("cpu", priority=1, when=lambda call: call.in_shapes[0] == (77, 3))
        def fast(data): ...    # no case has that shape
    Within:
        @operator("checked_example")
        class Example(OperatorProperty):
            spec = "data:(*S) -> output:(*S)"
            accepts = "floating"
            def forward(data): return data * data
            def data_grad(output_grad, data): return 2 * output_grad * data
        smooth = Example
        HERE
    Fix:
        Declare what is missing in the Contract: domains of arguments, a reference that returns states
        too, shapes that a kernel wants.
    How:
        Check that the evidence of some check meets each obligation.
    """
    trials = list(_trials(session))
    if not trials:
        return None
    met: dict[str, bool] = {}
    weights: dict[str, tuple[str, Verdict]] = {}
    for obligation in [*_kernels(session), *_values(session), *_sets(session), *_each(session, trials)]:
        met[obligation.name] = met.get(obligation.name, False) or obligation.is_met
        weights[obligation.name] = obligation.fix, obligation.verdict
    missing = [name for name, is_met in met.items() if not is_met]
    if missing:
        missing.sort(key=lambda name: weights[name][1] is not Verdict.WRONG)
        fix, verdict = weights[missing[0]]
        raise Violation(f"nothing compares {', '.join(missing)}", fix=fix, verdict=verdict)
    return len(met) or None


def _trials(session: Session) -> Iterator[Trial]:
    for case in session.pool(ORDINARY):
        try:
            trial = Trial(session.subject, case)
            if trial.is_runnable:
                yield trial
        except OperatorRaised:
            continue


def _each(session: Session, trials: list[Trial]) -> Iterator[Obligation]:
    for trial in trials:
        yield from _gradients(session, trial)
        yield from _outputs(session, trial)
        yield from _states(session, trial)


def _compared(session: Session, id: str, name: str) -> bool:
    """Return whether a check compared something of that name, or is expected to fail."""
    if id in session.subject.contract.expected_failures:
        return True
    outcome = run_check(session, find_check(id))
    return _is_settled(outcome) or bool(outcome.evidence.get(name))


def _is_settled(outcome: Outcome) -> bool:
    """Return whether a check failed; or broke, so that nobody knows what it would have compared."""
    return outcome.failure is not None or outcome.status is Status.BROKEN


def _gradients(session: Session, trial: Trial) -> Iterator[Obligation]:
    contract = session.subject.contract
    if contract.why_no_numeric_gradient(trial.prop):
        return
    is_ignored = contract.why_head_is_ignored(trial.prop)
    fix = (
        "Declare Contract(loss=...), the scalar whose gradient it is."
        if is_ignored and contract.loss is None
        else "Declare Contract(inputs=...) with a domain in which the argument can be moved (Real, Distinct, "
        "Probabilities), accept float64, or say Contract(no_numeric_gradient=reason)."
    )
    for name, flows in zip(trial.arguments, trial.differentiable(), strict=True):
        if flows:
            what = f"gradient of {stem(name)}"
            is_met = any(_compared(session, id, what) for id in _DERIVATIVES)
            yield Obligation(f"the gradient of {stem(name)}", is_met, fix, Verdict.UNDECLARED)


def _outputs(session: Session, trial: Trial) -> Iterator[Obligation]:
    """Obligation for each visible output.

    A check of derivatives compares values too: the declared gradient was written apart from them.
    """
    fix = "Declare Contract(reference=...): nothing else tells a right value of it from a wrong one."
    known = _passed(session, _DISTRIBUTION)
    derived = known or any(
        _compared(session, id, f"gradient of {stem(name)}") for name in trial.arguments for id in _DERIVATIVES
    )
    for name, dtype in zip(trial.outputs[: trial.visible], trial.out_types, strict=False):
        is_met = known or (derived and dtype.kind == "f") or _compared(session, _REFERENCE, name)
        words = "the output" if stem(name) == "output" else f"output {stem(name)}"
        yield Obligation(words, is_met, fix, Verdict.UNDECLARED)


def _passed(session: Session, id: str) -> bool:
    outcome = run_check(session, find_check(id))
    return _is_settled(outcome) or any(outcome.evidence.values())


def _states(session: Session, trial: Trial) -> Iterator[Obligation]:
    fix = "Let Contract(reference=...) return the states after the outputs; it may name them, and is_train."
    for name in trial.states:
        yield Obligation(f"state {name}", _compared(session, _REFERENCE, name), fix)


def _kernels(session: Session) -> Iterator[Obligation]:
    """Obligation for each kernel but the first, which D606 compares the others with."""
    subject = session.subject
    fix = (
        "Declare Contract(params=..., shapes=...) with which its condition holds, and "
        "Contract(reference=...) where no other kernel computes the same."
    )
    usable = [kernel for kernel in subject.cls.kernels if is_possible(kernel)]
    for kernel in usable[1:]:
        is_met = _compared(session, "D606", f"kernel {kernel.name}") or _is_judged_alone(session, kernel)
        yield Obligation(f"kernel {kernel.name}", is_met, fix)


def _is_judged_alone(session: Session, kernel: Any) -> bool:
    """Return whether the kernel applies in some case whose results a reference or a distribution judges."""
    for case in [case for kind in ALL_KINDS for case in session.pool(kind)]:
        trial = Trial(session.subject, case)
        if kernel.rejection(call_of(trial)) is None:
            has_reference = session.subject.contract.reference is not None
            return has_reference or is_random(trial)
    return False


def _values(session: Session) -> Iterator[Obligation]:
    """Obligations for each choice of a parameter, both values of a flag; its default, and another value."""
    cases = [case for kind in ALL_KINDS for case in session.pool(kind)]
    for name, param in session.subject.cls.params.items():
        listed = session.subject.contract.params.get(name)
        values = listed or param.choices or ((False, True) if param.type is bool else ())
        tried = [case.params.get(name, param.default) for case in cases]
        default = () if listed or param.is_required or name in _CALLERS else (param.default,)
        for value in (*values, *default):
            if isinstance(value, tuple) and not listed:  # its length goes with those of other parameters
                continue
            is_met = any(type(value) is type(found) and value == found for found in tried)
            fix = (
                f"No shapes were found that the operator accepts with {name}={value!r}: declare "
                "Contract(shapes=...), or Contract(params=...) with the values that there are cases for."
            )
            yield Obligation(f"{name}={value!r}", is_met, fix)
        if not values and name not in _CALLERS and not _is_one_value(param):
            yield _several(name, param, tried)


def _sets(session: Session) -> Iterator[Obligation]:
    """Obligation for each set of values that go together."""
    cases = [case for kind in ALL_KINDS for case in session.pool(kind)]
    for values in session.subject.contract.param_sets:
        is_met = any(values.items() <= case.params.items() for case in cases)
        words = ", ".join(f"{name}={value!r}" for name, value in values.items())
        fix = "No shapes were found that the operator accepts with them: declare Contract(shapes=...)."
        yield Obligation(words, is_met, fix)


def _is_one_value(param: Param) -> bool:
    """Return whether the bounds of a parameter leave one value, as for an axis that can only be 0."""
    return "ge" in param.bounds and param.bounds["ge"] == param.bounds.get("le")


def _several(name: str, param: Param, tried: Sequence[Any]) -> Obligation:
    """Obligation to try several values of a parameter without choices; an author has to list texts."""
    is_met = param.type is not str and len({repr(value) for value in tried}) > 1
    fix = (
        f"Declare {name} with choices=..., or the values to try: Contract(params={{{name!r}: [...]}}); and "
        "shapes that go with them."
    )
    return Obligation(f"another value of {name} than {tried[0] if tried else param.default!r}", is_met, fix)
