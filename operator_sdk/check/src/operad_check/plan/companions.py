"""Values of parameters that an operator takes with some values of the others alone.

A layout of five letters goes with kernels of three axes, and an adjustment with larger strides. Rows that are
made value by value miss such companions, and among drawn cases they are rare; so they are looked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from operad_check.cases.params import candidates
from operad_check.cases.strategies import made
from operad_check.trials.subject import Subject
from operad_check.trials.violation import OperatorRaised

_TRIES: Final = 400
"""Choices of the other parameters that are tried for a value; to make an operator takes some 50 us."""
_LENGTHS: Final = (2, 1, 3)


def companions(subject: Subject, planned: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """A row for each value that an author lists, and that no planned row has beside others it goes with."""
    taken = [given for given in planned if _is_taken(subject, given)]
    for name, values in subject.contract.params.items():
        param = subject.cls.params[name]
        for value in values:
            is_default = not param.is_required and _is_same(value, param.default)
            if is_default or any(_is_same(given.get(name), value) for given in taken):
                continue
            found = _found(subject, name, value)
            if found is not None:
                taken.append(found)
                yield found


def _found(subject: Subject, name: str, value: Any) -> dict[str, Any] | None:
    """The value with others that the operator takes, most of them at their defaults."""
    rng = np.random.default_rng(0)
    for number in range(_TRIES):
        length, given = _LENGTHS[number % len(_LENGTHS)], {name: value}
        for other, param in subject.cls.params.items():
            choices = candidates(subject, param, length)
            chosen = choices[int(rng.integers(len(choices))) if rng.integers(2) else 0]
            if other != name and (param.is_required or chosen != param.default):
                given[other] = chosen
        # As where cases are drawn, tuples have one length.
        lengths = {len(each) for each in given.values() if isinstance(each, tuple) and each}
        if len(lengths) <= 1 and _is_taken(subject, given):
            return given
    return None


def _is_taken(subject: Subject, given: Mapping[str, Any]) -> bool:
    try:
        return made(subject, dict(given)) is not None
    except (OperatorRaised, SystemExit):  # what a declaration raises, F201 reports
        return False


def _is_same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)
