"""Group R: equal results from every way to run a program."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from threading import Event, Lock
from typing import Any, Final, final

import numpy as np

from operad import engine, random
from operad.context import cpu
from operad.engine import RunContext
from operad_check.cases.kinds import LARGE, ORDINARY
from operad_check.cases.retype import is_random
from operad_check.comparison.bitwise import expect_reproduced
from operad_check.comparison.closeness import expect_close, magnitude, tolerance
from operad_check.register import Evidence, check
from operad_check.trials.cause import is_own
from operad_check.trials.runs import ImperativeRun, Run, SymbolicRun, can_be_bound
from operad_check.trials.trial import Trial
from operad_check.trials.violation import Violation, shown_by

_ALONE: Final = 8
"""Cases that are run one by one."""
_SCHEDULES: Final = 4
"""Programs of several cases at once, on each engine."""
_TOGETHER: Final = 4
"""Cases in one such program."""

_PATIENCE_S: Final = 1.0


@check("R503", ORDINARY, LARGE, pooled=True)
def all_engines(trials: Sequence[Trial]) -> Evidence:
    """Imperative, symbolic, naive and threaded runs give the same, bit for bit, in any order.

    All of them are the same program. A result that depends on which one ran it cannot be debugged.

    Broken by:
        def forward(self, op_ctx, arrays):
            if arrays.req[0] == OpReq.INPLACE: ...    # sums in another order
    Not run:
        The other order of the sums.
    Fix:
        Look for what differs between the two runs printed: requests, sharing, the order of calls.
    How:
        Run each case alone in four ways, then several at once in random orders, on both engines.
    """
    usable = [
        trial
        for trial in trials
        if (trial.visible or trial.states) and trial.is_runnable and can_be_bound(trial)
    ]
    chosen = usable[:: max(1, len(usable) // _ALONE)][:_ALONE]
    before = "naive" if isinstance(engine.get(), engine.NaiveEngine) else "threaded"
    compared = 0
    drawn: dict[int, list[Any]] = {}
    try:
        for name in ("naive", "threaded"):
            _use(name)
            for trial in chosen:
                with shown_by(trial.case):
                    compared += _alone(trial, name, drawn)
            for schedule in range(_SCHEDULES):
                compared += _together(chosen, name, schedule)
    finally:
        _use(before)
    return compared if trials else None


def _use(name: str) -> None:
    """Change the engine; failures that were left unread on the old engine have been reported before."""
    with suppress(Exception):
        engine.set(name)


def _alone(trial: Trial, name: str, drawn: dict[int, list[Any]]) -> int:
    """Compare imperative and symbolic runs of a case; `drawn` keeps a random operator's first results."""
    compared = 0
    for kind in (ImperativeRun, SymbolicRun):
        random.seed(trial.case.seed)
        when = f"in a {kind.name} run on the {name} engine"
        run = _guarded(partial(kind, trial), when)
        _guarded(run.push, when)
        found = _guarded(run.read, when)
        expected = run.expected() if not is_random(trial) else drawn.setdefault(id(trial), found)
        count = min(len(found), len(expected))  # a symbolic prediction has no gradients
        compared += expect_reproduced(trial, run.names()[:count], found[:count], expected[:count], when)
    return compared


def _together(trials: Sequence[Trial], name: str, schedule: int) -> int:
    """Compare cases that are pushed before any may start, some twice, in an order from `schedule`."""
    rng = np.random.default_rng(schedule)
    plain = [trial for trial in trials if not is_random(trial)]
    if not plain:
        return 0
    picked = [plain[int(i)] for i in rng.integers(0, len(plain), _TOGETHER)]
    kinds = [(ImperativeRun, SymbolicRun)[int(i)] for i in rng.integers(0, 2, len(picked))]
    when = f"among {len(picked)} operators at once on the {name} engine"
    with shown_by(*[trial.case for trial in {id(trial): trial for trial in picked}.values()]):
        runs = [
            _guarded(partial(kind, trial, 1 if trial.states or trial.prop.is_stateful else 2), when)
            for kind, trial in zip(kinds, picked, strict=True)
        ]
        with _held(runs, name == "threaded"):
            for place in rng.permutation(len(runs)):
                _guarded(runs[int(place)].push, when)
        return sum(_expect_close(run, _guarded(run.read, when), f"{when}, {run.name}") for run in runs)


def _expect_close(run: Run, found: Sequence[Any], when: str) -> int:
    """Compare outputs and states bit for bit, and gradients that were added up within rounding."""
    expected, names, trial = run.expected(), run.names(), run.trial
    count = len(names) if run.copies == 1 else len(names) - len(run.gradients)
    compared = expect_reproduced(trial, names[:count], found[:count], expected[:count], when)
    types = [x.dtype for x in found[count:] if x is not None]
    if types:
        bounds = tolerance(trial.subject.contract, min(types, key=lambda dtype: dtype.itemsize))
        scale = magnitude(expected[count:])
        compared += expect_close(names[count:], found[count:], expected[count:], when, bounds, scale)
    return compared


@final
class _Gate:
    """Operation that ends when it is released, before or after its start."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._is_released = False
        self._ends: list[Callable[[], None]] = []

    def __call__(self, _: RunContext, on_complete: Callable[[], None]) -> None:
        """Start the operation."""
        with self._lock:
            if not self._is_released:
                self._ends.append(on_complete)
                return
        on_complete()

    def release(self) -> None:
        """End the operation, now or as soon as it starts."""
        with self._lock:
            self._is_released = True
        for end in self._ends:
            end()


@contextmanager
def _held(runs: Sequence[Run], is_threaded: bool) -> Iterator[None]:
    """Let no operation that reads the runs' arrays start before the end of the block."""
    variables = [x._chunk.var for run in runs for x in [*run.inputs, *run.states]]
    if not is_threaded or not variables:
        yield
        return
    gate = _Gate()
    engine.get().push_async(gate, cpu(), (), variables, name="gate")
    try:
        yield
    finally:
        gate.release()
    _let_workers_finish(runs)


def _let_workers_finish(runs: Sequence[Run]) -> None:
    """Wait on an event: a wait for an array runs operations in the waiting thread, not in workers."""
    arrays = [x for run in runs for x in [*run.outputs, *run.gradients] if x is not None]
    is_over = Event()
    variables = list({x._chunk.var: None for x in arrays})
    engine.get().push_sync(lambda _: is_over.set(), cpu(), variables, (), name="end")
    is_over.wait(_PATIENCE_S)  # it is never set after a failure, which reading brings up


def _guarded(call: Callable[[], Any], when: str) -> Any:
    """Call a function; raise Violation if it raises, as it did not in a plain call."""
    try:
        return call()
    except Exception as error:
        if is_own(error):
            raise
        raise Violation(f"{type(error).__name__} {when}: {error}") from error
