"""`take` and `Embedding`: what they read, and how their gradients are added up."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import operad as od
from core.tests.memory import peak_bytes
from operad import storage
from operad.errors import OperadError, ShapeError
from operad_check.testing import check_forward, gradient_check
from operad_indexing import accumulate
from operad_indexing.lookup import Embedding, take
from operad_sdk.sums import ADDED_IN_A_ROW

RNG = np.random.default_rng(71)


@pytest.mark.walk
@pytest.mark.parametrize("mode", ["clip", "wrap"])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", ["float16", "float32", "int64", "bool"])
def test_take_is_numpys(mode: str, axis: int, dtype: str) -> None:
    a = RNG.integers(0, 9, (3, 4, 5)).astype(dtype)
    indices = RNG.integers(-12, 12, (2, 3))
    check_forward(take, [a, indices], np.take(a, indices, axis, mode=mode), axis=axis, mode=mode)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_an_element_that_is_taken_often_gets_the_sum(axis: int) -> None:
    a, indices = RNG.normal(size=(3, 4, 5)), np.array([[0.0, 2.9], [2.0, 2.0]])
    gradient_check(take, [a, indices], axis=axis)


def test_taking_what_is_out_of_range_raises_where_that_is_asked_for() -> None:
    a = od.nd.array([1, 2, 3])
    for indices in ([3], [-1]):
        with pytest.raises(OperadError, match="expected 0 to 2, the length of axis 0 less one"):
            od.nd.take(a, od.nd.array(indices), mode="raise").asnumpy()
    assert od.nd.take(a, od.nd.array([2, 0]), mode="raise").asnumpy().tolist() == [3, 1]


def test_nothing_can_be_taken_from_an_axis_of_nothing() -> None:
    with pytest.raises(ShapeError, match="axis 1 of a, of shape"):
        take(axis=1).infer_shape([(2, 0), (3,)])
    assert take(axis=1).infer_shape([(2, 0), (0,)])[1] == [(2, 0)]


def test_an_embedding_infers_its_table_and_its_type() -> None:
    words = od.sym.Embedding(od.sym.var("data"), input_dim=5, output_dim=3, dtype="float16", name="words")
    assert words.infer_shape(data=(2, 4))[:2] == ([(2, 4), (5, 3)], [(2, 4, 3)])
    assert words.infer_type(data="int32")[1] == [np.float16]


@pytest.mark.walk
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("count", [0, 1, 7, 3000])
@pytest.mark.parametrize("width", [1, 33])
def test_rows_are_added_one_after_another(dtype: str, count: int, width: int) -> None:
    table, rows = RNG.normal(size=(9, width)).astype(dtype), RNG.normal(size=(count, width)).astype(dtype)
    places = RNG.integers(0, 9, count)
    wide = {"float16": np.float32, "float32": np.float32, "float64": np.float64}[dtype]
    wide = np.float64 if count > 9 * ADDED_IN_A_ROW else wide
    expected = table.astype(wide)
    for place, row in zip(places, rows.astype(wide), strict=True):
        expected[place] += row
    accumulate.add_rows(np, table, places, rows)
    np.testing.assert_array_equal(table, expected.astype(dtype))


@pytest.mark.parametrize("size", [3, 200_000])
@pytest.mark.parametrize("by_loop", [False, True])
def test_what_many_rows_are_added_to_is_rounded_once(size: int, by_loop: bool) -> None:
    if by_loop:
        pytest.importorskip("numba", reason="needs numba: pip install operad-sdk[fast]")
    for value in (0.1, 1 / 3, 1.9999):
        table, rows = np.zeros((size, 2), np.float32), np.full((100_000, 2), value, np.float32)
        accumulate.add_rows(np, table, np.full(len(rows), 2), rows, by_loop=by_loop)
        np.testing.assert_allclose(table[2], rows[0].astype(np.float64) * len(rows), rtol=6e-8)


@pytest.mark.parametrize("rows", [1, 7, 1 << 40])
def test_both_ways_count_alike_how_often_one_row_is_named(rows) -> None:
    pytest.importorskip("numba", reason="needs numba: pip install operad-sdk[fast]")
    positions = np.random.default_rng(rows).integers(0, rows, 777)[::3]
    found = [accumulate._most_named(positions, by_loop) for by_loop in (False, True)]
    assert found[0] == found[1] >= np.unique(positions, return_counts=True)[1].max()


def test_compiled_code_adds_bit_for_bit_as_numpy_does() -> None:
    pytest.importorskip("numba", reason="needs numba: pip install operad-sdk[fast]")
    rows, places = RNG.normal(size=(1 << 12, 16)).astype(np.float32), RNG.integers(0, 50, 1 << 12)
    found = []
    for by_loop in (False, True):
        table = np.zeros((50, 16), np.float32)
        accumulate.add_rows(np, table, places, rows, by_loop=by_loop)
        found.append(table)
    np.testing.assert_array_equal(*found)


def test_pairs_add_up_to_the_same_as_rows_in_turn() -> None:
    for dtype in ("float16", "float64"):
        rows, places = RNG.integers(-8, 8, (500, 3)).astype(dtype), RNG.integers(0, 6, 500)
        table, expected = np.ones((6, 3), dtype), np.ones((6, 3), dtype)
        np.add.at(expected, places, rows)  # integers: every order gives the same
        accumulate._add_in_pairs(np, table, places, rows)
        np.testing.assert_array_equal(table, expected)


def test_half_precision_is_added_in_single() -> None:
    table = np.array([[2048]], np.float16)
    accumulate.add_rows(np, table, np.zeros(4, np.int64), np.ones((4, 1), np.float16))
    assert table.item() == 2052  # in half precision 2048 + 1 is 2048


PROGRAM = """
import hashlib
import numpy as np
import operad as od

