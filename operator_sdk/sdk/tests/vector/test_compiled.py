"""Kernels of scalar forms against what the forms mean."""

from __future__ import annotations

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from itertools import pairwise

import numpy as np
import pytest

from operad.operator import Result
from operad_sdk.mapper.builder import Builder
from operad_sdk.vector import CompiledForm, NoVectorCodeError, columns, machine, stages
from operad_sdk.vector.machine import Machine
from operator_sdk.sdk.tests.vector.programs import Program
from operator_sdk.sdk.tests.vector_code import require_vector_code

require_vector_code()

compiled_module = import_module("operad_sdk.vector.compiled")
SINGLE = np.dtype(np.float32)


def form_of(make, *inputs, kinds=()):
    builder = Builder("form", inputs, kinds)
    made = make(builder)
    return builder.finish(*(made if isinstance(made, list) else [made]))


def over_rows(builder, op, position):
    return builder.over_axes(op, position, [-1])


def softmax(builder):
    powers = builder.apply("exp", builder.apply("subtract", 0, over_rows(builder, "max", 0)))
    return builder.apply("divide", powers, over_rows(builder, "sum", powers))


OF_X86 = {
    "host": None,
    "AVX2": Machine("x86_64-unknown-linux-gnu", "x86-64-v3", "+avx2,+fma,+f16c"),
    "AVX": Machine("x86_64-unknown-linux-gnu", "x86-64-v2", "+avx,+fma,+f16c"),
}


@pytest.fixture(params=OF_X86)
def processor(request, monkeypatch):
    """Kernels are compiled for this processor, or for one with less."""
    other = OF_X86[request.param]
    if other is not None:
        if machine.host().triple.split("-")[0] != "x86_64":
            pytest.skip("AVX and AVX2 are of x86-64")
        monkeypatch.setattr(machine, "host", lambda: other)
        monkeypatch.setattr(compiled_module, "host", lambda: other)


def expect_as_evaluated(program, seed):
    """Compute a program in parts, on one to three threads, and compare the bits with NumPy's."""
    found = program.results()
    before = [array.copy() for array in program.inputs]
    bound = CompiledForm(program.form, program.dtype).bind(program.inputs, found)
    cuts = sorted({0, bound.units, *program.rng.integers(0, bound.units + 1, 4).tolist()})
    parts = list(pairwise(cuts))
    program.rng.shuffle(parts)
    with ThreadPoolExecutor(seed % 3 + 1) as threads:
        list(threads.map(lambda part: bound.run(*part), parts))
    text = f"seed {seed}, {program.space}, cuts {cuts}: {program.form.text()}"
    for one, expected in zip(found, program.expected(), strict=True):
        np.testing.assert_array_equal(one, expected, err_msg=text)
    for array, old in zip(program.inputs, before, strict=True):
        np.testing.assert_array_equal(array, old)


@pytest.mark.usefixtures("processor")
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("reduces", [False, True], ids=["elements", "rows"])
@pytest.mark.parametrize(("added", "kept_from"), [(32, 8), (1, 1)])
def test_random_forms_on_arrays_of_any_layout(dtype, reduces, added, kept_from, monkeypatch):
    monkeypatch.setattr(columns, "ADDED_TO_A_LANE", added)
    monkeypatch.setattr(stages, "KEPT_FROM", kept_from)
    for seed in range(8):
        expect_as_evaluated(Program(np.random.default_rng([seed, reduces]), dtype, reduces), seed)


@pytest.mark.more
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_many_random_forms_that_reduce(dtype, drawn_seed):
    for seed in range(60):
        expect_as_evaluated(Program(np.random.default_rng([drawn_seed, seed]), dtype, True), seed)


def test_a_form_writes_nothing_beside_its_results():
    form = form_of(lambda b: b.apply("add", 0, b.constant(1)), "x")
    compiled = CompiledForm(form, SINGLE)
    for length in range(1, 300):
        memory = np.full(length + 128, 7, SINGLE)
        x = np.arange(length, dtype=SINGLE)
        compiled([x], [memory[64 : 64 + length]])
        np.testing.assert_array_equal(memory[64 : 64 + length], x + 1)
        assert (memory[:64] == 7).all()
        assert (memory[64 + length :] == 7).all()


