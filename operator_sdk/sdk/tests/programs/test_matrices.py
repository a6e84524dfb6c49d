"""Programs that are computed matrix by matrix: the numbers of the functions, wherever matrices lie."""

from __future__ import annotations

import numpy as np
import pytest

from operad.context import cpu
from operad.operator import OpContext
from operad_sdk.programs import matrices, seen, tiles
from operad_sdk.programs.matrices import MatrixProgram
from operad_sdk.programs.tiles import TiledProgram, in_tiles
from operad_sdk.vector import reason_against
from operator_sdk.sdk.tests.programs.test_programs import traced
from operator_sdk.sdk.tests.vector.guarded import guarded
from operator_sdk.sdk.tests.vector.test_steps import Inside

pytestmark = pytest.mark.skipif(bool(reason_against()), reason="there is no vector code")

SINGLE = np.dtype(np.float32)
UNTOUCHED = 77.0
"""What stands around results that are parts of a larger array."""


class RandomStack:
    """A random function of stacks of matrices, on whole numbers, which every order of sums gives exactly."""

    def __init__(self, seed: int) -> None:
        rng = self.rng = np.random.default_rng(seed)
        batch, heads, rows, columns, inner, width = (
            int(n) for n in rng.integers([1, 2, 8, 8, 2, 8], [4, 4, 40, 40, 9, 24])
        )
        self.shapes = [
            (batch, heads, rows, inner),
            (batch, heads, columns, inner),
            (batch, heads, columns, width),
        ]
        offsets = np.arange(columns) - np.arange(rows)[:, None] - int(rng.integers(-8, 8))
        self.mask = [offsets <= 0, abs(offsets) < 6, np.ones((rows, columns), bool)][seed % 3]
        self.wanted = [rng.random() < share for share in (1, 0.5, 0.5, 0.3)]
        self.is_shifted = rng.random() < 0.5

    def __call__(self, query, key, value):
        scores = np.where(self.mask, query @ key.swapaxes(-1, -2), 0)
        if self.is_shifted:
            scores = scores * 2 - np.maximum(scores.max(axis=-1, keepdims=True), 0)
            scores = np.where(self.mask, scores, 0)
        shares = np.maximum(scores, 0)
        found = shares @ value
        every = [found, shares.swapaxes(-1, -2) @ query, scores.swapaxes(-1, -2) @ found, shares]
        return [one for one, wanted in zip(every, self.wanted, strict=True) if wanted]

    def arrays(self):
        return [self.rng.integers(-2, 3, shape).astype(SINGLE) for shape in self.shapes]


def as_columns(array):
    """The same numbers, each matrix of axis 1 columns of one larger matrix per element of axis 0."""
    batch, heads, rows, width = array.shape
    whole = np.full((batch, rows, 2 * heads + 1, width), UNTOUCHED, array.dtype)
    part = whole[:, :, 1::2].transpose(0, 2, 1, 3)
    part[...] = array
    return whole, part


@pytest.fixture
def small(monkeypatch):
    """Small stacks are computed matrix by matrix; gives the runs that were."""
    monkeypatch.setattr(matrices, "_LEAST_BYTES", 1)
    monkeypatch.setattr(matrices, "reason_for_blas", lambda *_: None)
    monkeypatch.setattr(seen, "_UNIT", 4)
    for name, value in {"LEAST_MASKED_BYTES": 1, "LEAST_MASKED_ROWS": 4}.items():
        monkeypatch.setattr(tiles, f"_{name}", value)
    runs, run = [], matrices.run_matrices

    def noted(*given):
        runs.append(run(*given))
        return runs[-1]

    for module in (matrices, tiles):
        monkeypatch.setattr(module, "run_matrices", noted)
    return runs


BATCHES, OF_A_BATCH = 6, 10


@pytest.mark.more
@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_stacks_have_the_numbers_of_their_functions(batch, drawn_seed, small):
    for number in range(OF_A_BATCH):
        function = RandomStack(drawn_seed * 1000 + batch * OF_A_BATCH + number)
        made = in_tiles(traced(function, function.shapes, SINGLE), always=True, is_tile=True)
        assert made is not None
        arrays = function.arrays()
        expected = function(*arrays)
        wanted = tuple(range(len(expected)))
        for some, threads in ((wanted, 1), (wanted[:1], 2), (wanted[-1:], 1), (wanted[-1:], 99), (wanted, 3)):
            context = Inside(threads)
            targets = [guarded(expected[i].shape, SINGLE) for i in some]
            made.run(context, arrays, some, targets)
            wholes, parts = zip(*[as_columns(expected[i] * 0 + 5) for i in some], strict=True)
            given = [as_columns(array)[1] for array in arrays]
            made.run(context, given, some, parts)
            for i, target, whole, part in zip(some, targets, wholes, parts, strict=True):
                np.testing.assert_array_equal(target, expected[i], str(function.shapes))
                np.testing.assert_array_equal(part, expected[i], str(function.shapes))
                part[...] = UNTOUCHED
                assert (whole == UNTOUCHED).all()
    assert sum(small) > 3 * OF_A_BATCH


def test_tiles_of_all_matrices_add_to_their_sums_in_place(small):
    def function(query, key):
        shares = np.where(np.tri(32, dtype=bool), query @ key.swapaxes(-1, -2), 0)
        return [shares @ key, shares.swapaxes(-1, -2) @ query]

    made = in_tiles(traced(function, [(2, 3, 32, 8)] * 2, SINGLE), always=True, is_tile=True)
    assert isinstance(made, TiledProgram)
    arrays = [np.random.default_rng(i).integers(-2, 3, (2, 3, 32, 8)).astype(SINGLE) for i in (0, 1)]
    targets = [as_columns(np.full((2, 3, 32, 8), 5, SINGLE))[1] for _ in range(2)]
    made.run(OpContext(cpu(), is_train=True), arrays, (0, 1), targets)
    for target, expected in zip(targets, function(*arrays), strict=True):
        np.testing.assert_array_equal(target, expected)
    assert small == [True]


def test_arrays_that_are_one_are_read_as_several(small):
    def function(query, key):
        return [np.maximum(query @ key.swapaxes(-1, -2), 0) @ key]

    made = in_tiles(traced(function, [(2, 3, 16, 8)] * 2, SINGLE), always=True, is_tile=True)
    context = OpContext(cpu(), is_train=True)
    one, other = (np.random.default_rng(i).integers(-2, 3, (2, 3, 16, 8)).astype(SINGLE) for i in (0, 1))
    for arrays in ([one, other], [one, one], [other, one], [other, other]):
        target = guarded((2, 3, 16, 8), SINGLE)
        made.run(context, arrays, (0,), [target])
        np.testing.assert_array_equal(target, function(*arrays)[0])
    assert small == [True] * 4


def test_a_sum_over_matrices_stays_whole(small):
    def function(query, key):
        shares = np.maximum(query @ key.swapaxes(-1, -2), 0)
        return [shares @ key, shares.sum(axis=(0, 1))]

    made = in_tiles(traced(function, [(2, 3, 16, 8)] * 2, SINGLE), always=True, is_tile=True)
    assert not isinstance(made, MatrixProgram)
