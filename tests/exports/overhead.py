"""Time of a call: of `od.nd`, and of the exported function, on the same small arrays."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, Final

import operad as od
from operad.ndarray import NDArray, array
from operad.ndarray.function import operator_function
from tests.exports.examples import Example

_TURNS: Final = 15
_CALLS: Final = 10


def per_call(example: Example, exported: Callable[[], Any]) -> tuple[float, float]:
    """Microseconds of a call of `od.nd` and of the exported function.

    Of runs alternately the least counts, because other processes take the processor away.
    """
    own = _own(example)
    for _ in range(3):
        own()
        exported()
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(_TURNS):
        for function, found in zip((own, exported), times, strict=True):
            begin = perf_counter()
            for _ in range(_CALLS):
                function()
            found.append((perf_counter() - begin) / _CALLS * 1e6)
    return round(min(times[0]), 1), round(min(times[1]), 1)


def _own(example: Example) -> Callable[[], Any]:
    trial = example.trial
    values = {**dict(zip(trial.arguments, trial.inputs, strict=True)),
              **dict(zip(trial.states, trial.aux, strict=True))}  # fmt: skip
    arrays = [array(values[name], dtype=values[name].dtype) for name in trial.prop.list_inputs()]
    function, params = operator_function(example.subject.name, NDArray), dict(example.case.params)

    def call() -> None:
        found = function(*arrays, **params)
        for one in found if isinstance(found, list) else [found]:
            one.wait_to_read()

    def training() -> None:
        with od.autograd.train_mode():
            call()

    return training if example.case.is_train else call
