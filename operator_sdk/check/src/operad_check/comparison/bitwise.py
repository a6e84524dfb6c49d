"""Comparing arrays bit for bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from operad_check.comparison.closeness import at, first_place
from operad_check.trials.trial import Array, Trial
from operad_check.trials.violation import Violation

_LAST_BITS = 64
"""Multiples of the type's precision by which runs may differ that are declared not to be reproducible."""


def first_difference(found: Array, expected: Array) -> tuple[int, ...] | None:
    """First place at which two arrays of one shape differ; None if they do not.

    All NaN are alike; the two zeros are not.
    """
    differs = found != expected
    if found.dtype.kind == "f":
        differs &= ~(np.isnan(found) & np.isnan(expected))
        differs |= (found == 0) & (expected == 0) & (np.signbit(found) != np.signbit(expected))
    return first_place(differs)


def expect_same(
    names: Sequence[str],
    found: Sequence[Any],
    expected: Sequence[Any],
    when: str,
    *,
    is_exact: bool = True,
    **violation: Any,
) -> int:
    """Compare arrays bit for bit, and return the number of elements compared.

    Args:
        names: Of the arrays; None in `found` or `expected` is passed over.
        when: What was different about the run that gave `found`.
        is_exact: False: the last bits may differ.
        violation: Further arguments of the `Violation`.
    Raises:
        Violation: An element differs.
    """
    compared = 0
    for name, one, other in zip(names, found, expected, strict=True):
        if one is None or other is None:
            continue
        compared += one.size
        place = first_difference(one, other)
        if place is None or not (is_exact or _is_far(one, other)):
            continue
        raise Violation(
            f"{at(name, place)} is {one[place].item()!r} {when}, and {other[place].item()!r} otherwise",
            **violation,
        )
    return compared


def expect_reproduced(trial: Trial, *arrays: Any, **violation: Any) -> int:
    """As `expect_same`; the last bits may differ where runs are declared to differ by those."""
    return expect_same(*arrays, is_exact=not trial.subject.contract.nondeterministic, **violation)


def _is_far(found: Array, expected: Array) -> bool:
    if found.dtype.kind != "f":
        return True
    limit = _LAST_BITS * float(np.finfo(found.dtype).eps)
    return not np.allclose(found, expected, rtol=limit, atol=limit, equal_nan=True)
