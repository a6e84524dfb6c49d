"""Tiles that leave out columns of which a mask drops all: the numbers of the whole."""

from __future__ import annotations

import numpy as np
import pytest

from operad.context import cpu
from operad.operator import OpContext
from operad_sdk.programs import seen, tiles
from operad_sdk.programs.tiles import TiledProgram, in_tiles
from operad_sdk.vector import reason_against
from operator_sdk.sdk.tests.programs.test_programs import traced
from operator_sdk.sdk.tests.vector.guarded import guarded

pytestmark = pytest.mark.skipif(bool(reason_against()), reason="there is no vector code")

CONTEXT = OpContext(cpu(), is_train=True)
DOUBLE = np.dtype(np.float64)


@pytest.fixture(autouse=True)
def _tiles_of_few_rows(monkeypatch):
    for name, value in {"BYTES": 1, "ROWS": 2}.items():
        monkeypatch.setattr(tiles, f"_LEAST_MASKED_{name}", value)
    monkeypatch.setattr(tiles, "_LARGEST_MASKED_SHARE", 0.999)
    monkeypatch.setattr(seen, "_UNIT", 1)


def causal(rows, columns, offset):
    return np.arange(columns) <= np.arange(rows)[:, None] + offset


def window(rows, columns, offset):
    return causal(rows, columns, offset) & ~causal(rows, columns, offset - 3)


def reversed_(rows, columns, offset):
    return ~causal(rows, columns, offset - 1)


def blocks(rows, columns, offset):
    return np.arange(columns) // 3 == np.arange(rows)[:, None] // 3 + min(offset, 1)


def scattered(rows, columns, offset):
    return (np.arange(columns) * 7 + np.arange(rows)[:, None] * (5 + offset)) % 3 == 0


def tiled(function, shapes):
    """A function in tiles."""
    with np.errstate(all="ignore"):  # of the zeros that a trace is given
        return in_tiles(traced(function, shapes, DOUBLE), always=True)


MASKS = (causal, window, reversed_, blocks, scattered)


def softmax(scores, guard=-1e30):
    powers = np.exp(scores - np.maximum(scores.max(axis=-1, keepdims=True), guard))
    total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total == 0, 1, total)