def test_zeros_keep_their_signs_and_nan_comes_through():
    x = np.array([-0.0, 0.0, np.nan, -np.nan, np.inf, -np.inf] * 5, SINGLE)
    makes = {
        "negative": lambda b: b.apply("negative", 0),
        "multiply": lambda b: b.apply("multiply", 0, b.constant(-1)),
        "rint": lambda b: b.apply("rint", 0),
        "maximum": lambda b: b.apply("maximum", 0, b.constant(0)),
        "sum": lambda b: over_rows(b, "sum", 0),
    }
    for name, make in makes.items():
        form, found = form_of(make, "x"), np.empty_like(x)
        CompiledForm(form, SINGLE)([x], [found])
        expected = form.evaluate([x], x.shape)[0]
        np.testing.assert_array_equal(found, expected, err_msg=name)
        known = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(found)[known], np.signbit(expected)[known], err_msg=name)


def test_a_sum_of_zeros_has_the_sign_of_numpys():
    x = np.full((1, 50), -0.0, SINGLE)
    found = np.empty((1, 1), SINGLE)
    CompiledForm(form_of(lambda b: over_rows(b, "sum", 0), "x"), SINGLE)([x], [found])
    assert found == 0
    assert np.signbit(found[0, 0]) == np.signbit(np.sum(x))


@pytest.mark.parametrize(("op", "worst"), [("max", np.nan), ("min", np.nan), ("sum", np.nan)])
@pytest.mark.parametrize("place", [0, 15, 16, 100, 299])
def test_nan_anywhere_in_a_row_is_its_reduction(op, worst, place):
    x = np.random.default_rng(0).standard_normal((3, 300)).astype(SINGLE)
    x[1, place] = np.nan
    found = np.empty((3, 1), SINGLE)
    CompiledForm(form_of(lambda b: over_rows(b, op, 0), "x"), SINGLE)([x], [found])
    np.testing.assert_array_equal(np.isnan(found[:, 0]), [False, True, False])


def test_the_error_of_long_sums_does_not_grow_with_them():
    x = np.random.default_rng(1).uniform(0, 1, (2, 1_000_003)).astype(SINGLE)
    found = np.empty((2, 1), SINGLE)
    CompiledForm(form_of(lambda b: over_rows(b, "sum", 0), "x"), SINGLE)([x], [found])
    exact = x.astype(np.float64).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found, exact, rtol=np.finfo(SINGLE).eps)


def test_a_result_may_lie_where_an_input_lies_that_is_not_read_again():
    x = np.random.default_rng(2).standard_normal((7, 100)).astype(SINGLE)
    compiled = CompiledForm(form_of(softmax, "x"), SINGLE)
    expected = np.empty_like(x)
    compiled([x], [expected])
    assert compiled.layout([x, expected]).shares == {(0, 0)}
    compiled([x], [x])
    np.testing.assert_array_equal(x, expected)


def test_a_result_may_not_lie_where_an_input_is_read_again():
    def make(builder):
        total = over_rows(builder, "sum", 0)
        return [
            Result(builder.apply("add", 0, builder.constant(1)), "early"),
            Result(builder.apply("multiply", 0, total), "late"),
        ]

    x = np.ones((2, 20), SINGLE)
    layout = CompiledForm(form_of(make, "x"), SINGLE).layout([x, np.empty_like(x), np.empty_like(x)])
    assert layout.shares == {(0, 1)}


def test_a_result_that_is_written_again_along_an_axis_shares_no_memory():
    builder = Builder("repeated", ["x", "y"])
    doubled = builder.apply("add", 0, 0)
    total = builder.apply("add", doubled, 1)
    form = builder.finish(Result(total, "all"), Result(doubled, "once", (1, 2)), axes={0: (1, 2)})
    arrays = [np.ones(shape, np.float32) for shape in ((5, 6), (4, 5, 6), (4, 5, 6), (5, 6))]
    assert CompiledForm(form, np.dtype(np.float32)).layout(arrays).shares == {(1, 0)}


