"""Group R: changes that a run leaves in the process."""

from __future__ import annotations

import gc
import locale
import multiprocessing
import os
import random
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, Final, final

import numpy as np

from operad.config import settings
from operad.operator import BackwardArrays, ForwardArrays, OpContext
from operad_check.cases.kinds import ORDINARY
from operad_check.mutations.mutant import Wrapped
from operad_check.register import Evidence, check
from operad_check.trials.trial import Trial
from operad_check.trials.violation import OperatorRaised, Violation

_FEW: Final = 4
"""Cases in which arrays are followed to their end."""
_PATIENCE: Final = 200
"""Waits of a millisecond in which a thread of `op_ctx.parallel` may release its last job; a clock would go
on where the whole process stands still."""
_COLLECTIONS: Final = 3
"""Collections of garbage meanwhile, which take 50 times as long in a large process."""


def _numbers_of_numpy() -> tuple[Any, ...]:
    state: Any = np.random.get_state()
    return tuple(state[1:3])


_STATE: Final[dict[str, Callable[[], Any]]] = {
    "NumPy's error state": np.geterr,
    "NumPy's print options": lambda: repr(np.get_printoptions()),
    "the numbers that np.random draws next": _numbers_of_numpy,
    "the numbers that random draws next": random.getstate,
    "the working directory": os.getcwd,
    "the environment": lambda: dict(os.environ),
    "the locale": lambda: locale.setlocale(locale.LC_ALL),
    "the warning filters": lambda: list(warnings.filters),
    "sys.path": lambda: list(sys.path),
    "the recursion limit": sys.getrecursionlimit,
    "a function of NumPy": lambda: [value for value in vars(np).values() if callable(value)],
    "the threads that run": lambda: {
        thread.ident for thread in threading.enumerate() if not thread.name.startswith("operad-")
    },  # but for those of `op_ctx.parallel`, which start when they are first needed
    "the processes that run": lambda: {child.pid for child in multiprocessing.active_children()},
}


_UNUSUAL: Final[Any] = {"divide": "ignore", "over": "warn", "under": "ignore", "invalid": "warn"}
"""An error state that no code sets, so that any state that is set differs from it."""
_writes: list[list[str]] = []


def _note_write(event: str, args: tuple[Any, ...]) -> None:
    if event == "open" and _writes and isinstance(args[0], str):
        flags = args[2] if len(args) > 2 and isinstance(args[2], int) else 0
        folder = os.path.join(os.path.realpath(settings().cache_dir), "")
        is_cached = args[0].startswith(folder) or args[0].endswith(".pyc")
        if flags & (os.O_WRONLY | os.O_RDWR) and not is_cached:
            _writes[-1].append(args[0])


@cache
def _hook() -> None:
    sys.addaudithook(_note_write)  # it cannot be taken away again, so it looks at nothing outside of a block


@contextmanager
def _noted_writes() -> Iterator[list[str]]:
    """Names of files that this process opens for writing in the block."""
    _hook()
    _writes.append([])
    try:
        yield _writes[-1]
    finally:
        _writes.pop()


@final
class _Watched(Wrapped):
    """Compares the state of the process before and after each pass.

    Within the pass, because what a caller sets for its duration, such as an error state, ends with it.
    """

    changed: str = ""

    def forward(self, op_ctx: OpContext, arrays: ForwardArrays) -> None:
        """Watch."""
        self._watch(lambda: self.inner.forward(op_ctx, arrays))

    def backward(self, op_ctx: OpContext, arrays: BackwardArrays) -> None:
        """Watch."""
        self._watch(lambda: self.inner.backward(op_ctx, arrays))

    def _watch(self, run: Callable[[], None]) -> None:
        usual = np.seterr(**_UNUSUAL)
        before = {name: look() for name, look in _STATE.items()}
        with _noted_writes() as paths:
            run()
        left = [path for path in paths if os.path.isfile(path)]
        if left and not self.changed:
            self.changed = f"the file {left[0]!r}"
        for name, look in _STATE.items():
            if not self.changed and not _are_equal(look(), before[name]):
                self.changed = name
        np.seterr(**usual)
        if self.changed:  # so that the next run shows it again
            os.chdir(before["the working directory"])
            os.environ.clear()
            os.environ.update(before["the environment"])


