"""Calls of kernels with small arrays: addresses out of the arrays themselves."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from core.tests.together import run_together
from operad_sdk.mapper.builder import Builder
from operad_sdk.vector import CompiledForm, array_calls, machine
from operad_sdk.vector.array_calls import (
    CallPart,
    array_call,
    bound_to,
    call_text,
    chained_call,
    strided_call,
)
from operad_sdk.vector.machine import object_code
from operad_sdk.vector.settings import is_checked
from operator_sdk.sdk.tests.vector.guarded import guarded
from operator_sdk.sdk.tests.vector.processors import OTHERS
from operator_sdk.sdk.tests.vector.programs import Program
from operator_sdk.sdk.tests.vector_code import require_vector_code

require_vector_code()

SINGLE = np.dtype(np.float32)


def scaled_sum(count):
    """The form `x0 + 2 x1 + 3 x2 + ...`."""
    builder = Builder("scaled_sum", [f"x{i}" for i in range(count)])
    total = 0
    for i in range(1, count):
        total = builder.apply("add", total, builder.apply("multiply", i, builder.constant(float(i + 1))))
    return CompiledForm(builder.finish(total), SINGLE)


def test_this_python_and_numpy_keep_addresses_where_they_are_read():
    assert array_calls.is_possible()


@pytest.mark.parametrize("count", range(1, 8))
def test_any_number_of_arrays(count):
    rng = np.random.default_rng(count)
    arrays = [rng.integers(-9, 9, 37).astype("f") for _ in range(count)]
    out = np.full(37, 7, "f")
    call = array_call(scaled_sum(count).layout([*arrays, out]), count)
    call(*arrays, out)
    np.testing.assert_array_equal(out, sum((i + 1) * each for i, each in enumerate(arrays)))


@pytest.mark.parametrize("seed", range(60))
def test_random_programs_are_what_bound_kernels_compute(seed):
    program = Program(np.random.default_rng(seed), "float32", True)
    inputs = [np.ascontiguousarray(each) for each in program.inputs]
    results, others = ([np.ascontiguousarray(each) for each in program.results()] for _ in range(2))
    form = CompiledForm(program.form, SINGLE)
    layout = form.layout([*inputs, *results])
    call = array_call(layout, len(inputs))
    form.bind(inputs, others).run()
    call(*inputs, *results)
    for one, other in zip(results, others, strict=True):
        assert one.tobytes() == other.tobytes()


def test_parts_of_arrays_are_found_where_they_begin():
    data, out = np.arange(100, dtype="f"), np.zeros(100, "f")
    call = array_call(scaled_sum(1).layout([data[:20], out[:20]]), 1)
    call(data[33:53], out[7:27])
    np.testing.assert_array_equal(np.flatnonzero(out), np.arange(7, 27))
    np.testing.assert_array_equal(out[7:27], data[33:53])


@pytest.mark.parametrize("kind", ["input", "output", "both", "in place"])
def test_arrays_that_are_not_contiguous_are_copied_and_nothing_is_compiled(kind):
    data, out = np.arange(60, dtype="f").reshape(3, 20), np.zeros((3, 20), "f")
    form = scaled_sum(2)
    call = array_call(form.layout([data, data, out]), 2)
    apart = np.asfortranarray(data) if kind != "output" else data
    target = np.zeros((20, 3), "f").T if kind in ("output", "both") else out
    before = machine.statistics.compiled, machine.statistics.loaded
    if kind == "in place":
        target = apart
    call(apart, data, target)
    assert (machine.statistics.compiled, machine.statistics.loaded) == before
    np.testing.assert_array_equal(target, 3 * np.arange(60).reshape(3, 20))


def test_offsets_are_added_to_addresses():
    data, out = np.arange(100, dtype="f"), np.zeros(20, "f")
    call = array_call(scaled_sum(1).layout([data[:20], out]), 1, offsets=(28, 0))
    call(data, out)
    np.testing.assert_array_equal(out, np.arange(7, 27))


@pytest.mark.parametrize("is_possible", [True, False])
def test_several_of_the_layouts_arrays_may_be_parts_of_one(is_possible, monkeypatch):
    layout = scaled_sum(3).layout([np.zeros(5, "f")] * 4)
    monkeypatch.setattr(array_calls, "is_possible", lambda: is_possible)
    sources, offsets = (1, 0, 1, 0), (8, 0, 12, 40)
    call = strided_call(layout, sources=sources, offsets=offsets)
    bound = bound_to(layout, found := [np.arange(20, dtype="f"), np.arange(9, dtype="f")], sources, offsets)
    for compute in (lambda: call(*found), bound.run):
        found[0][10:] = 0
        compute()
        expected = (np.arange(5) + 2) + 2 * np.arange(5) + 3 * (np.arange(5) + 3)
        np.testing.assert_array_equal(found[0], [*range(10), *expected, *[0] * 5])


def test_much_scratch_memory_is_not_taken_from_the_stack():
    builder = Builder("rows", ["x"])
    powers = builder.apply("exp", builder.apply("subtract", 0, builder.over_axes("max", 0, [-1])))
    shares = builder.apply("divide", powers, builder.over_axes("sum", powers, [-1]))
    form = CompiledForm(builder.finish(builder.over_axes("max", builder.apply("exp", shares), [-1])), SINGLE)
    wide, found = np.zeros((2, 50_000), "f"), np.zeros((2, 1), "f")
    layout = form.layout([wide, found])
    assert layout.scratch_bytes > 1 << 14
    array_call(layout, 1)(wide, found)
    np.testing.assert_allclose(found, np.exp(1 / 50_000), rtol=1e-6)


def two_sums(last=3):
    """`x0 + 2 x1 + 2 * constant`, whose first sum lies in memory between two kernels."""
    layout = scaled_sum(2).layout([np.zeros(64, "f")] * 3)
    parts = [CallPart(layout, (0, 1, 4), (0, 0, 64)), CallPart(layout, (4, last, 2), (64, 0, 0))]
    return chained_call(parts, 3, 2, constants=[np.full(64, 5, "f")], memory_bytes=320)


@pytest.mark.parametrize("kernels", [1, 2])
def test_threads_share_a_call(kernels):
    one_sum = array_call(scaled_sum(2).layout([np.zeros(64, "f")] * 3), 2)
    call, more, wrong = (one_sum, 0, []) if kernels == 1 else (two_sums(), 10, [])

    def work(number):
        one, other, out = np.full(64, number, "f"), np.full(64, 1, "f"), np.empty(64, "f")
        for _ in range(2000):
            call(one, other, out)
            if (out != number + 2 + more).any():
                wrong.append(number)

    run_together(work, range(4))
    assert not wrong


@pytest.mark.skipif(is_checked(), reason="checked kernels are bound one by one")
def test_a_source_that_is_none_of_the_arrays_is_refused():
    with pytest.raises(IndexError):
        two_sums(last=5)


@pytest.mark.parametrize("at_end", [False, True])
@pytest.mark.parametrize("program", ["sum", "two kernels", "scratch memory", "any number of columns"])
def test_a_call_reads_its_words_and_none_beside_them(program, at_end, monkeypatch):
    kept, x = array_calls._kept, np.arange(128, dtype="f").reshape(2, 64)

    def beside_a_page(*given):
        words = kept(*given)
        found = guarded((len(words),), np.int64, at_end=at_end)
        found[:] = words
        return type(words).from_buffer(found)

    monkeypatch.setattr(array_calls, "_kept", beside_a_page)
    y, expected = np.empty_like(x), 3 * x
    if program == "sum":
        strided_call(scaled_sum(2).layout([x, x, y]))(x, x, y)
    elif program == "two kernels":
        for row in range(2):
            two_sums()(x[row], x[row], y[row])
        y -= 10
    elif program == "scratch memory":
        builder = Builder("softmax", ["x"])
        powers = builder.apply("exp", builder.apply("subtract", 0, builder.over_axes("max", 0, (-1,))))
        total = builder.over_axes("sum", builder.apply("exp", powers), (-1,))
        form = CompiledForm(builder.finish(builder.apply("divide", powers, total)), SINGLE)
        strided_call(form.layout([x, y]))(x, y)
        expected = np.empty_like(x)
        form.bind([x], [expected]).run()
    else:
        layout = scaled_sum(2).layout([x[0], x[0], y[0]])
        for row in range(2):
            array_calls.counted_call(layout, (True, True, True))(64, x[row], x[row], y[row])()
    np.testing.assert_array_equal(y, expected)


@pytest.mark.skipif(is_checked(), reason="checked kernels are not called so")
@pytest.mark.parametrize("other", OTHERS)
def test_it_compiles_for_other_processors(other):
    assert len(object_code(call_text(3), OTHERS[other])) > 300


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "LayerNorm"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_small_calls_are_what_large_ones_are_for_the_same_rows(name, dtype):
    """Every way to the kernel gives the same bits: straight from `nd`, in parts, with parts of arrays."""
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((2048, 40)).astype(dtype)
    more = [od.nd.array(rng.standard_normal(40), dtype=dtype) for _ in range(2 * (name == "LayerNorm"))]
    function = getattr(od.nd, name)
    whole = function(od.nd.array(rows, dtype=dtype), *more).asnumpy()
    small = od.nd.array(rows[:20], dtype=dtype)
    assert function(small, *more).asnumpy().tobytes() == whole[:20].tobytes()
    with od.autograd.record(train_mode=False):
        assert function(small, *more).asnumpy().tobytes() == whole[:20].tobytes()
    out = od.nd.zeros((60, 40), dtype=dtype)
    function(od.nd.array(rows[:60], dtype=dtype)[30:50], *more, out=out[10:30])
    assert out.asnumpy()[10:30].tobytes() == whole[30:50].tobytes()
    assert not out.asnumpy()[:10].any()
    assert not out.asnumpy()[30:].any()
    columns = od.nd.array(rows.T[:, :20].copy(), dtype=dtype).T
    assert function(columns, *more).asnumpy().tobytes() == whole[:20].tobytes()


def test_hidden_outputs_are_computed_where_a_gradient_may_read_them():
    """Beside the hot path, which leaves them out: recorded, and where a caller asks for them."""
    rng = np.random.default_rng(8)
    data, gamma, beta = (od.nd.array(rng.standard_normal(shape)) for shape in ((30, 20), (20,), (20,)))
    alone = od.nd.LayerNorm(data, gamma, beta).asnumpy()
    output, mean, std = od.nd.LayerNorm(data, gamma, beta, output_mean_var=True)
    assert output.asnumpy().tobytes() == alone.tobytes()
    np.testing.assert_allclose(mean.asnumpy()[:, 0], data.asnumpy().mean(1), atol=1e-6)
    np.testing.assert_allclose(std.asnumpy()[:, 0], np.sqrt(data.asnumpy().var(1) + 1e-5), rtol=1e-5)
    data.attach_grad()
    with od.autograd.record():
        recorded = od.nd.LayerNorm(data, gamma, beta)
    recorded.backward(od.nd.array(rng.standard_normal((30, 20))))
    assert recorded.asnumpy().tobytes() == alone.tobytes()
    assert np.isfinite(data.grad.asnumpy()).all()
    od.nd.LayerNorm(data, gamma, beta, out=data)
    assert data.asnumpy().tobytes() == alone.tobytes()