def test_a_row_of_results_is_an_element_or_a_whole_row():
    x = np.arange(12, dtype=SINGLE).reshape(3, 4)
    form = form_of(lambda b: over_rows(b, "max", 0), "x")
    for shape in ((3, 1), (3, 4)):
        found = np.empty(shape, SINGLE)
        CompiledForm(form, SINGLE)([x], [found])
        np.testing.assert_array_equal(found, np.broadcast_to(x.max(axis=1, keepdims=True), shape))


@pytest.mark.parametrize(
    ("make", "kinds", "dtype", "message"),
    [
        (
            lambda b: b.cast(b.apply("gamma", b.cast(0, "int32")), "real"),
            (),
            np.float64,
            "gamma of int32 has no vector code",
        ),
        (lambda b: b.cast(b.cast(0, "uint64"), "real"), (), np.float32, "a cast from float32 to uint64"),
        (lambda b: b.cast(b.cast(0, "float16"), "real"), (), np.float64, "a cast from float64 to float16"),
        (lambda b: b.apply("tanh", 0), (), np.longdouble, "not in "),
    ],
)
def test_what_has_no_vector_code_says_so(make, kinds, dtype, message):
    x = np.ones(5, dtype)
    with pytest.raises(NoVectorCodeError, match=message):
        CompiledForm(form_of(make, "x", kinds=kinds), x.dtype)([x], [np.empty_like(x)])


def test_half_precision_is_computed_in_float32_and_rounded_once():
    def root_mean_square(builder):
        squares = builder.over_axes("sum", builder.apply("multiply", 0, 0), [-1])
        mean = builder.apply("divide", squares, builder.length(-1))
        return builder.apply(
            "divide", 0, builder.apply("sqrt", builder.apply("add", mean, builder.constant(1e-6)))
        )

    form, half = form_of(root_mean_square, "x"), np.dtype(np.float16)
    x = np.linspace(-1000, 1000, 7 * 300).reshape(7, 300).astype(half)  # squares of which overflow
    x[3] = 0
    found, exact = np.empty_like(x), np.empty(x.shape, SINGLE)
    CompiledForm(form, half)([x], [found])
    CompiledForm(form, SINGLE)([x.astype(SINGLE)], [exact])
    np.testing.assert_array_equal(found, exact.astype(half))
    assert np.isfinite(found).all()


def test_half_precision_rounds_where_the_form_says_so():
    def make(builder):
        return builder.cast(
            builder.cast(builder.apply("add", builder.cast(0, "float32"), 1), "real"), "float32"
        )

    form, half = form_of(make, "x", "y", kinds=("real", "float32")), np.dtype(np.float16)
    x, y, found = np.ones(20, half), np.linspace(0, 1, 20, dtype="f"), np.empty(20, SINGLE)
    CompiledForm(form, half)([x, y], [found])
    np.testing.assert_array_equal(found, (x + y).astype(half).astype(SINGLE))


def test_a_result_that_several_elements_would_fill_is_refused():
    x, out = np.ones((3, 4), SINGLE), np.empty((1, 4), SINGLE)
    with pytest.raises(NoVectorCodeError, match="the result does not have an element for each computed"):
        CompiledForm(form_of(lambda b: b.apply("tanh", 0), "x"), SINGLE)([x], [out])


def test_a_result_is_repeated_along_axes_along_which_it_does_not_change():
    def make(b):
        twice = b.apply("add", 1, 1)
        return [Result(b.apply("add", 0, twice), "y"), Result(twice, "z", axes=(1,))]

    builder = Builder("form", ("x", "v"))
    form = builder.finish(*make(builder), axes={1: (1,)})
    x, v = np.ones((5, 3, 40), SINGLE), np.arange(3, dtype=SINGLE)
    y, z = np.empty_like(x), np.full_like(v, 7)
    CompiledForm(form, SINGLE)([x, v], [y, z])
    np.testing.assert_array_equal(z, 2 * v)
    np.testing.assert_array_equal(y, x + (2 * v)[:, None])
    shares = CompiledForm(form, SINGLE).layout([x, v, y, z]).shares
    assert (0, 0) in shares
    assert (1, 1) not in shares  # it would be doubled for each of five rows


