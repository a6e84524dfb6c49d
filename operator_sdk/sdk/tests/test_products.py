from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from operad_sdk.products import divided_product, product

RNG = np.random.default_rng(61)


class Run:
    """A run with so many threads, which computes parts in any order, and knows how many there were."""

    def __init__(self, num_threads: int) -> None:
        self.num_threads = num_threads
        self.counts: list[int] = []

    def parallel(self, function: Callable[[int, int], object], count: int, width: int) -> None:
        assert width <= self.num_threads
        self.counts.append(count)
        for part in RNG.permutation(count):
            function(int(part), 0)


def random_factors(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Matrices of any strides, and a target of NaN that is contiguous, turned, of another shape or a part."""
    rng = np.random.default_rng(seed)
    lead = [(), (), (1,), (3,), (9,), (2, 5), (0,), (1, 4)][int(rng.integers(8))]
    rows, inner, columns = (int(rng.choice([0, 1, 17, 64, 131, 300])) for _ in range(3))
    left, right = rng.standard_normal((*lead, rows, inner)), rng.standard_normal((*lead, inner, columns))
    if rng.integers(2):
        left = np.ascontiguousarray(left.swapaxes(-1, -2)).swapaxes(-1, -2)
    if rng.integers(2):
        right = np.repeat(right, 2, axis=-1)[..., ::2]
    out = [
        np.full((*lead, rows, columns), np.nan),
        np.full((*lead, columns, rows), np.nan).swapaxes(-1, -2),
        np.full((*lead, rows * columns), np.nan),
        np.full((*lead, rows, columns, 2), np.nan)[..., 0],
        np.full((columns, rows, *lead), np.nan).transpose().reshape(-1, order="A")[::1],
        np.full((*lead, rows * columns, 2), np.nan)[..., 1],
    ][int(rng.integers(6))]
    return left, right, out


@pytest.mark.walk
@pytest.mark.parametrize("seed", range(80))
def test_parts_make_up_the_product(seed: int) -> None:
    left, right, out = random_factors(seed)
    expected = np.einsum("...nk,...km->...nm", left, right)
    for compute in (lambda *args: product(*args), lambda *args: divided_product(Run(2), *args)):
        for scale in (1.0, -0.5, 0.0):
            out[...] = np.nan
            compute(left, right, out, scale)
            np.testing.assert_allclose(out, scale * expected.reshape(out.shape), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("left", "right", "count"),
    [
        ((400, 8), (8, 60), 4),
        ((60, 8), (8, 400), 4),
        ((100, 8), (8, 90), 3),
        ((40, 8), (8, 40), 1),
        ((7, 30, 8), (7, 8, 30), 4),
        ((1, 300, 8), (1, 8, 30), 4),
        ((0, 3, 8), (0, 8, 3), 0),
    ],
)
def test_parts_are_cut_by_shapes_alone(left: tuple[int, ...], right: tuple[int, ...], count: int) -> None:
    a, b = RNG.standard_normal(left).astype("f"), RNG.standard_normal(right).astype("f")
    found = []
    for num_threads in (1, 2, 5):
        run, out = Run(num_threads), np.empty((*left[:-1], right[-1]), "f")
        divided_product(run, a, b, out)
        assert run.counts == [count]
        found.append(out.tobytes())
    assert len(set(found)) == 1
