"""Products of matrices by kernels in vector code."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from operad_sdk.vector import PackedMatrix, machine, pack, packed_elements, tiled_product, tiles
from operad_sdk.vector.machine import object_code
from operad_sdk.vector.product_text import BLOCK, MOST_IN_A_SUM
from operator_sdk.sdk.tests.test_products import Run
from operator_sdk.sdk.tests.vector.processors import OTHERS, run_for
from operator_sdk.sdk.tests.vector_code import require_vector_code

require_vector_code()

# Rows and columns of few different tiles, since each takes a compilation.
ROWS, COLUMNS = st.sampled_from([1, 7, 8, 13, 16, 40, 101]), st.sampled_from([1, 10, 16, 17, 31, 32, 53, 131])
LENGTHS = [BLOCK, MOST_IN_A_SUM, MOST_IN_A_SUM + 1, 2 * MOST_IN_A_SUM, 2 * MOST_IN_A_SUM + 3]
INNER = st.one_of(st.integers(1, 99), st.sampled_from(LENGTHS))
ORDERS = ("rows", "columns", "apart", "reversed", "part")
KINDS = ("float32", "float64")


def laid_out(values, order):
    """The same matrix, with its elements in memory in another way."""
    if order == "columns":
        return np.asfortranarray(values)
    if order == "apart":
        return np.repeat(np.repeat(values, 2, axis=0), 3, axis=1)[::2, ::3]
    if order == "reversed":
        return np.ascontiguousarray(values[::-1])[::-1]
    if order == "part":
        return np.pad(values, ((1, 2), (3, 1)), constant_values=np.nan)[1:-2, 3:-1]
    return np.ascontiguousarray(values)


def error_bound(left, right, bias, before):
    """Largest error that a sum of rounded products may have, and the sums that come behind it."""
    size = np.finfo(left.dtype).eps
    wide = [each.astype("longdouble") for each in (left, right)]
    magnitudes = abs(wide[0]) @ abs(wide[1])
    beside = (0 if bias is None else abs(bias)) + (0 if before is None else abs(before))
    return (left.shape[1] + 4) * size * (magnitudes + beside)


@pytest.mark.more
@given(
    rows=ROWS, inner=INNER, columns=COLUMNS, kind=st.sampled_from(KINDS),
    orders=st.tuples(*[st.sampled_from(ORDERS)] * 3),
    has_bias=st.booleans(), adds=st.booleans(), seed=st.integers(0, 99),
)  # fmt: skip
def test_products_of_any_shape_and_order_are_near_exact_ones(
    rows, inner, columns, kind, orders, has_bias, adds, seed
):
    rng = np.random.default_rng(seed)
    left, right = (
        rng.standard_normal(shape).astype(kind) * np.exp(rng.uniform(-5, 5, shape)).astype(kind)
        for shape in ((rows, inner), (inner, columns))
    )
    before = rng.standard_normal((rows, columns)).astype(kind)
    bias = rng.standard_normal(columns).astype(kind) if has_bias else None
    exact = left.astype("longdouble") @ right.astype("longdouble") + (bias if has_bias else 0) + adds * before
    bound = error_bound(left, right, bias, before if adds else None)
    target = laid_out(before.copy(), orders[2])
    given = laid_out(left, orders[0]), laid_out(right, orders[1])
    tiled_product(*given, target, bias, adds=adds)
    assert (abs(target - exact) <= bound).all()
    if orders[2] == "part":
        assert np.isnan(target.base).sum() == target.base.size - target.size
    packed = before.copy()
    PackedMatrix.of(given[1]).multiply(given[0], packed, bias, adds=adds)
    np.testing.assert_array_equal(packed, target)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("order", ["rows", "columns", "apart"])
@pytest.mark.parametrize("shape", [(1, 1), (5, 10), (17, 33), (16, 64), (70, 41), (33, 16)])
def test_packing_writes_its_own_memory_alone(shape, order, kind):
    matrix = np.random.default_rng(1).standard_normal(shape).astype(kind)
    elements = packed_elements(shape, matrix.dtype)
    memory = np.full(elements + 200, 7, kind)
    packed = memory[100:-100]
    pack(laid_out(matrix, order), packed)
    assert (memory[:100] == 7).all()
    assert (memory[-100:] == 7).all()
    left, found = np.eye(shape[0], dtype=kind), np.empty(shape, kind)
    PackedMatrix(shape, packed).multiply(left, found)
    np.testing.assert_array_equal(found, matrix)


@pytest.mark.more
@given(
    stack=st.sampled_from([(3,), (2, 2), (2, 1, 3), (1, 1)]), rows=ROWS, inner=INNER, columns=COLUMNS,
    order=st.sampled_from(["C", "F", "apart", "once"]), kind=st.sampled_from(KINDS), adds=st.booleans(),
    threads=st.integers(1, 3), seed=st.integers(0, 99),
)  # fmt: skip
def test_products_of_stacks_are_those_of_their_matrices(
    stack, rows, inner, columns, order, kind, adds, threads, seed
):
    rng = np.random.default_rng(seed)
    left = rng.standard_normal((*stack, rows, inner)).astype(kind)
    right = rng.standard_normal((*stack, inner, columns)).astype(kind)
    if order == "F":  # and heads behind rows
        left = np.moveaxis(np.ascontiguousarray(np.moveaxis(left, -2, 0)), 0, -2)
        right = np.ascontiguousarray(right.swapaxes(-1, -2)).swapaxes(-1, -2)
    elif order == "apart":  # by no one step from each matrix to the next
        left = np.repeat(left, 2, axis=0)[::2]
    elif order == "once":
        right = np.broadcast_to(right[(0,) * len(stack)], right.shape)
    before = rng.standard_normal((*stack, rows, columns)).astype(kind)
    found, expected = before.copy(), before.copy()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiles, "DIVIDED_FLOPS", 0)
        tiled_product(left, right, found, adds=adds, op_ctx=Run(threads))
    for place in np.ndindex(stack):
        tiled_product(left[place], right[place], expected[place], adds=adds)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("shape", [(0, 3, 4), (3, 0, 4), (3, 4, 0)])
def test_empty_products_are_zeros_and_the_bias(shape):
    rows, inner, columns = shape
    out, bias = np.full((rows, columns), 7, "f"), np.arange(columns, dtype="f")
    tiled_product(np.ones((rows, inner), "f"), np.ones((inner, columns), "f"), out, bias)
    np.testing.assert_array_equal(out, np.broadcast_to(bias, out.shape))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(64, 300, 200), (200, 40, 10), (13, 1500, 70)])
def test_bits_do_not_depend_on_threads_nor_on_what_is_computed_beside(shape, kind, monkeypatch):
    monkeypatch.setattr(tiles, "DIVIDED_FLOPS", 0)
    rows, inner, columns = shape
    rng = np.random.default_rng(3)
    left, right = (
        rng.standard_normal((rows, inner)).astype(kind),
        rng.standard_normal((inner, columns)).astype(kind),
    )
    bias, found = rng.standard_normal(columns).astype(kind), []
    for num_threads in (1, 2, 3, 16):
        out = np.full((rows, columns), np.nan, kind)
        tiled_product(left, right, out, bias, op_ctx=Run(num_threads))
        found.append(out)
    by_columns, by_rows = np.empty((rows, columns), kind), np.empty((rows, columns), kind)
    for i in range(rows):
        tiled_product(left[i : i + 1], right, by_rows[i : i + 1], bias)
    for j in range(columns):
        some = slice(j, j + 1)
        tiled_product(left, right[:, some], by_columns[:, some], bias[some])
    for other in (*found[1:], by_rows, by_columns):
        np.testing.assert_array_equal(found[0], other)


def test_threads_share_a_product_by_columns_and_few_columns_by_rows(monkeypatch):
    monkeypatch.setattr(tiles, "DIVIDED_FLOPS", 0)
    monkeypatch.setattr(tiles, "has_team", lambda: False)
    panels = -(-40 // (32 if machine.host().vectors_held == 32 else 16))  # of one or two vectors
    for columns, count in ((200, 4), (10, 4), (40, panels)):
        run = Run(2)
        tiled_product(
            np.ones((64, 5), "f"), np.ones((5, columns), "f"), np.empty((64, columns), "f"), op_ctx=run
        )
        assert run.counts == [count]


@pytest.mark.parametrize("adds", [False, True])
def test_numbers_that_are_not_finite_stay_in_their_rows_and_columns(adds):
    left, right = np.ones((9, 21), "f"), np.ones((21, 35), "f")
    left[2, 3], right[4, 33] = np.nan, np.inf
    out = np.zeros((9, 35), "f")
    tiled_product(left, right.T.copy().T, out, adds=adds)
    expected = np.full((9, 35), 21, "f")
    expected[:, 33], expected[2] = np.inf, np.nan
    np.testing.assert_array_equal(out, expected)


def test_what_is_overwritten_is_not_read():
    out = np.full((10, 2000), np.nan, "f")
    tiled_product(np.ones((10, MOST_IN_A_SUM + 1), "f"), np.ones((MOST_IN_A_SUM + 1, 2000), "f"), out)
    np.testing.assert_array_equal(out, np.full(out.shape, MOST_IN_A_SUM + 1, "f"))


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.skipif(machine.host().triple.split("-")[0] != "x86_64", reason="AVX2 and AVX-512 are of x86-64")
def test_bits_are_the_same_whatever_the_width_of_registers(turned, monkeypatch):
    rng = np.random.default_rng(7)
    left, right = rng.standard_normal((21, 1100)).astype("f"), rng.standard_normal((1100, 53)).astype("f")
    right = np.asfortranarray(right) if turned else right
    found = []
    for other in (machine.host(), OTHERS["AVX2"]):
        monkeypatch.setattr(tiles, "host", lambda other=other: other)
        tiles._program.cache_clear()
        out = np.empty((21, 53), "f")
        arguments = (
            left.shape,
            left.strides,
            right.shape,
            right.strides,
            out.shape,
            out.strides,
            None,
            False,
        )
        layout = tiles._program("f", *arguments).layout
        run_for(other, layout, [left, right, out])
        found.append(out)
    tiles._program.cache_clear()
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("stack", [(), (3,)])
def test_kernels_compile_for_other_processors(other, stack, monkeypatch):
    monkeypatch.setattr(tiles, "host", lambda: OTHERS[other])
    tiles._program.cache_clear()
    shapes = [np.empty((*stack, *shape), "f") for shape in ((7, 30), (20, 30), (7, 20))]
    left, right, out = shapes[0], shapes[1].swapaxes(-1, -2), shapes[2]
    pairs = [one for array in (left, right, out) for one in (array.shape, array.strides)]
    layout = tiles._program("f", *pairs, (4,), True).layout
    tiles._program.cache_clear()
    assert len(object_code(layout.kernel.text, OTHERS[other])) > 500