@pytest.mark.parametrize("reduces", [False, True], ids=["elements", "rows"])
def test_what_is_kept_for_later_walks_is_read_by_one(reduces, monkeypatch):
    monkeypatch.setattr(stages, "KEPT_FROM", 1)
    for seed in range(40):
        program = Program(np.random.default_rng([seed, 3]), "float32", reduces)
        text = CompiledForm(program.form, program.dtype).walk([*program.inputs, *program.results()]).text
        found = text.stages
        assert all(found.is_read_after(i, found.stage[i]) for i in found.kept), f"seed {seed}"


def test_an_exponential_keeps_its_value_and_nothing_that_it_is_made_of():
    form, row = form_of(softmax, "x"), np.empty((2, 100), SINGLE)
    assert CompiledForm(form, SINGLE).layout([row, row]).scratch_bytes == 0


def test_an_array_of_another_type_is_refused():
    with pytest.raises(NoVectorCodeError, match="x is float64, and the kernel was made for float32"):
        CompiledForm(form_of(lambda b: b.apply("tanh", 0), "x"), SINGLE)([np.ones(3)], [np.ones(3, SINGLE)])


def test_kernels_are_made_once_for_all_lengths():
    compiled = CompiledForm(form_of(softmax, "x"), SINGLE)
    kernels = set()
    for shape in ((3, 5), (4, 6), (100, 1000), (7, 3, 20)):
        x = np.ones(shape, SINGLE)
        kernels.add(compiled.layout([x, np.empty_like(x)]).kernel)
    assert len(kernels) == 1


def less_sums(shape, axes):
    """Integers less their sums over axes: as the form means it, and as the kernel computes it."""
    x = np.random.default_rng(0).integers(-9, 9, shape).astype(SINGLE)
    form = form_of(lambda b: b.apply("subtract", 0, b.over_axes("sum", 0, axes)), "x")
    found = np.empty_like(x)
    CompiledForm(form, SINGLE)([x], [found])
    return form.evaluate([x], x.shape)[0], found


@pytest.mark.parametrize("axes", [(-2, -1), (-3, -2, -1), (-2,), (-3,)])
def test_axes_that_are_one_run_of_memory_are_reduced_together(axes):
    expected, found = less_sums((5, 3, 4, 6), axes)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("shape", [(3, 9, 31), (3, 64), (9, 1024)])
def test_sums_of_rows_that_lie_far_apart_are_computed(shape):
    form = CompiledForm(form_of(lambda b: b.over_axes("sum", 0, [-2]), "x"), SINGLE)
    data = np.arange(np.prod(shape), dtype="f").reshape(shape)
    out = np.empty_like(data.sum(-2, keepdims=True))
    form.check([data, out])
    form([data], [out])
    np.testing.assert_array_equal(out, data.sum(-2, keepdims=True))


def test_rows_that_lie_far_apart_and_are_read_twice_are_refused_and_can_be_computed():
    form = CompiledForm(form_of(lambda b: b.apply("add", 0, b.over_axes("sum", 0, [-2])), "x"), SINGLE)
    data = np.arange(9 * 1024, dtype="f").reshape(9, 1024)
    out = np.empty_like(data)
    with pytest.raises(NoVectorCodeError, match="a row of x lie 1024 apart"):
        form.check([data, out])
    form([data], [out])
    np.testing.assert_array_equal(out, data + data.sum(-2, keepdims=True))


