from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from scipy import special

from operad_sdk.mapper import (
    Mapper,
    MapperError,
    digamma,
    exp,
    log1p,
    mapper,
    maximum,
    minimum,
    slope_of,
    sqrt,
    where,
)
from operad_sdk.mapper.builder import Builder
from operad_sdk.mapper.primitives import PRIMITIVES
from operator_sdk.sdk.tests.mappers import huber
from operator_sdk.sdk.tests.vector_code import VECTOR

DOMAIN = {
    "asin": (-0.9, 0.9),
    "acos": (-0.9, 0.9),
    "atanh": (-0.9, 0.9),
    "acosh": (1.2, 5.0),
    "log": (0.1, 5.0),
    "log2": (0.1, 5.0),
    "log10": (0.1, 5.0),
    "log1p": (-0.9, 5.0),
    "sqrt": (0.1, 5.0),
    "power": (0.2, 3.0),
    "gamma": (0.2, 5.0),
    "tan": (-1.2, 1.2),
}
REAL = [
    name
    for name, primitive in PRIMITIVES.items()
    if primitive.takes == primitive.gives == "real"
    and name not in ("select", "fma", "pow2", "scaled", "exponent", "mantissa")
]


def alone(op):
    """The mapper that is one primitive."""
    builder = Builder(f"only_{op}", ["a", "b"][: PRIMITIVES[op].arity])
    return Mapper(builder.finish(builder.apply(op, *range(PRIMITIVES[op].arity)))).backend("numpy")


def points(op, count):
    """Points of the domain, away from whole and equal numbers, where rounding functions and extremes jump."""
    low, high = DOMAIN.get(op, (-3.0, 3.0))
    grid = np.linspace(low, high, 23)
    arrays = [grid + 0.0137, np.roll(grid, 7) + 0.0291][:count]
    return [array[np.abs(arrays[0] - arrays[-1] * (count == 2)) > 1e-3] for array in arrays]


def numeric(function, args, wrt, step=1e-6):
    up, down = list(args), list(args)
    up[wrt], down[wrt] = args[wrt] + step, args[wrt] - step
    return (function.map(*up) - function.map(*down)) / (2 * step)


@pytest.mark.walk
@pytest.mark.parametrize("op", REAL)
def test_slope_of_a_primitive_is_the_limit_of_difference_quotients(op):
    function = alone(op)
    args = points(op, PRIMITIVES[op].arity)
    for wrt in range(len(args)):
        slope = slope_of(function, wrt).backend("numpy").map(*args)
        np.testing.assert_allclose(slope, numeric(function, args, wrt), rtol=2e-6, atol=2e-8)


@mapper
def composite(x, a):
    y = exp(-x * x) * a if x > 0 else sqrt(1 + a * a * x * x)
    for_small = where(abs(y) < 0.5, y**3, y)
    return for_small / (1 + x * x) + a ** (1 + x * x) % 7.5


@pytest.mark.parametrize("wrt", ["x", "a"])
def test_chain_product_and_branches_compose(wrt):
    args = [np.linspace(-2, 2, 41) + 0.013, np.full(41, 1.3)]
    slope = slope_of(composite, wrt).backend("numpy").map(*args)
    expected = numeric(composite.backend("numpy"), args, ["x", "a"].index(wrt))
    np.testing.assert_allclose(slope, expected, rtol=1e-6, atol=1e-7)


def test_automatic_slope_equals_the_written_one():
    x = np.linspace(-3, 3, 61)
    s2 = 1.3 * 1.3
    np.testing.assert_allclose(slope_of(huber).map(x, 1.3), np.clip(s2 * x, -1, 1), rtol=1e-15)


def test_branch_not_taken_contributes_no_nan_to_the_slope():
    @mapper
    def half_root(x):
        return sqrt(x) if x > 0 else 0 * x

    np.testing.assert_array_equal(slope_of(half_root).map(np.array([-4.0, 0.0, 4.0])), [0.0, 0.0, 0.25])


def test_slope_at_a_kink_is_that_of_the_branch_taken():
    @mapper
    def relu(x):
        return x if x > 0 else 0

    @mapper
    def relu_from_zero(x):
        return x if x >= 0 else 0

    assert (slope_of(relu)(0.0), slope_of(relu_from_zero)(0.0), slope_of(alone("abs"))(0.0)) == (0, 1, 0)
    assert [slope_of(alone(op), wrt)(2.0, 2.0) for op in ("maximum", "minimum") for wrt in (0, 1)] == [
        0.5
    ] * 4


