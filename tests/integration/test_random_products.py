"""Products have the same bits with 1, 2 and 3 threads, whatever else runs, in operators of all plugins."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence

import numpy as np
import pytest

from tools.workspace import ROOT

FEW, MANY, AT_ONCE = 3, 2000, 100
KNOWN = [1028, 1035]
"""Programs whose bits depended on BLAS's threads."""
SPINNING = "while True: pass"


Found = dict[str, tuple[dict[str, str], list[str]]]
"""By seed, arrays and choices of a program."""


def found(seeds: Sequence[int], vector: str) -> list[Found]:
    """Arrays of programs with 1, 2 and 3 threads: three processes that disturb each other, and a busy one."""
    words = [sys.executable, "-m", "tests.integration.random_products", *map(str, seeds)]
    settings = {**os.environ, "OPERAD_VECTOR": vector, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, "-c", SPINNING]) as busy:
        try:
            runs = [
                subprocess.Popen(
                    words, env={**settings, "OPERAD_NUM_THREADS": threads}, stdout=subprocess.PIPE, text=True
                )
                for threads in ("1", "2", "3")
            ]
            texts = [run.communicate()[0] for run in runs]
        finally:
            busy.kill()
    assert [run.returncode for run in runs] == [0, 0, 0]
    return [
        {seed: program for line in text.splitlines() for seed, program in json.loads(line).items()}
        for text in texts
    ]


def compare(seeds: Sequence[int], vector: str) -> int:
    one, two, three = found(seeds, vector)
    for seed, (arrays, choices) in one.items():
        others = two[seed], three[seed]
        differing = [name for name in arrays if {arrays[name]} != {other[0][name] for other in others}]
        assert not differing, (seed, vector, choices, [other[1] for other in others])
    return len(one)


@pytest.mark.more  # operators' own tests share products among threads, and compare bits
@pytest.mark.parametrize("vector", ["on", "off"])
def test_one_answer_for_any_number_of_threads(vector: str, drawn_seed: int) -> None:
    assert compare([*KNOWN, *range(drawn_seed, drawn_seed + FEW)], vector) == FEW + len(KNOWN)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("chunk", range(MANY // AT_ONCE))
def test_one_answer_for_any_number_of_threads_in_many_programs(chunk: int, drawn_seed: int) -> None:
    vector = ("on", "off")[chunk % 2]
    assert compare(range(drawn_seed, drawn_seed + AT_ONCE), vector) == AT_ONCE


SMALL_PRODUCTS = """
import sys
import numpy as np, threadpoolctl
from operad.op.cost import BLAS_FLOPS, MULTIPLIED_SIZE

rng = np.random.default_rng(int(sys.argv[1]))


def few_operations():
    sizes = 2 ** (rng.dirichlet(np.ones(3)) * rng.uniform(8, np.log2(BLAS_FLOPS) - 1))
    return np.maximum(sizes.astype(int), 1)


def few_elements():
    # as long a third axis as all arrays together allow
    first = int(2 ** rng.uniform(0, 12))
    second = int(2 ** rng.uniform(0, np.log2(MULTIPLIED_SIZE / (first + 1) - 1)))
    third = (MULTIPLIED_SIZE - 1 - first * second) // (first + second)
    sizes = rng.permutation([first, second, third])
    assert sizes.min() > 0 and size(*sizes) < MULTIPLIED_SIZE
    return sizes


def size(m, k, n):
    return m * k + k * n + m * n


for number in range(300):
    rows, inner, columns = few_elements() if number % 4 > 1 else few_operations()
    left, right = rng.standard_normal((rows, inner)), rng.standard_normal((columns, inner)).T
    if number % 2:
        left, right = left.astype("f"), right.astype("f")
    pairs = [(left, right), (left.T.copy().T, right.copy())]
    pairs += [(m, m.T) for m in (left, left.T) if size(*m.shape, m.shape[0]) < MULTIPLIED_SIZE]
    for a, b in pairs:
        found = set()
        for threads in (1, 2, 3):
            with threadpoolctl.threadpool_limits(threads):
                found.add((a @ b).tobytes())
        assert len(found) == 1, (rows, inner, columns)
"""


def test_blas_computes_small_products_with_one_thread_by_itself(drawn_seed: int) -> None:
    """So they need no limit; see `BLAS_FLOPS` and `product_cost` in `operad.op.cost`."""
    subprocess.run([sys.executable, "-c", SMALL_PRODUCTS, str(drawn_seed)], check=True)


def test_products_do_not_depend_on_where_arrays_begin(drawn_seed: int) -> None:
    rng = np.random.default_rng(drawn_seed)
    for _ in range(30):
        rows, inner, columns = map(int, 2 ** rng.uniform(1, 9, 3))
        values = rng.standard_normal((rows, inner)), rng.standard_normal((inner, columns))
        results = set()
        for offset in (0, 1, 3, 4, 7, 15):
            moved = []
            for array in values:
                memory = np.empty(array.size + offset, "float32")[offset:].reshape(array.shape)
                memory[...] = array
                moved.append(memory)
            results.add((moved[0] @ moved[1]).tobytes())
        assert len(results) == 1, (rows, inner, columns)
