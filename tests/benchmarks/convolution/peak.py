"""The most that the processor multiplies and adds: sums that never leave registers, on each thread."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import numpy as np

from operad_sdk.vector import KERNEL_PARAMETERS, LANES, NAME, Writer, loaded

SUMS: Final = 12
"""Enough for two units of four cycles' latency, and few enough for sixteen registers."""
_TIMES: Final = 1_000_000
_ROUNDS: Final = 25
_EXACT: Final = 1 << 24


def gflops(threads: int, times: int = _TIMES, rounds: int = _ROUNDS) -> float:
    """10^9 multiplications and additions of float32 a second, of all threads; the best of a few rounds.

    Raises:
        ValueError: Sums of so many ones are not exact, so nobody could tell whether they are right.
        NoVectorCodeError: There is no vector code here.
    """
    if times * SUMS > _EXACT:
        raise ValueError(
            f"peak: {SUMS} sums of {times} ones are not exact in float32; take at most {_EXACT // SUMS}"
        )
    call, ones, out = loaded(_text()), *np.ones((2, threads, LANES[4]), np.float32)
    tables = [np.array([ones[0].ctypes.data, times, row.ctypes.data]) for row in out]
    with ThreadPoolExecutor(threads) as pool:
        seconds = min(_round(pool, call, tables) for _ in range(rounds))
    assert (out == SUMS * times).all(), "the sums are wrong, so the rate would be, too"
    return 2.0 * SUMS * LANES[4] * times * threads / seconds / 1e9


def _round(
    pool: ThreadPoolExecutor, call: Callable[[int, int, int, int], None], tables: Sequence[np.ndarray]
) -> float:
    begin = time.perf_counter()
    for done in [pool.submit(call, table.ctypes.data, 0, 1, 0) for table in tables]:
        done.result()
    return time.perf_counter() - begin


def _text() -> str:
    """The kernel: each sum grows by one in each round, and in the end they are added up."""
    code = Writer(NAME, KERNEL_PARAMETERS, LANES[4])
    ones, times, out = (code.word("%table", i) for i in range(3))
    # From memory, so that the compiler does not know what it adds.
    vector, one = code.vector("float32"), code.load_vector("float32", code.pointer(ones))

    def add(_: str, sums: Sequence[str]) -> Sequence[str]:
        return [code.multiply_add("float32", one, one, value) for value in sums]

    found = code.loop("0", times, 1, [(vector, code.constant("float32", 0))] * SUMS, add)
    total = found[0]
    for value in found[1:]:
        total = code.value(f"fadd {vector} {total}, {value}")
    code.store_vector("float32", total, code.pointer(out))
    return code.module()