@mapper
def log_sigmoid(x):
    return minimum(x, 0) - log1p(exp(-abs(x)))


@mapper
def log_sigmoid_of_pythons_min(x):
    return min(x, 0) - log1p(exp(-abs(x)))


@mapper
def softplus_of_pythons_max(x):
    return max(0, x) + log1p(exp(-abs(x)))


@mapper
def softplus(x):
    return maximum(x, 0) + log1p(exp(-abs(x)))


@mapper
def identity_from_halves(x):
    return maximum(x, 0) + minimum(x, 0)


@mapper
def identity_from_difference(x):
    return maximum(x, 0) - maximum(-x, 0)


@mapper
def absolute_from_larger(x):
    return maximum(x, -x)


@mapper
def square_of_larger(x):
    return maximum(x, 0) ** 2 + minimum(x, 0) ** 2


@mapper
def doubled_from_equal(x):
    return maximum(x, x) + minimum(x, x)


@mapper
def larger_by_absolute(x):
    return exp((x + 1 + abs(x - 1)) / 2 - maximum(x, 1))


SMOOTH_AT = [
    (log_sigmoid, 0.0, 0.5), (softplus, 0.0, 0.5), (identity_from_halves, 0.0, 1.0),
    (identity_from_difference, 0.0, 1.0), (absolute_from_larger, 0.0, 0.0), (square_of_larger, 0.0, 0.0),
    (log_sigmoid_of_pythons_min, 0.0, 0.5), (softplus_of_pythons_max, 0.0, 0.5),
    (doubled_from_equal, 0.0, 2.0), (larger_by_absolute, 1.0, 0.0),
]  # fmt: skip


@pytest.mark.parametrize("backend", ["python", "numpy", VECTOR])
@pytest.mark.parametrize(
    ("function", "x", "expected"), SMOOTH_AT, ids=lambda one: getattr(one, "__name__", "")
)
def test_slope_is_the_mean_of_both_sides_where_kinks_meet(function, x, expected, backend):
    """Where the kinks of the parts cancel, that is the derivative."""
    near = np.array([x - 1e-6, x, x + 1e-6])
    values = function.map(near)
    np.testing.assert_allclose((values[2] - values[0]) / 2e-6, expected, atol=2e-6)
    np.testing.assert_allclose(slope_of(function).backend(backend).map(near)[1], expected, rtol=1e-15)


def test_slope_with_respect_to_an_exponent_is_zero_where_the_base_is():
    assert slope_of(alone("power"), "b")(0.0, 2.0) == 0.0


def test_slope_of_a_slope_is_the_second_derivative():
    x = np.linspace(-2, 2, 9)
    second = slope_of(slope_of(alone("tanh"))).map(x)
    t = np.tanh(x)
    np.testing.assert_allclose(second, -2 * t * (1 - t * t), rtol=1e-12, atol=1e-15)


def test_slope_needs_no_more_functions_than_the_value():
    steps = [step.op for step in slope_of(alone("tanh")).form.instructions]
    assert steps.count("tanh") == 1
    assert "tanh" not in [step.op for step in slope_of(alone("sin")).form.instructions]


def test_slope_of_a_constant_is_zero():
    @mapper
    def constant(x, a):
        return a + 1

    np.testing.assert_array_equal(slope_of(constant).map(np.ones(3, np.float32), 1), np.zeros(3, np.float32))


def test_wrong_requests_are_refused():
    @mapper
    def truth(x):
        return x > 0

    with pytest.raises(MapperError, match="returns a boolean, which has no slope"):
        slope_of(truth)
    with pytest.raises(MapperError, match="no argument 'z'; it takes x, a"):
        slope_of(composite, "z")
    with pytest.raises(MapperError, match="no input 2; it takes x, a"):
        slope_of(composite, 2)


