"""The case plan of an operator.

More cases of the same kind find nothing that the first fifty did not. So beside those that are drawn,
cases are designed: each has something that the drawn ones have not, and says what. The plan follows from
the declaration alone: parameters and their bounds, the types that inference takes, the kernels. Hypothesis
fills in what a goal leaves open, and shrinks a failing case within its goal.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from math import prod
from typing import Any, Final, final

from operad.context import cpu
from operad.operator import Kernel, KernelCall
from operad_check.cases.goal import GivenSize, Goal
from operad_check.cases.kinds import (
    BULK,
    EDGES,
    EXTREME,
    LARGE,
    LONG,
    ORDINARY,
    PARTS,
    SMOOTH,
    SPECIAL,
    WIDE,
    CaseKind,
)
from operad_check.cases.params import joint_values, planned_values, required_params
from operad_check.cases.shapes import num_sizes
from operad_check.cases.strategies import case_of, completed_types, made
from operad_check.cases.values import Values
from operad_check.plan.companions import companions
from operad_check.plan.profile import Profile
from operad_check.plan.rows import rows
from operad_check.trials.cause import is_own
from operad_check.trials.kernels import can_compute, is_possible
from operad_check.trials.reference import call_reference
from operad_check.trials.subject import Subject
from operad_check.trials.trial import Trial, raising
from operad_check.trials.violation import OperatorRaised, Violation

_FLOATS: Final = ("float32", "float64", "float16")

_LONG: Final = (
    # length, place, why, and the type
    (17, 0, "one more than a vector of 16", "float32"),
    (70, 1, "more than a block of 64, and no multiple of 4", "float64"),
    (129, 0, "one more than 128 rows", "float16"),
    (300, 1, "more than 256 columns", "float32"),
    (1030, 0, "more than 1,024 rows", "float64"),
    (1030, 1, "more than 1,024 columns", "float32"),
    (5000, 0, "thousands of elements: sums, threads and blocks of a kernel", "float32"),
    (70, 0, "integers in quantity", "int32"),
)
_LONG_EACH: Final = 1031
"""Length that each size has once, in float64: odd, beyond blocks of 1,024, and places in a byte."""
_LONG_ROW: Final = 300
_LONG_ROWS: Final = 8
"""Length of an axis for which values of parameters are tried, and rows of them."""
_SEVERAL: Final = (2, 3, 4, 2, 3, 4, 1)
"""Sizes of cases that are to tell a parameter's values apart."""
_BULK: Final = (
    # length, why, the type, and what the elements are like
    (129, "a sum of squares that half precision cannot hold", "float16", Values.TAILS),
    (5000, "a sum so large that a term beside it is lost in half precision", "float16", Values.POSITIVE),
    (5000, "a sum that half precision cannot hold, of numbers whose mean it can", "float16", Values.DOZENS),
    (300, "places that a narrow type cannot hold", "uint8", Values.DIGITS),
    (300, "places, and products with them, that a signed byte cannot hold", "int8", Values.DIGITS),
)
_TWICE: Final = (
    # two lengths, the type, the kind, and why
    (70, 75, "float32", BULK, "two axes longer than a block of 64"),
    (300, 34, "float32", BULK, "two axes, longer than 256 and than a vector of 32"),
    (66, 69, "float64", LONG, "two axes longer than a block of 64, for gradients"),
)
_FAR: Final = 2**16 + 5
"""Length of an axis whose places, counted in two bytes, begin again."""
_FAR_PROBE: Final = 513
"""Length at which an operator shows whether it wants memory for every pair of places."""
_SHORTEST: Final = (1030, (0, 1))
"""A long axis, and the sizes of the others: one of several axes may be as short as it can be."""

