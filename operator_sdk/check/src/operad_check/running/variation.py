"""Checks that repeat a plain run in another way: lines of one table, and the function that walks it.

The plain run of a trial is `Trial.result` and `Trial.backward()`: new arrays, everything written, one
operator. Memory plans, engines and users run operators otherwise: with other layouts, old contents, shared
memory, on an operator that has run before. Each line of the table is a check that yields such runs, and says
which of their values are compared with the plain run's, and how. A run that raises, where the plain run does
not, is a finding, unless a function of another library says in words that it takes no such arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from types import MappingProxyType
from typing import Any, Final, NamedTuple, final

from operad_check.cases.kinds import CaseKind
from operad_check.comparison.bitwise import expect_reproduced
from operad_check.comparison.closeness import rounding
from operad_check.comparison.terms import expect_close_in_terms
from operad_check.register import Evidence, check
from operad_check.trials.trial import Trial
from operad_check.trials.violation import OperatorRaised, Violation


class Values(NamedTuple):
    """Arrays of a run that are compared.

    Attributes:
        words: In the table.
        names: Of the arrays.
        plain: The arrays of a trial's plain run; None for those that it need not write.
        found: The arrays in what a run returns.
    """

    words: str
    names: Callable[[Trial], Sequence[str]]
    plain: Callable[[Trial], Sequence[Any]]
    found: Callable[[Any], Sequence[Any]]


def _results(trial: Trial) -> list[Any]:
    return [*trial.written(trial.result.outputs), *trial.result.aux]


INPUTS: Final = Values("inputs", lambda t: t.arguments, lambda t: t.inputs, lambda run: run.inputs)
OUTPUTS: Final = Values(
    "outputs", lambda t: t.outputs, lambda t: t.written(t.result.outputs), lambda run: run.outputs
)
STATES: Final = Values("states", lambda t: t.states, lambda t: t.result.aux, lambda run: run.aux)
RESULTS: Final = Values(
    "outputs and states", lambda t: [*t.outputs, *t.states], _results, lambda run: [*run.outputs, *run.aux]
)
GRADIENTS: Final = Values("gradients", lambda t: t.gradient_names, lambda t: t.gradients, list)


class Variant(NamedTuple):
    """One run that differs from the plain one.

    Attributes:
        when: How it differs, for messages.
        run: The run; returns what `Trial.forward` or `Trial.backward` returns.
        values: What is compared; None: what the line says.
        expected: The arrays that it must give; None: those of the plain run.
        trial: The trial whose plain run is meant; None: the one that the line was given.
        violation: Further arguments of the `Violation`, such as cases of a line that takes all trials.
    """

    when: str
    run: Callable[[], Any]
    values: Values | None = None
    expected: Sequence[Any] | None = None
    trial: Trial | None = None
    violation: Mapping[str, Any] = MappingProxyType({})


Runs = Generator[Variant, int, Evidence]
"""Runs of a line. It gets the number of elements compared after each, and may return evidence of its own."""


@final
@dataclass(frozen=True, slots=True)
class Comparison:
    """A run beside the plain one; `violation` has further arguments of a `Violation`."""

    trial: Trial
    values: Values
    found: Sequence[Any]
    expected: Sequence[Any]
    when: str
    violation: Mapping[str, Any]

    @property
    def arrays(self) -> tuple[Sequence[str], Sequence[Any], Sequence[Any], str]:
        """First arguments of functions that compare."""
        return self.values.names(self.trial), self.found, self.expected, self.when


Compare = Callable[[Comparison], int]
"""Function that raises a `Violation`, or returns the number of elements that it compared."""


def bit_for_bit(run: Comparison) -> int:
    """Compare bit for bit.

    The last bits may differ where runs are declared to differ by those.
    """
    return expect_reproduced(run.trial, *run.arrays, **run.violation)


def within_rounding(run: Comparison) -> int:
    """Compare up to another order of the same sums."""
    heads = (run.expected, run.trial.out_grads) if run.values is GRADIENTS else ()
    bounds = rounding(run.trial, *heads)
    return expect_close_in_terms(run.trial, run.values.plain, *run.arrays, *bounds, **run.violation)


@final
@dataclass(frozen=True, slots=True)
class Variation:
    """A line of the table.

    Attributes:
        id: The check's.
        runs: Function that yields the runs, of a trial, or of all trials.
        values: What is compared of them.
        compare: How.
    """

    id: str
    runs: Callable[[Any], Runs]
    values: Values
    compare: Compare


_lines: Final[dict[str, Variation]] = {}


def variations() -> Mapping[str, Variation]:
    """The table, by id."""
    return dict(sorted(_lines.items()))


def variation(
    id: str, *kinds: CaseKind, values: Values, compare: Compare = bit_for_bit, pooled: bool = False
) -> Callable[[Callable[[Any], Runs]], Callable[[Any], Evidence]]:
    """Register a check whose function yields runs."""

    def register(runs: Callable[[Any], Runs]) -> Callable[[Any], Evidence]:
        line = _lines[id] = Variation(id, runs, values, compare)

        @wraps(runs)
        def function(given: Any) -> Evidence:
            return walk(line, given)

        return check(id, *kinds, pooled=pooled)(function)

    return register


def walk(line: Variation, given: Any) -> Evidence:
    """Compare each run of a line; returns how many elements, None where nothing was varied."""
    runs = line.runs(given)
    compared: int | None = None
    try:
        variant = next(runs)
        while True:
            count = _compared(line, given if variant.trial is None else variant.trial, variant)
            compared = (compared or 0) + count
            variant = runs.send(count)
    except StopIteration as end:
        return compared if end.value is None else end.value


def _compared(line: Variation, trial: Trial, variant: Variant) -> int:
    values = variant.values or line.values
    expected = values.plain(trial) if variant.expected is None else variant.expected
    try:
        found = values.found(variant.run())
    except OperatorRaised as error:
        if error.is_refusal:
            raise
        assert trial.result  # raises where the plain run does too, which is no finding of this line
        raise Violation(f"{variant.when}, {error}", **variant.violation) from error
    return line.compare(Comparison(trial, values, found, expected, variant.when, variant.violation))