def test_vectors_are_of_rows_where_rows_are_neighbours_and_columns_are_not():
    form = CompiledForm(form_of(lambda b: b.over_axes("sum", 0, (-2,)), "x"), SINGLE)
    ways = [((500, 3), 0), ((500, 4), 1), ((500, 40), 2), ((500, 64), 4)]
    for shape, rows in ways:
        x, sums = np.ones(shape, SINGLE), np.empty((1, shape[1]), SINGLE)
        assert form.walk([x, sums]).pattern.rows == rows
        assert form.walk([np.asfortranarray(x), sums]).pattern.rows == 0


@pytest.mark.parametrize("axes", [(-3, -1), (-4, -2), (-4, -1), (-4, -2, -1)])
def test_axes_that_are_several_runs_of_memory_are_reduced_together(axes):
    expected, found = less_sums((5, 3, 4, 17), axes)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "shape",
    [(1_000_000, 1), (1_000_000, 4), (1000, 2, 500), (100_000, 2, 9), (30_000, 2, 33), (8000, 2, 130)],
)
def test_a_million_equal_numbers_are_added_as_exactly_as_few(shape):
    x = np.full(shape, 0.1, SINGLE)
    axes = tuple(axis - len(shape) for axis in range(len(shape)) if axis != 1)
    found = np.empty([1 if axis - len(shape) in axes else n for axis, n in enumerate(shape)], SINGLE)
    CompiledForm(form_of(lambda b: b.over_axes("sum", 0, axes), "x"), SINGLE)([x], [found])
    np.testing.assert_allclose(found, x.astype(np.float64).sum(axes).reshape(found.shape), rtol=1e-6)


def test_positions_along_any_axis_of_any_length():
    form = form_of(lambda b: b.cast(b.position(0), "real"), "x")
    both = form_of(lambda b: b.apply("add", 0, b.cast(b.position(1), "real")), "x")
    compiled = CompiledForm(both, SINGLE)
    for shape in ((3, 5), (2, 1500), (1500, 2), (7, 5000), (2, 70_000)):
        x = np.ones(shape, SINGLE)
        for array in (x, np.asfortranarray(x)):
            found = np.empty_like(array)
            compiled([array], [found])
            np.testing.assert_array_equal(found, 1 + np.broadcast_to(np.arange(shape[1]), shape))
    found = np.empty(4000, SINGLE)
    CompiledForm(form, SINGLE)([found], [found])
    np.testing.assert_array_equal(found, np.arange(4000))


def test_an_axis_that_is_too_long_is_not_counted_along():
    x = np.broadcast_to(SINGLE.type(1), (2**26 + 1,))
    form = CompiledForm(form_of(lambda b: b.apply("add", 0, b.cast(b.position(0), "real")), "x"), SINGLE)
    with pytest.raises(NoVectorCodeError, match="too long to be counted along"):
        form.walk([x, x])


def test_different_axes_are_refused():
    form = form_of(lambda b: b.apply("add", b.over_axes("sum", 0, (-1,)), b.over_axes("sum", 0, (-2,))), "x")
    with pytest.raises(NoVectorCodeError, match="reduces different axes"):
        CompiledForm(form, SINGLE)


def test_guarded_arrays_are_beside_pages_that_end_the_process():
    code = "import ctypes, numpy as np; from operator_sdk.sdk.tests.vector.guarded import guarded; "
    for touch in (
        "x = guarded(5, 'f'); at = x.ctypes.data + 20",
        "at = guarded(5, 'f', at_end=False).ctypes.data - 1",
    ):
        done = subprocess.run([sys.executable, "-c", f"{code}{touch}; ctypes.string_at(at, 1)"], check=False)
        assert done.returncode == -signal.SIGSEGV


def test_arrays_of_another_type_that_lie_alike_are_told_apart():
    compiled = CompiledForm(form_of(lambda b: b.apply("negative", 0), "x"), SINGLE)
    x, found = np.ones(4, SINGLE), np.empty(4, SINGLE)
    compiled([x], [found])
    with pytest.raises(NoVectorCodeError, match="x is int32"):
        compiled([x.astype(np.int32)], [found])
