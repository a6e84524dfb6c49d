from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from core.tests.together import run_together
from operad_sdk.mapper import (
    copysign,
    exp,
    expm1,
    fmod,
    hypot,
    isfinite,
    isinf,
    isnan,
    log1p,
    mapper,
    maximum,
    minimum,
    rint,
    sign,
    tanh,
    trunc,
)
from operad_sdk.vector import machine
from operator_sdk.sdk.tests.mappers import huber
from operator_sdk.sdk.tests.vector_code import require_vector_code

require_vector_code()

DTYPES = {"float32": np.float32, "float64": np.float64}


@mapper
def arithmetic(a, b):
    return (a + b) * (a - b) / b


@mapper
def where_nan(a, b):
    return 5 if isnan(a) else 6 if isinf(b) else 7 if isfinite(a) else 8


@mapper
def comparisons(a, b):
    if a < b and not a == -b:  # noqa: SIM201 -- `not` is under test
        return 1
    if a >= b or a != a:  # noqa: PLR0124 -- true for NaN
        return where_nan(a, b)
    return 3 if a <= 2 * b else 4


@mapper
def extremes(a, b):
    return maximum(a, b) - minimum(a, 3) + min(a, b) * max(b, 1)


@mapper
def signs(a, b):
    return sign(a) + 2 * copysign(1, b) + 4 * abs(sign(b))


@mapper
def rounding(a, b):
    return rint(a) + trunc(b)


@mapper
def modulo(a, b):
    return a % b


@mapper
def floor_division(a, b):
    return a // b


@mapper
def c_remainder(a, b):
    return fmod(a, b)


@mapper
def gelu_like(a, b):
    return 0.5 * a * (1 + tanh(0.7978845608 * (a + 0.044715 * a**3))) + 0 * b


@mapper
def softplus(a, beta):
    return maximum(a, 0) + log1p(exp(-abs(a))) + expm1(-abs(beta))


@mapper
def same_call(a):
    return a


@mapper
def distance(a, b):
    return hypot(a, b)


EXACT = (arithmetic, huber, comparisons, extremes, signs, rounding, modulo, c_remainder)
CLOSE = (gelu_like, softplus, distance)


def numbers(dtype):
    width = np.dtype(dtype).itemsize * 8
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, 1.5, 2.5, 3.0]
    special += [
        float(np.finfo(dtype).tiny),
        float(np.finfo(dtype).smallest_subnormal),
        float(np.finfo(dtype).max),
    ]
    return st.sampled_from(special) | st.floats(width=width)


@st.composite
def pairs(draw, dtype):
    """Two arrays of one shape; some are views with gaps or turned around."""
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5))
    made = [draw(hnp.arrays(dtype, shape, elements=numbers(dtype))) for _ in range(2)]
    if draw(st.booleans()) and shape:
        made = [np.repeat(array, 2, axis=-1)[..., ::2] for array in made]
    if draw(st.booleans()):
        made = [array.T for array in made]
    return made


def each_function(functions):
    """Parametrizes a test by functions and types; in the fast suite each other function has one type."""
    cases = [
        pytest.param(
            function,
            dtype,
            id=f"{function.__name__}-{dtype}",
            marks=() if (i + j) % 4 == 0 else pytest.mark.more,
        )
        for i, function in enumerate(functions)
        for j, dtype in enumerate(DTYPES)
    ]
    return pytest.mark.parametrize(("function", "dtype"), cases)


def assert_same_bits_but_for_zero_and_nan(found, expected):
    np.testing.assert_array_equal(found, expected)


@each_function(EXACT)
@given(data=st.data())
def test_back_ends_agree_exactly_where_no_function_is_approximated(function, dtype, data):
    a, b = data.draw(pairs(DTYPES[dtype]))
    expected = function.backend("python").map(a, b)
    assert_same_bits_but_for_zero_and_nan(function.backend("numpy").map(a, b), expected)
    assert_same_bits_but_for_zero_and_nan(function.backend("vector").map(a, b), expected)


@pytest.mark.parametrize("dtype", DTYPES)
@given(data=st.data())
def test_floor_division_agrees_at_large_quotients_and_infinities(dtype, data):
    a, b = data.draw(pairs(DTYPES[dtype]))
    expected = floor_division.backend("python").map(a, b)
    assert_same_bits_but_for_zero_and_nan(floor_division.backend("numpy").map(a, b), expected)
    assert_same_bits_but_for_zero_and_nan(floor_division.backend("vector").map(a, b), expected)


@each_function(CLOSE)
@given(data=st.data())
def test_back_ends_agree_within_ulps_of_the_largest_term(function, dtype, data):
    kind = DTYPES[dtype]
    a, b = data.draw(pairs(kind))
    limit = np.array(1e4, kind)
    a, b = np.clip(a, -limit, limit), np.clip(b, -limit, limit)
    expected = function.backend("python").map(a, b)
    scale = np.finfo(kind).eps * 8
    for backend in ("numpy", "vector"):
        found = function.backend(backend).map(a, b)
        np.testing.assert_allclose(found, expected, rtol=scale, atol=scale)


def test_result_of_an_element_does_not_depend_on_its_place():
    # Whole vectors, the rest after them and the strided path must round alike.
    x = np.linspace(-4, 4, 1001).astype(np.float32)
    whole = gelu_like.backend("vector").map(x, 1.0)
    apart = np.concatenate([gelu_like.backend("vector").map(x[i : i + 1], 1.0) for i in range(len(x))])
    gaps = gelu_like.backend("vector").map(np.repeat(x, 3)[::3], 1.0)
    np.testing.assert_array_equal(whole, apart)
    np.testing.assert_array_equal(whole, gaps)


def test_threads_that_map_at_once_compile_once_and_agree():
    @mapper
    def fresh(x):
        return tanh(x) * 1.25 + 0.0625

    x = np.linspace(-3, 3, 5000)
    same_call.backend("vector").map(x)  # of as many arrays, so that one text less is left to compile
    expected = fresh.backend("numpy").map(x)
    barrier, results = threading.Barrier(8), [None] * 8

    def work(i):
        barrier.wait()
        results[i] = fresh.backend("vector").map(x)

    before = machine.statistics.compiled + machine.statistics.loaded
    run_together(work, range(8))
    assert machine.statistics.compiled + machine.statistics.loaded == before + 1
    for result in results:
        np.testing.assert_array_equal(result, results[0])
        np.testing.assert_allclose(result, expected, rtol=1e-14, atol=1e-14)
