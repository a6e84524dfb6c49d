"""Measuring the constants of costs: loops, products, bytes, and functions of elements.

Times are this process's own, on one thread, and the least of many rounds, because other programs only ever
make a round longer. What a call costs however small it is stays out: a call of few elements is subtracted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from time import process_time
from typing import Any, Final

import numpy as np

from operad import engine
from operad.operator import DEFAULTS

_ROUND_US: Final = 2000.0
"""Least time of a round; a shorter call is repeated within the round."""
_ROUNDS: Final = 7
_FEW: Final = 16
_IN_CACHE: Final = 1 << 15
"""Elements of arrays in a core's cache: three are 384 KiB."""
_IN_MEMORY: Final = 1 << 23
_OF_LOOPS: Final = ("exp", "sqrt", "tanh", "log")
"""Functions by which loops are measured: what they cost in operations of loops is taken from the defaults."""
_LEAST: Final = 0.05


def least_us(function: Callable[[], object]) -> float:
    """The least time of a call, in microseconds."""
    function()
    start = process_time()
    function()
    once_us = (process_time() - start) * 1e6
    count = max(1, int(_ROUND_US / max(once_us, 0.1)))
    best = once_us
    for _ in range(_ROUNDS):
        start = process_time()
        for _ in range(count):
            function()
        best = min(best, (process_time() - start) * 1e6 / count)
    return best


def constants() -> tuple[dict[str, float], dict[str, float]]:
    """The rates, and what functions of elements cost in operations of loops, on one thread."""
    return engine.run_single(_constants)


def _constants() -> tuple[dict[str, float], dict[str, float]]:
    with np.errstate(all="ignore"):
        cached_us = _element_us(np.add, _IN_CACHE) / _moved_bytes(np.add)
        memory_us = _element_us(np.add, _IN_MEMORY) / _moved_bytes(np.add)
        costs_us = {
            name: max(0.0, _element_us(ufunc, _IN_CACHE) - cached_us * _moved_bytes(ufunc))
            for name, ufunc in _ufuncs()
        }
        flop_us = _flop_us()
    loop_us = sum(costs_us[name] for name in _OF_LOOPS) / sum(DEFAULTS.functions[name] for name in _OF_LOOPS)
    functions = {name: max(_LEAST, us / loop_us) for name, us in sorted(costs_us.items())}
    found = {
        "loop_us": loop_us,
        "flop_us": flop_us,
        "byte_us": cached_us,
        "memory_us": max(cached_us, memory_us),
    }
    return found, functions


def _ufuncs() -> Iterator[tuple[str, Any]]:
    for name in DEFAULTS.functions:
        ufunc = getattr(np, name, None)
        if isinstance(ufunc, np.ufunc):
            yield name, ufunc


def _arrays(ufunc: Any, size: int) -> list[Any]:
    """Arguments in single precision, and the result."""
    rng = np.random.default_rng(0)
    least = 1.25 if ufunc is np.arccosh else 0.25
    arrays = [(rng.random(size) * 0.5 + least).astype(np.float32) for _ in range(ufunc.nin)]
    return [*arrays, ufunc(*arrays)]


def _moved_bytes(ufunc: Any) -> int:
    return sum(array.itemsize for array in _arrays(ufunc, 1))


def _element_us(ufunc: Any, size: int) -> float:
    times = []
    for count in (_FEW, size):
        *given, out = _arrays(ufunc, count)
        times.append(least_us(partial(ufunc, *given, out=out)))
    return max(times[1] - times[0], 1e-6) / (size - _FEW)


def _flop_us() -> float:
    rng = np.random.default_rng(0)
    a, b = (rng.random((256, 256)).astype(np.float32) for _ in range(2))
    return least_us(partial(np.matmul, a, b, out=np.empty_like(a))) / (2 * 256**3)