_PARTS_OF: Final = ("float32", "float64")
"""Types of arrays of several parts: their sizes may be counted in bytes."""
_EXTREMES: Final = (
    (Values.TAILS, "the tails of a function overflow and saturate", ("float32", "float64")),
    (Values.HUGE, "intermediate results overflow", ("float32", "float64", "float16")),
    (Values.SMALL, "what is added to 1, or taken from it, loses its digits", ("float32", "float64")),
    (Values.TINY, "intermediate results underflow", ("float32", "float64")),
    (Values.OFFSET, "differences cancel", ("float32", "float64")),
    (Values.TIES, "equal elements must be distinguished, or not", ("float32", "float64")),
    (Values.CONSTANT, "spreads and differences are 0", ("float32", "float64")),
    (Values.ZEROS, "norms and sums are 0", ("float32", "float64")),
    (Values.COUNTED, "how many zeros there are decides something", ("float32",)),
    (Values.MULTIPLES, "equal rows, rows of zeros, matrices of rank 1", ("float32", "float64")),
    (
        Values.LARGE,
        "whole parts that a narrow type cannot hold, few digits behind them",
        ("float32", "float64"),
    ),
    (Values.ABOVE, "squares that half precision cannot hold", ("float16",)),
    (Values.MIXED, "a row that overflows beside others that do not", ("float32", "float64")),
)

_CORNERS: Final = (
    (Values.TIES, "a zero among others, and equal elements: a gradient may divide by one, or choose"),
    (Values.OFFSET, "the gradient where differences cancel"),
    (Values.COUNTED, "the gradient where one factor is 0, or two"),
    (Values.DIGITS, "numbers that are no multiples of 1/8"),
    (Values.MULTIPLES, "the gradient at equal rows, rows of zeros, matrices of rank 1"),
    (Values.ZEROS, "the gradient where norms and sums are 0"),
    (Values.TAILS, "the gradient where a function saturates"),
)
_SMOOTH_ROWS: Final = 12
_WHOLE: Final = ("int8", "uint8", "int32", "int64", "bool")
_ROWS: Final = 24
"""Rows of parameter values in the `dev` profile, which tries 50 examples; more in the others."""

_LENGTHS: Final = {0: "empty axes and no axes", 1: "axes of length 1"}