@pytest.mark.parametrize("backend", ["python", "numpy", VECTOR])
def test_digamma_has_four_units_in_the_last_place_and_1e_15_beside_its_zeros(backend):
    """Below -6, where two numbers of the size of a logarithm cancel, it has 3 units of that."""
    rng = np.random.default_rng(7)
    positive = [rng.uniform(1e-3, 12, 150), 10 ** rng.uniform(1, 15, 30), 10 ** rng.uniform(-300, -3, 30)]
    near = 1.4616321449683622 + rng.normal(size=40) * 10.0 ** rng.uniform(-12, -2, 40)
    negative = [
        -rng.uniform(0, 6, 250),
        -(10 ** rng.uniform(-300, -3, 30)),
        -(10 ** rng.uniform(0.78, 8, 250)),
    ]
    # A zero lies by arctan(pi / log(n)) / pi to the right of the pole at -n, or nearly.
    pole, away = (
        np.rint(10 ** rng.uniform(0.9, 8, 150)),
        rng.normal(size=150) * 10 ** rng.uniform(-8, -2, 150),
    )
    zeros = -pole + np.arctan(math.pi / np.log(pole)) / math.pi + away
    x = np.concatenate([*positive, near, *negative, zeros])
    with mpmath.workdps(40):
        exact = [mpmath.digamma(mpmath.mpf(value)) for value in x.tolist()]
        found = digamma.backend(backend).map(x)
        error = np.array([float(abs(mpmath.mpf(a) - b)) for a, b in zip(found.tolist(), exact, strict=True)])
    allowed = np.maximum(4 * np.spacing(np.abs(np.array(exact, float))), 1e-15)
    logarithm = np.log1p(np.maximum(-x, 0.0))
    allowed = np.maximum(allowed, np.where(x < -6, 3 * np.spacing(logarithm), 0.0))
    assert (error <= allowed).all(), x[np.argmax(error / allowed)]
    # on the right nothing cancels, so that all digits stand up to the zero
    is_right = x > 1
    assert (error <= 4 * np.spacing(np.maximum(np.abs(np.array(exact, float)), 1e-8)))[is_right].all()


def test_digamma_has_no_value_at_its_poles_and_grows_without_end():
    assert all(math.isnan(digamma(value)) for value in (0.0, -1.0, -7.0, math.nan))
    assert digamma(math.inf) == math.inf


def test_trigamma_is_the_slope_of_digamma():
    """The second derivative of lgamma; some digits of the polynomials' fit are lost."""
    x = np.concatenate([np.linspace(0.05, 20, 400), np.linspace(-5.9, -0.1, 100)])
    x = x[np.abs(x - np.rint(x)) > 1e-3]
    with mpmath.workdps(40):
        exact = np.array([float(mpmath.polygamma(1, mpmath.mpf(value))) for value in x.tolist()])
    np.testing.assert_allclose(slope_of(digamma).map(x), exact, rtol=2e-13)


def test_digamma_keeps_its_digits_beside_a_pole():
    x = np.float32([-0.000878742546774447, -1e-6, -1.0008, -0.9992, -2.0001, -6.00001])
    np.testing.assert_allclose(digamma.map(x), special.digamma(x.astype(np.float64)), rtol=3e-7)


@mapper
def power(a, b):
    return a**b


@mapper
def small_power(a):
    return a**1e-5


@mapper
def constant_power(a):
    return a**0


@pytest.mark.parametrize("base", [5e-324, 1e-310, 1e-300, 0.0, 0.5, 2.0])
def test_the_slope_of_a_power_is_0_where_the_exponent_is(base):
    assert slope_of(power).backend("numpy")(base, 0.0) == 0
    assert slope_of(constant_power).backend("numpy")(base) == 0
    along_exponent = slope_of(slope_of(power), 1).backend("numpy")
    if base:
        with np.errstate(all="ignore"):
            assert along_exponent(base, 0.0) == 1 / np.float64(base)


def test_the_slope_of_a_small_power_of_a_small_base_is_found_without_overflow():
    for base, exponent in [(1e-310, 1e-300), (1e-310, -1e-5), (1e-307, -9e-4), (1e-3, 1e-4)]:
        expected = float(mpmath.mpf(exponent) * mpmath.mpf(base) ** (mpmath.mpf(exponent) - 1))
        assert slope_of(power).backend("numpy")(base, exponent) == pytest.approx(expected, rel=1e-12)
    expected = float(mpmath.mpf(1e-5) * mpmath.mpf(1e-310) ** (mpmath.mpf(1e-5) - 1))
    assert slope_of(small_power).backend("numpy")(1e-310) == pytest.approx(expected, rel=1e-12)
