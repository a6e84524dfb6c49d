"""Comparing arrays that may differ by rounding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from operad_check.trials.trial import Trial
from operad_check.trials.violation import Violation
from operad_sdk.contract import Contract

Array = npt.NDArray[Any]

ROUNDINGS: Final = 64
"""Multiples of an element type's precision that different orders of the same sum may be apart."""
_FEW_TERMS: Final = 16
"""Largest number of terms of a sum for which `ROUNDINGS` is enough.

Beyond, each of n additions rounds a partial sum that may be larger than the sum, by a factor of about the
root of n: so 4 n roundings of the largest term. Where there is a reference or float64 to compare with, the
cost of rounding is measured instead (`operad_check.comparison.rounding`).
"""


def tolerance(contract: Contract, dtype: np.dtype[Any]) -> tuple[float, float]:
    """Relative and absolute tolerance for two computations of one thing in one element type."""
    declared = contract.tolerances.get(dtype.name)
    if declared is not None:
        return declared.relative, declared.absolute
    precision = ROUNDINGS * float(np.finfo(dtype).eps) if dtype.kind == "f" else 0.0
    return precision, precision


def expect_close(
    names: Sequence[str],
    found: Sequence[Any],
    expected: Sequence[Any],
    when: str,
    bounds: tuple[float, float],
    scale: float = 1.0,
    **violation: Any,
) -> int:
    """Compare arrays within a tolerance, and return the number of elements compared; NaN equals NaN.

    Args:
        names: Of the arrays; None in `found` or `expected` is passed over.
        when: What was different about the run that gave `found`.
        bounds: Relative and absolute tolerance.
        scale: Magnitude of what the numbers were computed from; multiplies the absolute tolerance.

    Raises:
        Violation: An element differs by more.
    """
    compared = 0
    for name, one, other in zip(names, found, expected, strict=True):
        if one is None or other is None:
            continue
        compared += one.size
        place = _first_far(one, np.asarray(other), bounds[0], bounds[1] * max(1.0, scale))
        if place is not None:
            raise Violation(
                f"{at(name, place)} is {one[place].item()!r}{when and ' '}{when}, "
                f"expected {other[place].item()!r}",
                **violation,
            )
    return compared


def coarsest(trial: Trial) -> np.dtype[Any]:
    """The floating type among a trial's arrays that rounds most; an integer type where there is none."""
    held = [array.dtype for array in trial.aux]
    types = [dtype for dtype in [*trial.in_types, *trial.out_types, *held] if dtype.kind == "f"]
    return min(types, key=lambda dtype: dtype.itemsize) if types else np.dtype(np.int64)


def scale_of(trial: Trial, *groups: Sequence[Any]) -> float:
    """The magnitude of arrays, and of the sums that may have been taken over the longest axis."""
    longest = max((size for shape in trial.in_shapes for size in shape), default=1)
    return magnitude(*groups) * max(1.0, longest / _FEW_TERMS)


def rounding(trial: Trial, *groups: Sequence[Any]) -> tuple[tuple[float, float], float]:
    """Bounds and scale for two computations of a trial's results, from arguments and these arrays."""
    return tolerance(trial.subject.contract, coarsest(trial)), scale_of(trial, trial.inputs, *groups)


def stem(name: str) -> str:
    """The name of numbered arguments or outputs together: `arg` of `arg3`."""
    return name.rstrip("0123456789") or name


def at(name: str, place: tuple[int, ...] | None) -> str:
    """An element's name: `data[0, 2]`."""
    return f"{name}[{', '.join(map(str, place))}]" if place else name


def first_place(flags: Any) -> tuple[int, ...] | None:
    """Place of the first value that is true; None if there is none."""
    if not np.any(flags):
        return None
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(flags)), np.shape(flags)))


def magnitude(*groups: Sequence[Any]) -> float:
    """The largest finite magnitude in arrays; 0 where there is none."""
    arrays = [array for group in groups for array in group if array is not None and array.size]
    finite = [np.abs(array[np.isfinite(array)]).max(initial=0) for array in arrays if array.dtype.kind == "f"]
    return float(max(finite, default=0.0))


def _first_far(one: Array, other: Array, relative: float, absolute: float) -> tuple[int, ...] | None:
    is_exact = not relative and not absolute and one.dtype.kind in "iub" and other.dtype.kind in "iub"
    with np.errstate(all="ignore"):
        wide, wanted = one.astype(np.float64), other.astype(np.float64)
        limit = np.where(np.isinf(wanted), 0.0, absolute + relative * np.abs(wanted))
        far = ~((np.abs(wide - wanted) <= limit) | (wide == wanted) | (np.isnan(wide) & np.isnan(wanted)))
    far = one != other if is_exact else far  # float64 does not tell large integers apart
    return first_place(far)
