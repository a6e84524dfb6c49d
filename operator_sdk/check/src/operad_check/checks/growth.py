"""Group M: growth of memory and of calls with the size of the arrays, and of memory with calls."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from operad.operator import as_cost
from operad_check.cases.kinds import LARGE, ORDINARY
from operad_check.comparison.bitwise import expect_reproduced
from operad_check.register import Evidence, check
from operad_check.running.shrink_arrays import is_accepted
from operad_check.trials.case import Case
from operad_check.trials.trial import Trial
from operad_check.trials.violation import OperatorRaised, Violation

_LONG: Final = (64, 300)
"""Lengths of the axes that are made 2 and 4 times as long."""
_FASTER: Final = 2.0
"""Growth of a quantity from n to 4n that is allowed, relative to that of arrays or of the declared cost."""
_LEAST_BYTES: Final = 1 << 16
_LEAST_CALLS: Final = 2000
"""Below these, constant bytes and calls hide those that grow."""


_FEW: Final = 4
"""Cases that are run many times, in turn."""
_CALLS: Final = 32
"""Calls after which memory is looked at."""
_LONGER: Final = 4
"""Factor on that number where memory seems to grow."""
_LOOKS: Final = 7
"""Times that it is looked at; the first calls fill caches."""
_LEAST_BLOCKS: Final = 0.5
"""Objects that each call leaves, on the average, where something is kept."""
_LEAST_BYTES_OF_CALL: Final = 32
"""Likewise bytes."""
_ASIDE: Final = 1 / 16
"""Part of its size that an element is moved by for a call: of half precision 64 values or more."""
_INTERRUPTED: Final = 1
"""Looks that may find less in use: another thread of the process gave something back meanwhile."""


_aside: Final = np.random.default_rng(411)
"""Goes on from check to check, so that no two calls in this process have the same values."""


class _Effort(NamedTuple):
    """Peak memory and calls of a run, and the allowance that they are compared with."""

    bytes: int
    calls: int
    allowance: float


@check("M410", LARGE)
def growth(trial: Trial) -> Evidence:
    """Memory and calls grow no faster than the arrays, or the declared cost.

    A temporary array of all pairs is harmless at ten elements, and ends the process at a million.

    Broken by:
        def forward(data): return np.abs(data[:, None] - data[None, :]).min(1)    # n by n
    Within:
        spec = "data:(N + 1) -> output:(N + 1)"
        accepts = "floating"
        HERE
    Fix:
        Compute block by block, or declare what it costs: cost(in_shapes, out_shapes).
    How:
        Compare peak memory and Python calls of both passes at n, 2n and 4n with arrays and declared cost.
    """
    length = max((size for shape in trial.in_shapes for size in shape), default=0)
    if not _LONG[0] <= length <= _LONG[1]:
        return None
    cases = [_stretched(trial.case, length, factor) for factor in (1, 2, 4)]
    if not all(is_accepted(trial.subject, case) for case in cases):
        return None
    try:
        efforts = [_effort(Trial(trial.subject, case)) for case in cases]
    except OperatorRaised:
        return 0
    first, last = efforts[0], efforts[-1]
    if not first.allowance:
        return 0  # another axis is empty
    allowed = _FASTER * last.allowance / first.allowance
    for word, least in (("bytes", _LEAST_BYTES), ("calls", _LEAST_CALLS)):
        counts = [getattr(effort, word) for effort in efforts]
        if counts[-1] > least and counts[-1] > allowed * max(counts[0], 1):
            numbers = ", ".join(f"{count:,}" for count in counts)
            raise Violation(
                f"{word} are {numbers} for axes of {length}, twice and 4 times as long; arrays and declared "
                f"cost grow by {last.allowance / first.allowance:.3g}"
            )
    return len(efforts)


def _stretched(case: Case, length: int, factor: int) -> Case:
    def longer(array: Any) -> Any:
        for axis, size in enumerate(array.shape):
            if size == length:
                array = np.concatenate([array] * factor, axis)
        return array

    inputs = {name: longer(array) for name, array in case.inputs.items()}
    return replace(case, inputs=inputs, aux={name: longer(array) for name, array in case.aux.items()})


def _effort(trial: Trial) -> _Effort:
    result = trial.result

    def run() -> None:
        trial.forward(outputs=result.outputs, inputs=trial.inputs, aux=result.aux)
        trial.any_gradients(keep=lambda entry, array: array)

    arrays = [*trial.inputs, *result.outputs, *result.aux]
    size_bytes = sum(array.nbytes for array in arrays)
    cost = as_cost(trial.prop.cost(trial.in_shapes, [array.shape for array in result.outputs]))
    run()
    return _Effort(_peak_bytes(run), _calls(run), max(float(size_bytes), cost.operations))


def _peak_bytes(run: Callable[[], None]) -> int:
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _calls(run: Callable[[], None]) -> int:
    count = 0

    def note(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(before)
    return count


@check("M411", ORDINARY, pooled=True)
def calls(trials: Sequence[Trial]) -> Evidence:
    """Memory does not grow with the number of calls.

    What each call leaves, even a copy of what it was given, ends a training of a million steps.

    Broken by:
        self.results[data.tobytes()] = np.tanh(data)    # one entry for each call
    Within:
        spec = "data:(*S) -> output:(*S)"
        results = {}
        accepts = "floating"
        def forward(self, data):
            HERE
            return np.tanh(data)
    Fix:
        Keep nothing from call to call, or no more than so many, by shape or by parameters.
    How:
        Look at the memory in use after so many calls of both passes, on other values each, again and again.

        What an operator gives must not change by that either.
    """
    usable = [
        trial
        for trial in trials
        if sum(array.size for array in trial.inputs) > 1
        and trial.is_runnable
        and not trial.is_shaped_by_values
    ]
    usable = usable[:: max(1, len(usable) // _FEW)][:_FEW]  # the smallest come first
    if not usable:
        return None
    before = [trial.forward(operator=trial.new_operator()).outputs for trial in usable]
    growth = _growth_by_calls(usable, _CALLS, sys.getallocatedblocks)
    for trial, outputs in zip(usable, before, strict=True):
        after = trial.forward(operator=trial.new_operator()).outputs
        when = f"after {_LOOKS * _CALLS} calls on other values"
        expect_reproduced(trial, trial.outputs, after, outputs, when, cases=[trial.case])
    if growth >= _CALLS * _LEAST_BLOCKS and usable[0].subject.forget is not None:
        growth = _growth_by_calls(usable, _CALLS, sys.getallocatedblocks, forgets=True)
    if growth < _CALLS * _LEAST_BLOCKS:
        return len(usable)
    # what the interpreter keeps for itself grows more and more slowly, and what a library does is left out
    tracemalloc.start()
    try:
        count = _LONGER * _CALLS
        growth = _growth_by_calls(usable, count, lambda: tracemalloc.get_traced_memory()[0], forgets=True)
    finally:
        tracemalloc.stop()
    if growth < count * _LEAST_BYTES_OF_CALL:
        return len(usable)
    times = _LOOKS - 1
    raise Violation(
        f"after each {count} calls at least {growth:,} bytes more are in use, "
        f"{times - _INTERRUPTED} of {times} times",
        cases=[usable[-1].case],
    )


def _growth_by_calls(
    trials: Sequence[Trial], count: int, in_use: Callable[[], int], *, forgets: bool = False
) -> int:
    """Least growth of what is in use, after so many calls, as many more, and so on, but for one look.

    Args:
        forgets: Whether caches of the library that an operator is written in are emptied each time.
    """
    forget = trials[0].subject.forget if forgets else None
    counts = []
    was_frozen = gc.get_freeze_count() > 0
    gc.collect()
    gc.freeze()  # what was there before is looked through no more
    try:
        for _ in range(_LOOKS):
            for call in range(count):
                _both_passes(trials[call % len(trials)])
            if forget is not None:
                forget()
            gc.collect()
            counts.append(in_use())
    finally:
        if not was_frozen:  # else it is the program's own
            gc.unfreeze()
    return sorted(later - earlier for earlier, later in pairwise(counts))[_INTERRUPTED]


def _both_passes(trial: Trial) -> None:
    """Run both passes on values that no other call has."""
    free = [trial.subject.contract.domain(name) is None for name in trial.arguments]
    inputs = [
        _moved(array) if is_free and array.dtype.kind == "f" else array.copy()
        for array, is_free in zip(trial.inputs, free, strict=True)
    ]
    result = trial.forward(inputs)
    trial.any_gradients(inputs=inputs, outputs=result.outputs, aux=result.aux)


def _moved(array: Any) -> Any:
    """Each element a little nearer to zero, and zeros a little off it."""
    moved = array * (1 - _ASIDE * _aside.random(array.shape))
    return np.where(array == 0, _ASIDE * _aside.random(array.shape), moved).astype(array.dtype)