class RandomMasked:
    """A function of two matrices' product under masks, the same whenever it is called."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.seed = seed
        self.rows, self.columns = (int(n) for n in rng.integers(1, 23, 2))
        self.shapes = [(2, self.rows, 3), (2, self.columns, 3), (2, self.columns, 3), (2, self.rows, 3)]

    def arrays(self):
        rng = np.random.default_rng(self.seed + 1)
        return [rng.integers(-3, 4, shape).astype(DOUBLE) for shape in self.shapes]

    def mask(self, rng):
        offset = int(rng.integers(-4, 9)) if rng.integers(2) else self.columns - self.rows
        return MASKS[int(rng.integers(len(MASKS)))](self.rows, self.columns, offset)

    def masked(self, rng, scores):
        """Scores some of which are nothing, in one of the ways of authors."""
        mask, kind = self.mask(rng), int(rng.integers(7))
        if kind == 0:
            return softmax(np.where(mask, scores, -np.inf))
        if kind == 1:
            return softmax(scores + np.where(mask, 0.0, -np.inf))
        if kind == 2:
            return np.where(~mask, 0, scores)
        if kind == 3:
            return scores * mask
        if kind == 4:
            return np.exp(np.where(mask, scores, -np.inf)) * np.where(self.mask(rng), 1.0, 0.0)
        if kind == 5:
            return np.where(mask, scores, -np.inf).max(axis=-1, keepdims=True) - scores * mask
        return np.where(mask, scores, 1)  # of which nothing can be left out

    def elements(self, rng, x, other):
        kind = int(rng.integers(9))
        every = (
            lambda: x * other, lambda: np.maximum(x, 0), lambda: x + 1, lambda: -x, lambda: np.tanh(x),
            lambda: x - (x * other).sum(axis=-1, keepdims=True), lambda: np.where(x > 0, x, other),
            lambda: x / 2, lambda: x * x,
        )  # fmt: skip
        return every[kind]()

    def __call__(self, query, key, value, grad):
        rng = np.random.default_rng(self.seed + 2)
        scores, slopes = query @ key.swapaxes(-1, -2), grad @ value.swapaxes(-1, -2)
        x = self.masked(rng, scores)
        y = x
        for _ in range(int(rng.integers(0, 4))):
            y = self.elements(rng, y, slopes if rng.integers(2) else x)
        every = [
            x @ value, y @ key, y.swapaxes(-1, -2) @ query, x.swapaxes(-1, -2) @ grad, y, y.sum(axis=-2),
            y.max(axis=-1), y.min(axis=-1), y.sum(axis=-1),
        ]  # fmt: skip
        chosen = rng.permutation(len(every))[: int(rng.integers(1, 4))]
        return [every[int(i)] for i in chosen]


BATCHES, OF_A_BATCH = 12, 40


@pytest.mark.more
@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_masked_programs_compute_what_the_functions_do(batch, drawn_seed):
    num_left_out = 0
    for number in range(OF_A_BATCH):
        function = RandomMasked(drawn_seed * 1000 + batch * OF_A_BATCH + number)
        with np.errstate(all="ignore"):
            expected = [np.asarray(one) for one in function(*function.arrays())]
        made = tiled(function, function.shapes)
        if made is None:
            continue
        num_left_out += "of the columns" in made.explained()
        wanted = tuple(range(len(expected)))
        for some in {wanted, wanted[-1:]}:
            targets = [guarded(expected[i].shape, expected[i].dtype) for i in some]
            with np.errstate(all="ignore"):
                made.run(CONTEXT, function.arrays(), some, targets)
            for i, target in zip(some, targets, strict=True):
                message = str((function.seed, i))
                np.testing.assert_allclose(target, expected[i], rtol=1e-9, atol=1e-9, err_msg=message)
    assert num_left_out


def attention(mask, guard=-1e30):
    def function(query, key, value, grad):
        scores = query @ key.swapaxes(-1, -2)
        shares = softmax(np.where(mask, scores, -np.inf), guard)
        slope = grad @ value.swapaxes(-1, -2)
        slope = shares * (slope - (slope * shares).sum(axis=-1, keepdims=True))
        return [shares @ value, slope @ key, slope.swapaxes(-1, -2) @ query, slope]

    return function


def left_out(function, rows, columns):
    """The tiles of a function, with arrays."""
    shapes = [(2, rows, 3), (2, columns, 3), (2, columns, 3), (2, rows, 3)]
    rng = np.random.default_rng(0)
    return tiled(function, shapes), [rng.normal(size=one) for one in shapes]


def run(made, arrays):
    targets = [guarded(*spec) for spec in made.specs]
    made.run(CONTEXT, arrays, tuple(range(len(targets))), targets)
    return targets


@pytest.mark.parametrize(
    ("rows", "columns", "offset"), [(8, 8, 0), (9, 17, 8), (17, 9, -8), (7, 7, 3), (5, 23, 18)]
)
def test_half_of_causal_attention_is_left_out_whatever_the_lengths(rows, columns, offset):
    function = attention(causal(rows, columns, offset))
    made, arrays = left_out(function, rows, columns)
    assert isinstance(made, TiledProgram)
    assert "of the columns" in made.explained()
    for target, expected in zip(run(made, arrays), function(*arrays), strict=True):
        np.testing.assert_allclose(target, expected, rtol=1e-12, atol=1e-12)


def test_one_query_sees_every_key():
    assert left_out(attention(causal(1, 9, 8)), 1, 9)[0] is None


def test_keys_that_no_query_of_a_tile_sees_are_not_read():
    """Their numbers are nothing to a query, be they finite or not."""
    made, (query, key, value, grad) = left_out(attention(causal(8, 8, 0)), 8, 8)
    key[:, -1] = value[:, -1] = np.nan
    assert np.isfinite(run(made, [query, key, value, grad])[0][:, :6]).all()


def no_number(x):
    """Three where the row has nothing from which its maximum could be."""
    centred = x - x.max(axis=-1, keepdims=True)
    return np.exp(np.where(np.isnan(centred), 3, centred)).sum(axis=-1)


NEED_EVERY_COLUMN = {
    "prefixes": lambda x, *_: np.cumsum(x, axis=-1).max(axis=-1),
    "infinite": lambda x, *_: x.sum(axis=-1),
    "minimum": lambda x, *_: x.min(axis=-1),
    "powers": lambda x, *_: np.exp(-x).max(axis=-1),
    "order": lambda x, *_: np.sort(x, axis=-1)[..., 0],
    "count": lambda x, *_: np.where(np.isinf(x), 1, 0).sum(axis=-1),
    "pole": lambda x, *_: (1 / np.where(x > -9, x, 0)).max(axis=-1),
    "zeros of both signs": lambda _, zeros, __: (1 / zeros).min(axis=-1),
    "quotient": lambda _, zeros, slope: (slope / zeros).sum(axis=-1),
    "difference": lambda x, _, slope: (slope - x).max(axis=-1),
    "choice": lambda _, zeros, slope: np.where(slope > 0, zeros, 1).sum(axis=-1),
    "other choice": lambda _, zeros, slope: np.where(slope > 0, 1, zeros).sum(axis=-1),
    "no number": lambda x, *_: no_number(x),
    "vector": lambda _, zeros, __: (zeros + 1) @ np.arange(1.0, 9.0),
}


@pytest.mark.parametrize("name", NEED_EVERY_COLUMN)
def test_what_needs_every_column_leaves_none_out(name):
    mask = causal(8, 8, -2)

    def function(query, key, value, grad):
        scores = query @ key.swapaxes(-1, -2)
        given = np.where(mask, scores, -np.inf), scores * mask, grad @ value.swapaxes(-1, -2)
        return [NEED_EVERY_COLUMN[name](*given)]

    made, _ = left_out(function, 8, 8)
    assert made is None or "of the columns" not in made.explained()
