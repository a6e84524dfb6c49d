"""Group F: inference from partly known element types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from operad_check.cases.kinds import ORDINARY
from operad_check.register import Evidence, check
from operad_check.trials.trial import Trial, raising
from operad_check.trials.violation import OperatorRaised, Violation

_TYPES: Final = ("float16", "float32", "float64")


@check("F217", ORDINARY)
def types(trial: Trial) -> Evidence:
    """Inference from partly known element types never guesses, never contradicts, and is idempotent.

    Types of a graph are found in rounds, as its shapes are: a guess in one round is a fact for the next.

    Broken by:
        def infer_type(self, in_types):
            single = np.dtype('float32')
            return [single], [single], []    # whatever is given
    Within:
        spec = "data:(*S) -> output:(*S)"
        def forward(data): return data * 1
        HERE
    Fix:
        Leave None what does not follow, and return what was given.
    How:
        Check that types inferred from none, from each one, and from all agree.
    """
    if not trial.in_types:
        return None
    infer = trial.prop.infer_type
    count = 0
    for whole in [list(trial.in_types), *_other_types(trial)]:
        expected = _typed(infer, whole)
        parts: list[list[Any]] = [[None] * len(whole)]
        parts += [[t if i == j else None for j, t in enumerate(whole)] for i in range(len(whole))]
        for part in parts:
            _expect_types(trial, part, expected)
        count += len(parts)
    return count


def _expect_types(trial: Trial, part: list[Any], whole: tuple[list[Any], ...]) -> None:
    infer = trial.prop.infer_type
    try:
        found = _typed(infer, part)
        again = _typed(infer, found[0])
    except OperatorRaised as error:
        raise Violation(f"infer_type({_names(part)}) raised {error.error!r}") from error
    if _different_types(again, found):
        raise Violation(f"infer_type of its own result {_names(found[0])} gives something else")
    for name, inferred, given in zip(trial.arguments, found[0], part, strict=True):
        if given is not None and inferred is None:
            raise Violation(f"infer_type({_names(part)}) forgets the type of {name}")
    names = (trial.arguments, trial.outputs, trial.states)
    for group, expected, result in zip(names, whole, found, strict=True):
        for name, wanted, inferred in zip(group, expected, result, strict=True):
            if inferred is not None and inferred != wanted:
                raise Violation(
                    f"infer_type({_names(part)}) guesses {inferred} for {name}, which is {wanted} "
                    f"where the arguments are {_names(whole[0])}"
                )


def _different_types(found: tuple[list[Any], ...], expected: tuple[list[Any], ...]) -> bool:
    # NumPy says that float64 == None
    return [_names(group) for group in found] != [_names(group) for group in expected]


def _other_types(trial: Trial) -> list[list[Any]]:
    """Lists of one type for all arguments that inference accepts."""
    found: list[list[Any]] = []
    for name in _TYPES:
        whole: list[Any] = [np.dtype(name)] * len(trial.in_types)
        try:
            accepted = _typed(trial.prop.infer_type, whole)
        except OperatorRaised:
            continue
        if accepted[0] != whole:
            raise Violation(
                f"infer_type({_names(whole)}) makes {_names(accepted[0])} of the arguments' types"
            )
        found.append(whole)
    return found


def _typed(infer: Any, types: list[Any]) -> tuple[list[Any], ...]:
    with raising("infer_type"):
        return tuple(list(group) for group in infer(list(types)))


def _names(types: Sequence[Any]) -> list[str | None]:
    return [None if dtype is None else dtype.name for dtype in types]