rng = np.random.default_rng(5)
indices, head = rng.integers(0, 100, 5000), rng.normal(size=(5000, 24))
weight = od.nd.zeros((100, 24))
weight.attach_grad("add")
for _ in range(2):
    with od.autograd.record():
        found = od.nd.Embedding(od.nd.array(indices), weight, input_dim=100, output_dim=24)
    found.backward(od.nd.array(head))
print(hashlib.sha256(weight.grad.asnumpy().tobytes()).hexdigest())
"""


def test_gradients_have_the_same_bits_with_every_engine_and_number_of_threads() -> None:
    found = set()
    for chosen, threads in (("naive", "1"), ("threaded", "4")):
        environment = {**os.environ, "OPERAD_ENGINE": chosen, "OPERAD_NUM_THREADS": threads}
        command = [sys.executable, "-c", PROGRAM]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        found.add(done.stdout)
    assert len(found) == 1


ROWS, WIDTH, COUNT = 1_000_000, 16, 256


@pytest.mark.more
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_adding_a_gradient_takes_no_memory_that_grows_with_the_table(dtype: str) -> None:
    indices = od.nd.array(RNG.integers(0, ROWS, COUNT), dtype="int64")
    weight = od.nd.ones((ROWS, WIDTH), dtype=dtype)
    grad = od.nd.ones((ROWS, WIDTH), dtype=dtype)
    head = od.nd.ones((COUNT, WIDTH), dtype=dtype)
    words = od.sym.Embedding(
        od.sym.var("data"), od.sym.var("weight"), input_dim=ROWS, output_dim=WIDTH, dtype=dtype
    )
    arrays = {"data": indices, "weight": weight}
    executor = words.bind(od.cpu(), arrays, args_grad={"weight": grad}, grad_req="add")

    def step() -> None:
        executor.forward(is_train=True)
        executor.backward(head)
        od.nd.waitall()

    step()
    table_bytes = ROWS * WIDTH * np.dtype(dtype).itemsize
    before, peak = storage.get().stats(od.cpu()), peak_bytes(step)
    assert peak < table_bytes / 20
    assert storage.get().stats(od.cpu()).in_use_bytes <= before.in_use_bytes
    counts = np.bincount(indices.asnumpy(), minlength=ROWS)
    np.testing.assert_array_equal(grad.asnumpy(), (1 + 2 * counts)[:, None] * np.ones((1, WIDTH)))


def test_only_named_rows_are_touched() -> None:
    table = np.full((1000, 4), np.nan, np.float32)
    table[[3, 5]] = 0
    accumulate.add_rows(np, table, np.array([5, 3, 5]), np.ones((3, 4), np.float32))
    assert table[[3, 5], 0].tolist() == [1, 2]


def test_embedding_of_a_wrong_table_is_refused() -> None:
    with pytest.raises(ShapeError, match="weight has shape"):
        Embedding(input_dim=4, output_dim=3).infer_shape([(2,), (4, 2)])