def _are_equal(one: Any, other: Any) -> bool:
    if isinstance(one, tuple) and one and isinstance(one[0], np.ndarray):
        return bool(np.array_equal(one[0], other[0])) and one[1:] == other[1:]
    return bool(one == other)


@check("R507", ORDINARY)
def leaves_the_process_alone(trial: Trial) -> Evidence:
    """A run leaves the process as it was: error states, environment, directory, threads, NumPy.

    Settings of a process belong to the program. One that is changed here changes results elsewhere.

    Broken by:
        def forward(data):
            np.seterr(all="ignore")
            return np.log(data)
    Within:
        spec = "data:(*S) -> output:(*S)"
        accepts = "floating"
        HERE
    Fix:
        Set it for the duration: with np.errstate(...); leave everything else alone.
    How:
        Compare error states, environment, files, threads and NumPy itself before and after both passes.
    """
    found = _change(trial)
    # a library that is imported by the first run may change the environment, once and for all
    if found.endswith("the environment"):
        found = _change(trial)
    if found:
        raise Violation(f"{found}, and leaves it changed")
    return len(_STATE)


def _change(trial: Trial) -> str:
    """First change that a pass makes to the process, as a clause; empty if there is none."""
    np.random.seed(None)  # so that a seed which is set again and again shows each time
    watched = _Watched(trial.new_operator(), trial.prop)
    passes: dict[str, Callable[[], Any]] = {"forward": lambda: trial.forward(operator=watched)}
    if any(trial.differentiable()):
        passes["backward"] = lambda: trial.backward(operator=watched)
    for name, run in passes.items():
        run()
        if watched.changed:
            return f"{name} changes {watched.changed}"
    return ""


@check("R508", ORDINARY, pooled=True)
def lets_go_of_arrays(trials: Sequence[Trial]) -> Evidence:
    """Arrays are released after the pass that reads them.

    An operator that keeps its arrays keeps the memory of a whole batch, as long as the model lives.

    Broken by:
        def forward(self, data):
            self.seen.append(data)    # for ever
    Within:
        spec = "data:(*S) -> output:(*S)"
        seen = []
        accepts = "floating"
        HERE
            return data * 1
    Fix:
        Keep what backward needs in an output, hidden if need be.
    How:
        Check that arrays are freed after a pass once their owner drops them.
    """
    usable = [trial for trial in trials if trial.inputs and trial.is_runnable]
    if not usable or usable[0].prop.is_stateful:
        return None
    compared = 0
    for trial in usable[-_FEW:]:
        operator = trial.new_operator()
        kept = _still_alive(_after_both_passes(trial, operator))
        if kept:
            message = f"{kept[0]} is kept alive by the operator after the pass that read it"
            raise Violation(message, cases=[trial.case])
        compared += len(trial.inputs)
    return compared


def _still_alive(arrays: list[tuple[str, weakref.ref[Any]]]) -> list[str]:
    """Names of arrays that remain after garbage collection and after a wait for threads to end."""
    kept: list[str] = []
    for look in range(_PATIENCE):
        kept = [name for name, alive in arrays if alive() is not None]
        if not kept:
            break
        if look < _COLLECTIONS:
            gc.collect()  # rings of references are no leak
        time.sleep(0.001)
    return kept


def _after_both_passes(trial: Trial, operator: Any) -> list[tuple[str, weakref.ref[Any]]]:
    """Weak references to the arguments of both passes, to which nothing in this module refers any more."""
    inputs = [array.copy() for array in trial.inputs]
    outputs = trial.poisoned_outputs()
    found = [(name, weakref.ref(array)) for name, array in zip(trial.arguments, inputs, strict=True)]
    try:
        trial.forward(inputs, operator=operator, outputs=outputs)
        if any(trial.differentiable()):
            handed: list[Any] = []

            def keep(entry: Any, array: Any) -> Any:
                handed.append(array.copy())
                return handed[-1]

            trial.backward(operator=operator, keep=keep)
            found += [("an array of backward", weakref.ref(array)) for array in handed]
            handed.clear()
    except OperatorRaised:
        return []
    return found
