"""Calls of an operator for the sweep: cases of the contract checks, as arguments of exported functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, final

import numpy as np

from operad.export import OperatorSignature, signature_of
from operad_check.cases.kinds import EDGES, ORDINARY, SMOOTH, CaseKind
from operad_check.plan.profile import Profile
from operad_check.running.session import Session
from operad_check.trials.case import Case
from operad_check.trials.subject import Subject, subject_of
from operad_check.trials.trial import Trial

_FEW = Profile("few", examples=6, seconds=2.0)
_GOALS = 8


@final
@dataclass(frozen=True)
class Example:
    """A case, and how an exported function is called on it.

    Attributes:
        subject: The operator.
        case: Parameters and arrays.
        signature: The operator's.
    """

    subject: Subject
    case: Case
    signature: OperatorSignature = field(repr=False)

    @cached_property
    def trial(self) -> Trial:
        """The same in the harness, which runs the operator without an exporter."""
        return Trial(self.subject, self.case)

    @property
    def params(self) -> dict[str, Any]:
        """Parameters that a call names, with lists for tuples."""
        given = {n: getattr(self.trial.prop, n) for n in self.case.params if n in self.signature.params}
        return {name: list(v) if isinstance(v, tuple) else v for name, v in given.items()}

    @property
    def symmetric(self) -> set[str]:
        """Arguments that are symmetric matrices: a numeric derivative must move both halves together."""
        contract = self.subject.contract
        return {n for n in self.trial.arguments if type(contract.domain(n)).__name__ == "Symmetric"}

    @property
    def arrays(self) -> list[Any]:
        """Arrays by position; None for an absent one, a list for any number."""
        trial, signature = self.trial, self.signature
        values = {**dict(zip(trial.arguments, trial.inputs, strict=True)),
                  **dict(zip(trial.states, trial.aux, strict=True))}  # fmt: skip
        if signature.tensors is not None:
            return [values.get(tensor.name) for tensor in signature.tensors]
        if signature.has_states:
            return [trial.inputs, trial.aux]
        return [[values[name] for name in trial.prop.list_inputs()]]


def examples(name: str, *, is_smooth: bool = True) -> tuple[list[Example], list[Example]]:
    """A few calls of an operator, and a few in float64 where its gradient is smooth, if they are wanted."""
    subject = subject_of(name)
    session = Session(subject, _FEW)
    if not is_smooth:
        return _spread(_runnable(subject, _cases(session, ORDINARY)), 3), []
    edges = [case for case in _cases(session, EDGES) if any(a.size == 0 for a in case.inputs.values())]
    ordinary = _spread(_runnable(subject, _cases(session, ORDINARY)), 3)
    ordinary += _spread(_runnable(subject, edges), 1)
    smooth = _spread(list(filter(_is_smooth, _runnable(subject, _cases(session, SMOOTH)))), 3)
    return ordinary, [_without_ties(example) for example in smooth]


def _cases(session: Session, kind: CaseKind) -> list[Case]:
    """Cases of the first goals of a kind, those that are drawn among them."""
    found: list[Case] = []
    for goal in session.plan.of(kind)[:_GOALS]:
        session.examine(goal, found.append, shrink=False)
    return found


def _is_smooth(example: Example) -> bool:
    """Return whether a gradient flows, and nothing is empty."""
    trial = example.trial
    shapes = [*trial.in_shapes, *trial.out_shapes[: trial.visible]]
    return any(trial.differentiable()) and all(0 not in shape for shape in shapes)


def _without_ties(example: Example) -> Example:
    """The same with elements moved: a derivative at equal elements, or at the end of a domain, is a choice.

    Symmetric matrices stay. So do all elements where neither those nearby nor those between 0 and 1 give
    finite results and gradients.
    """
    random = np.random.default_rng(example.case.seed)
    for move in () if example.symmetric else (_nearby, _between):
        flows = dict(zip(example.trial.arguments, example.trial.differentiable(), strict=True))
        moved = {n: move(random, a) if flows[n] else a for n, a in example.case.inputs.items()}
        other = Example(example.subject, replace(example.case, inputs=moved), example.signature)
        try:
            if other.trial.is_runnable and all(map(_is_finite, [*_written(other), *other.trial.backward()])):
                return other
        except Exception:  # noqa: BLE001 - moved out of what the operator takes
            continue
    return example


def _nearby(random: np.random.Generator, array: Any) -> Any:
    return array * (1 + 0.02 * random.random(array.shape)) + 0.01 * random.random(array.shape)


def _between(random: np.random.Generator, array: Any) -> Any:
    return 0.1 + 0.8 * random.random(array.shape)


def _written(example: Example) -> list[Any]:
    trial = example.trial
    return trial.written(trial.result.outputs)


def _is_finite(array: Any) -> bool:
    return array is None or array.dtype.kind != "f" or bool(np.isfinite(array).all())


def _runnable(subject: Subject, cases: Sequence[Case]) -> list[Example]:
    found = []
    for case in cases[:40]:
        example = Example(subject, case, signature_of(subject.name))
        try:
            # PyTorch's checks find a NaN unlike itself.
            if example.trial.is_runnable and all(map(_is_finite, _written(example))):
                found.append(example)
        except Exception:  # noqa: BLE001 - the checks of contracts say what is wrong with a case
            continue
    return found


def _spread(found: list[Example], count: int) -> list[Example]:
    """So many of them: the first, and others with other parameters."""
    chosen: list[Example] = []
    seen: set[str] = set()
    for example in found:
        key = repr(sorted(example.case.params.items()))
        if key not in seen and len(chosen) < count:
            seen.add(key)
            chosen.append(example)
    rest = [example for example in found if all(example is not one for one in chosen)]
    return [*chosen, *rest[: count - len(chosen)]]
