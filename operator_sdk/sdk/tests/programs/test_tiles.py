"""Programs that are walked in tiles: the same numbers, in a small part of the memory."""

from __future__ import annotations

import numpy as np
import pytest

from core.tests.memory import peak_bytes
from operad import storage
from operad.context import cpu
from operad.operator import KernelCall, OpContext
from operad_sdk import OperatorProperty, operator
from operad_sdk.programs import program as room
from operad_sdk.programs import tiles
from operad_sdk.programs.operator import program_of
from operad_sdk.programs.tiles import TiledProgram, in_tiles
from operad_sdk.vector import reason_against
from operator_sdk.sdk.tests.programs.random_programs import RandomFunction
from operator_sdk.sdk.tests.programs.test_programs import traced
from operator_sdk.sdk.tests.vector.guarded import guarded

pytestmark = pytest.mark.skipif(bool(reason_against()), reason="there is no vector code")

CONTEXT = OpContext(cpu(), is_train=True)
SINGLE = np.dtype(np.float32)


@operator("tiled_attention")
class Limited(OperatorProperty):
    """Attention whose scores are limited and prefer what is near."""

    spec = "query:(B, H, T, D), key:(B, H, T, D), value:(B, H, T, D) -> output:(B, H, T, D); T >= 1, D >= 1"
    accepts = "floating"

    def shares(query, key):
        length, width = query.shape[-2:]
        bounded = np.tanh(query @ key.swapaxes(-1, -2) / width**0.5)
        places = np.arange(length)
        logits = bounded * 4 - np.abs(places - places[:, None]).astype(query.dtype) / 8
        logits = np.where(np.tri(length, dtype=bool), logits, -np.inf)
        powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
        return powers / powers.sum(axis=-1, keepdims=True), bounded

    def forward(query, key, value):
        return Limited.shares(query, key)[0] @ value

    def backward(output_grad, query, key, value):
        shares, bounded = Limited.shares(query, key)
        slope = output_grad @ value.swapaxes(-1, -2)
        slope = shares * (slope - (slope * shares).sum(axis=-1, keepdims=True))
        slope = slope * (1 - bounded * bounded) * (4 / query.shape[-1] ** 0.5)
        return slope @ key, slope.swapaxes(-1, -2) @ query, shares.swapaxes(-1, -2) @ output_grad


FORWARD, GRADIENTS = ("forward",), ("query_grad", "key_grad", "value_grad")


def call(length: int, heads: int = 8, width: int = 64) -> KernelCall:
    return KernelCall(Limited(), cpu(), [(1, heads, length, width)] * 3, [SINGLE] * 3)


def computed(made, arrays):
    targets = [guarded(*spec) for spec in made.specs]
    made.run(CONTEXT, arrays, tuple(range(len(targets))), targets)
    return targets


@pytest.mark.parametrize("parts", [FORWARD, GRADIENTS])
def test_attention_that_an_author_writes_takes_a_tenth_of_the_memory(parts, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(tiles, "_LEAST_BYTES", 1 << 60)
        patch.setattr(tiles, "_LEAST_MASKED_BYTES", 1 << 60)
        whole = program_of(call(2048), parts, is_train=True).program.size_bytes
    found = program_of(call(2048), parts, is_train=False).program
    assert isinstance(found, TiledProgram)
    assert found.size_bytes * 10 <= whole
    assert whole >= 2048 * 2048 * 8 * 4


@pytest.mark.parametrize("parts", [FORWARD, GRADIENTS])
@pytest.mark.parametrize("length", [96, 97, 130])
def test_tiles_compute_what_the_whole_does(parts, length, monkeypatch):
    whole = program_of(call(length, heads=3, width=8), parts, is_train=True).program
    monkeypatch.setattr(tiles, "_LEAST_BYTES", 1)
    monkeypatch.setattr(tiles, "_TILE_BYTES", 1)
    found = program_of(call(length, heads=3, width=8), parts, is_train=False).program
    assert "tiles of 1: in tiles of 32" in found.explained()
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=node.value.shape).astype(SINGLE) for node in whole.inputs]
    for tiled, expected in zip(computed(found, arrays), computed(whole, arrays), strict=True):
        np.testing.assert_allclose(tiled, expected, rtol=1e-4, atol=1e-5)


def test_a_run_takes_no_more_memory_than_it_says(monkeypatch):
    made = program_of(call(1024), FORWARD, is_train=True).program
    arrays, target = [np.ones((1, 8, 1024, 64), SINGLE)] * 3, np.empty((1, 8, 1024, 64), SINGLE)
    made.run(CONTEXT, arrays, (0,), [target])  # imports and layouts
    pool, taken = storage.get(), []

    class Watched:
        def alloc(self, size_bytes, ctx):
            taken.append(size_bytes)
            return pool.alloc(size_bytes, ctx)

        free = staticmethod(pool.free)

    monkeypatch.setattr(room.storage, "get", Watched)
    peak = peak_bytes(lambda: made.run(CONTEXT, arrays, (0,), [target]))
    assert max(taken) > 1 << 19
    assert sum(taken) + peak <= made.size_bytes + (1 << 18)


BATCHES = 12
FAST_BATCHES = 3
OF_A_BATCH = 25


@pytest.mark.parametrize(
    "batch", [pytest.param(i, marks=pytest.mark.more if i >= FAST_BATCHES else ()) for i in range(BATCHES)]
)
def test_random_programs_in_tiles_compute_what_the_functions_do(batch, drawn_seed, monkeypatch):
    for name, value in {"LEAST_BYTES": 1, "TILE_BYTES": 1, "LEAST_ROWS": 1, "LARGEST_SHARE": 1e9}.items():
        monkeypatch.setattr(tiles, f"_{name}", value)
    num_tiled = 0
    for number in range(OF_A_BATCH):
        function = RandomFunction(drawn_seed * 1000 + batch * OF_A_BATCH + number)
        whole = traced(function, function.shapes, function.dtype)
        made = in_tiles(whole, always=True)
        if made is None:
            continue
        num_tiled += 1
        expected = [np.asarray(one) for one in function(*function.arrays())]
        wanted = tuple(range(len(expected)))
        for some in {wanted, wanted[:1], wanted[-1:]}:
            targets = [guarded(expected[i].shape, expected[i].dtype) for i in some]
            made.run(CONTEXT, function.arrays(), some, targets)
            for i, target in zip(some, targets, strict=True):
                np.testing.assert_array_equal(target, expected[i], str((function.seed, i)))
    assert num_tiled


def test_what_reads_a_sum_over_rows_is_not_walked_along_them(monkeypatch):
    for name, value in {"LEAST_BYTES": 1, "TILE_BYTES": 1, "LEAST_ROWS": 1, "LARGEST_SHARE": 1e9}.items():
        monkeypatch.setattr(tiles, f"_{name}", value)

    def function(x, w):
        scores = x @ w
        centred = scores - scores.sum(axis=0, keepdims=True)
        return [centred @ w.T, np.maximum(centred, 0).sum(axis=1)]

    rng = np.random.default_rng(0)
    arrays = [rng.integers(-4, 5, shape).astype(SINGLE) for shape in ((6, 5), (5, 7))]
    made = in_tiles(traced(function, [(6, 5), (5, 7)], SINGLE), always=True)
    assert made is not None
    for found, expected in zip(computed(made, arrays), function(*arrays), strict=True):
        np.testing.assert_array_equal(found, expected)