@final
class CasePlan:
    """Goals by kind of case.

    Attributes:
        goals: All of them; those that are drawn come first in their kind.
    """

    def __init__(self, subject: Subject, profile: Profile) -> None:
        self._subject = subject
        self._profile = profile
        self.goals: list[Goal] = [
            *self._drawn(),
            *self._parameter_rows(),
            *self._edges(),
            *self._smooth(),
            *self._long_axes(),
            *self._long_each(),
            *self._two_long(),
            *self._bulk(),
            *self._extremes(),
            *self._kernels(),
            *self._parts(),
        ]

    def of(self, kind: CaseKind) -> list[Goal]:
        """The goals of one kind."""
        return [goal for goal in self.goals if goal.kind is kind]

    @staticmethod
    def with_arguments(kind: CaseKind, params: Mapping[str, Any], names: Sequence[str]) -> Goal:
        """A goal of a kind for parameters with which the operator has certain arguments."""
        lengths = {LARGE: _LONG_ROW, BULK: _LONG_ROW, EDGES: 1}
        return Goal(
            name=f"with {', '.join(names)}",
            reason="arguments that a few values of parameters bring",
            kind=kind,
            params=params,
            size=GivenSize(0, lengths[kind]) if kind in lengths else None,
            dtypes=("float32", "float64", "float16", "int32"),
            values=Values.HUGE if kind is EXTREME else Values.DIGITS,
            wanted=_has_elements,
            tries=100,
        )

    def _drawn(self) -> Iterator[Goal]:
        reason = "many small cases, of which Hypothesis chooses parameters, sizes, types and values"
        for kind in (ORDINARY, EDGES, SMOOTH, WIDE):
            count = max(1, round(self._profile.examples * kind.share))
            yield Goal(name=f"{kind.name} cases", reason=reason, kind=kind, examples=count)

    def _parameter_rows(self) -> Iterator[Goal]:
        planned = list(self._rows(_ROWS))
        chosen: dict[str, Iterable[Mapping[str, Any]]] = {
            "each value of a parameter, and pairs of values of two": planned,
            "values of several parameters that go together": joint_values(self._subject),
            "a value that the operator takes with some others alone": companions(self._subject, planned),
        }
        for reason, rows_of_values in chosen.items():
            for given in rows_of_values:
                name = _words(given) or "defaults"
                yield Goal(name=name, reason=reason, kind=ORDINARY, params=given, sizes=_SEVERAL)

    def _rows(self, usual: int, *, are_pairs: bool = True) -> Iterator[Mapping[str, Any]]:
        """Values of the parameters that are not at their defaults."""
        declared = self._subject.cls.params
        values = {name: planned_values(self._subject, param, 2) for name, param in declared.items()}
        most = max(usual, usual * self._profile.examples // 50)
        for row in rows(values, most, are_pairs=are_pairs) if declared else ():
            yield {name: value for name, value in row.items() if _is_given(declared[name], value)}

    def _smooth(self) -> Iterator[Goal]:
        """Goals of the cases on which gradients are compared, beside the drawn cases."""
        for values, why in _CORNERS:
            yield Goal(name=values.value, reason=why, kind=SMOOTH, values=values, wanted=_has_several)
        for given in self._rows(_SMOOTH_ROWS, are_pairs=False):
            name, reason = _words(given) or "defaults", "the gradient for each value of a parameter"
            yield Goal(name=name, reason=reason, kind=SMOOTH, params=given, sizes=_SEVERAL)

    def _edges(self) -> Iterator[Goal]:
        yield Goal(
            name="no axes where any number will do",
            reason="shapes that consist of such axes alone are empty",
            kind=EDGES,
            ranks=(0,),
        )
        for place in range(2):
            for length, words in _LENGTHS.items():
                yield Goal(
                    name=f"size {place} is {length}",
                    reason=f"{words}, the other sizes ordinary",
                    kind=EDGES,
                    size=GivenSize(place, length),
                )

    def _long_axes(self) -> Iterator[Goal]:
        for length, place, why, dtype in _LONG:
            yield _long(LARGE, f"axis of {length:,} ({dtype})", why, place, length, dtype)

    def _long_each(self) -> Iterator[Goal]:
        for place in range(self._num_sizes()):
            name = f"size {place} is {_LONG_EACH} (float64)"
            yield _long(LONG, name, "each size long, for gradients", place, _LONG_EACH, "float64")

    def _two_long(self) -> Iterator[Goal]:
        for (length, beside, dtype, kind, why), place in product(
            _TWICE, range(max(1, self._num_sizes() - 1))
        ):
            name = f"sizes {place} and {place + 1} are {length} and {beside} ({dtype})"
            yield _long(kind, name, why, place, length, dtype, beside=beside, ranks=(2, 3))

    def _num_sizes(self) -> int:
        try:
            prop = made(self._subject, required_params(self._subject))
            return num_sizes(self._subject, prop) if prop is not None else 1
        except (Exception, SystemExit) as error:  # what a declaration raises, F201 reports
            if is_own(error, outside=1):
                raise
            return 1

    def _bulk(self) -> Iterator[Goal]:
        rows_of_values = filter(None, self._rows(_LONG_ROWS, are_pairs=False))
        for number, given in enumerate(rows_of_values):
            place = number % 2
            name = f"axis {place} of {_LONG_ROW}, {_words(given)}"
            why = "a long axis for other values of the parameters"
            yield _long(BULK, name, why, place, _LONG_ROW, "float32", params=given)
        for (length, why, dtype, values), place in product(_BULK, range(2)):
            name = f"axis {place} of {length:,}, {values.value} ({dtype})"
            yield _long(BULK, name, why, place, length, dtype, values=values)
        length, others = _SHORTEST
        for place, other in product(range(2), others):
            yield Goal(
                name=f"axis {place} of {length:,}, beside sizes of {other}",
                reason="a long axis beside the shortest ones",
                kind=BULK,
                size=GivenSize(place, length, other),
                values=Values.DIGITS,
                wanted=_has_elements,
            )

    def _extremes(self) -> Iterator[Goal]:
        for values, why, dtypes in _EXTREMES:
            for dtype in dtypes:
                name = f"{values.value} ({dtype})"
                rows: dict[str, Any] = {"sizes": (4, 5), "ranks": (2, 3)} if values is Values.COUNTED else {}
                yield Goal(name=name, reason=why, kind=EXTREME, dtypes=(dtype,), values=values, **rows)
        for name, param in self._subject.cls.params.items():
            if param.run_time and 0.0 in planned_values(self._subject, param, 2):
                yield Goal(
                    name=f"{Values.ZEROS.value}, {name}=0.0",
                    reason="norms and sums are 0, and the number beside the arrays too",
                    kind=EXTREME,
                    params={name: 0.0},
                    dtypes=("float32",),
                    values=Values.ZEROS,
                )
        for dtype in _WHOLE:
            for values in (Values.HUGE, Values.DIGITS):
                yield Goal(
                    name=f"{values.value} ({dtype})",
                    reason="each type's own sums, products and conversions",
                    kind=EXTREME,
                    dtypes=(dtype,),
                    values=values,
                )

    def _kernels(self) -> Iterator[Goal]:
        for kernel in self._subject.cls.kernels:
            if kernel.when is not None and is_possible(kernel):
                yield Goal(
                    name=f"kernel {kernel.name}",
                    reason="it computes only under a condition, which other cases may never meet",
                    kind=SPECIAL,
                    values=Values.DIGITS,
                    wanted=partial(_is_applicable, kernel),
                    tries=400,
                )

    def _parts(self) -> Iterator[Goal]:
        most = self._subject.contract.computed_at_once
        why = "more than two parts, in which the author says that large arrays are computed"
        for dtype in _PARTS_OF if most else ():
            yield _long(PARTS, f"axis of {2 * most + 3:,} ({dtype})", why, 0, 2 * most + 3, dtype)
        for place in range(2):
            yield _long(
                PARTS,
                f"size {place} is {_FAR:,} (float32)",
                "places and offsets beyond two bytes, with a sign and without",
                place,
                _FAR,
                "float32",
                values=Values.FAR,
                wanted=partial(_is_linear, self._subject),
            )


def _long(kind: CaseKind, name: str, reason: str, place: int, length: int, dtype: str, **fields: Any) -> Goal:
    """A goal with a long axis, in one type."""
    size = GivenSize(place, length, beside=fields.pop("beside", None))
    fields = {"values": Values.DIGITS, **fields}
    return Goal(name=name, reason=reason, kind=kind, size=size, dtypes=(dtype,), **fields)


def _is_applicable(kernel: Kernel, prop: Any, in_shapes: Any, in_types: Any) -> bool:
    with raising("a kernel's condition"):
        return can_compute(kernel, KernelCall(prop, cpu(), in_shapes, in_types))


def _is_linear(subject: Subject, prop: Any, in_shapes: Any, in_types: Any) -> bool:
    """Return whether a shorter array takes memory like itself, and not for every pair of its places.

    A reference, which may compare each element with each other, is asked as well. Memory of other libraries
    does not show.
    """
    if subject.writer is not None or tracemalloc.is_tracing():
        return False
    shapes = [tuple(_FAR_PROBE if n == _FAR else n for n in shape) for shape in in_shapes]
    try:
        types = completed_types(subject, prop, in_types[0]) if in_types else None
        if types is None or max(map(prod, shapes), default=0) > 4 * _FAR_PROBE:
            return False
        trial = Trial(subject, case_of(subject, prop, prop.get_params(), shapes, types, True, 0))
        tracemalloc.start()
        trial.forward()
        if subject.contract.reference is not None:
            call_reference(subject.contract.reference, trial, trial.inputs)
        return tracemalloc.get_traced_memory()[1] < _FAR_PROBE**2 // 2
    except (OperatorRaised, Violation):
        return False
    finally:
        tracemalloc.stop()


def _has_several(prop: Any, in_shapes: Any, in_types: Any) -> bool:
    """Return whether some argument has several elements."""
    return any(prod(shape) > 1 for shape in in_shapes)


def _has_elements(prop: Any, in_shapes: Any, in_types: Any) -> bool:
    return all(0 not in shape for shape in in_shapes)


def _words(given: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in given.items())


def _is_given(param: Any, value: Any) -> bool:
    return bool(param.is_required or value != param.default)
