"""Forms for patterns of equal lengths: one for all of them, unless the function tells lengths apart."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from operad_sdk import OperatorProperty, operator, unary
from operad_sdk.declare import kept_answers
from operad_sdk.declare.scalar_form import MODES, in_mode

SINGLE = np.dtype(np.float32)
SHAPES = ((4, 5), (5, 5), (7, 7), (1, 1))


@pytest.fixture(autouse=True)
def nothing_is_kept(monkeypatch):
    """Traces are counted, which an answer on disk would spare."""
    monkeypatch.setattr(kept_answers, "_path", lambda cls: None)


def form(op, *shapes):
    return op().scalar_form("forward", shapes, [SINGLE] * len(shapes))


@pytest.mark.parametrize("shapes", [*permutations(SHAPES[:3])])
def test_a_function_that_tells_no_lengths_apart_is_traced_for_all(shapes):
    calls = []

    @unary("equal_lengths", accepts="floating")
    def mean(data):
        calls.append(data.shape)
        return data / data.size + data.mean(axis=1, keepdims=True)

    found = {form(mean, shape) for shape in shapes}
    assert (len(found), len(calls)) == (1, 2)
    x = np.arange(25, dtype=SINGLE).reshape(5, 5)
    expected = x / 25 + x.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(found.pop().evaluate([x], x.shape)[0], expected, rtol=1e-6)


def by_shape(data):
    return data if data.shape[0] == data.shape[1] else -data


def by_shapes(data):
    return data if data.shape != data.T.shape else -data


def by_plain_numbers(data):
    return data * (1.0 if int(data.shape[0]) == int(data.shape[1]) else 3.0)


def by_rows(data):
    return data * (1.0 if len(data) == len(data.T) else 3.0)


def by_largest(data):
    return data / max(data.shape)


def by_reciprocals(data):
    return data * (1.0 if 1 / data.shape[0] == 1 / data.shape[1] else 3.0)


def by_ratio(data):
    return data * (1.0 if data.shape[0] / data.shape[1] == 1 else 3.0)


def by_floats(data):
    return data * (1.0 if float(data.shape[0]) == float(data.shape[1]) else 3.0)


def by_roots(data):
    return data * (1.0 if np.sqrt(data.shape[0]) == np.sqrt(data.shape[1]) else 3.0)


def by_powers(data):
    return data * (1.0 if data.shape[0] ** 0.5 == data.shape[1] ** 0.5 else 3.0)


def by_arrays(data):
    return data * (1.0 if np.array_equal(data.shape, data.shape[::-1]) else 3.0)


def by_text(data):
    return data * (1.0 if str(data.shape[0]) == f"{data.shape[1]}" else 3.0)


def by_signs(data):
    return data * (1.0 if -data.shape[0] == -data.shape[1] else 3.0)


FUNCTIONS = [
    by_shape, by_shapes, by_plain_numbers, by_rows, by_largest, by_reciprocals, by_ratio, by_floats, by_roots,
    by_powers, by_arrays, by_text, by_signs,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("shapes", [SHAPES, SHAPES[::-1]])
def test_a_function_that_tells_lengths_apart_has_a_form_for_each_pattern(function, shapes):
    op = unary("told_lengths", accepts="floating")(function)
    for shape in shapes:
        found, x = form(op, shape), np.full(shape, 2, SINGLE)
        if function is by_largest and shape == (4, 5):
            assert isinstance(found, str)
        else:
            np.testing.assert_array_equal(found.evaluate([x], shape)[0], function(x))


@operator("equal_lengths_of_two")
class OfTwo(OperatorProperty):
    """Rows that are scaled, and in training shifted."""

    spec = "data:(N, C), gain:(C) -> output:(N, C)"
    accepts = "floating"

    def forward(data, gain, is_train):
        CALLS.append((data.shape, is_train))
        return data * gain + 1.0 if is_train else data * gain


CALLS = []


def test_modes_that_differ_begin_with_the_traces_that_showed_it():

    CALLS.clear()
    assert form(OfTwo, (6, 6), (6,)) == MODES
    both = {
        is_train: in_mode(OfTwo(), is_train).scalar_form("forward", [(8, 3), (3,)], [SINGLE] * 2)
        for is_train in (True, False)
    }
    assert [len(found.instructions) for found in both.values()] == [5, 3]
    assert len(CALLS) == 4  # two lengths in each mode
