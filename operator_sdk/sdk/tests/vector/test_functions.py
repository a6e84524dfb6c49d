"""Errors of functions in vector code, in units in the last place of the correctly rounded value."""

from __future__ import annotations

import math
from importlib import import_module

import mpmath
import numpy as np
import pytest

pytest.importorskip("llvmlite")

from operad_sdk.mapper.builder import Builder
from operad_sdk.mapper.primitives import PRIMITIVES
from operad_sdk.vector import CompiledForm, machine
from operad_sdk.vector.functions import functions_of
from operator_sdk.sdk.tests.accuracy import errors_in_ulps
from operator_sdk.sdk.tests.mapper.test_expansions import sample
from operator_sdk.sdk.tests.vector.guarded import guarded

# Bounds for both types: measured maxima on these samples, rounded up to the next half; 0: exact.
BOUNDS = {
    "sin": 1.5, "cos": 1.5, "tan": 3.0, "asin": 2.0, "acos": 1.5, "atan": 2.0, "asinh": 2.0, "acosh": 2.5,
    "atanh": 2.0, "cbrt": 1.0, "hypot": 1.0, "fmod": 0.0, "remainder": 0.0, "floor_divide": 0.0, "power": 1.0,
    "gamma": 1.0, "lgamma": 2.0, "erf": 1.5,
}  # fmt: skip
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, -2.0, 3.0]
CASES = [
    (op, dtype)
    for dtype in ("float32", "float64")
    for op in BOUNDS
    if op in functions_of(np.dtype(dtype)) and op not in ("gamma", "lgamma", "erf")
]


def compute(op, *args):
    builder = Builder("f", ["x", "y"][: len(args)])
    found = guarded(args[0].shape, args[0].dtype)
    CompiledForm(builder.finish(builder.apply(op, *range(len(args)))), args[0].dtype)(args, [found])
    return found


def arguments(op, dtype):
    """Numbers of every exponent, near 0 and 1, and special ones, in pairs where the function takes two."""
    x = sample(dtype)
    if PRIMITIVES[op].arity == 1:
        return [x]
    rng = np.random.default_rng(3)
    near, whole = rng.uniform(-20, 20, (2, 30_000)), rng.integers(-30, 30, (2, 10_000))
    pairs = np.array([(a, b) for a in SPECIAL for b in SPECIAL]).T
    ends = zip(near, whole, pairs, strict=True)
    return [
        np.concatenate([own, *(part.astype(dtype) for part in parts)])
        for own, parts in zip((x, rng.permutation(x)), ends, strict=True)
    ]


def expect_within(bound, found, exact, args):
    error, finite = errors_in_ulps(found, exact)
    assert error.max() <= bound, [arg[finite][error.argmax()] for arg in args]


@pytest.mark.parametrize(("op", "dtype"), CASES)
def test_error_stays_below_the_stated_bound(op, dtype):
    args = arguments(op, np.dtype(dtype).type)
    wide = args if BOUNDS[op] == 0 else [arg.astype(np.longdouble) for arg in args]
    with np.errstate(all="ignore"):
        exact = PRIMITIVES[op].evaluate(*wide)
    expect_within(BOUNDS[op], compute(op, *args), exact.astype(np.longdouble), args)


@pytest.mark.parametrize(
    "op", ["sin", "cos", "tan", "asin", "acos", "atan", "asinh", "acosh", "atanh", "cbrt", "erf"]
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bounds_hold_against_40_digits(op, dtype):
    rng = np.random.default_rng(5)
    x = np.concatenate(
        [rng.uniform(-1, 1, 300), rng.normal(size=300) * 1000, 10.0 ** rng.uniform(-9, 9, 300)]
    )
    if op in (
        "sin",
        "cos",
        "tan",
    ):  # beside multiples of the half of pi the digits of a bad reduction are gone
        x = np.concatenate([x, rng.integers(1, 60_000, 300) * (np.pi / 2)])
    x = x.astype(dtype)
    if op in ("asin", "acos", "atanh"):
        x = x[np.abs(x) < 1]
    if op == "acosh":
        x = x[x >= 1]
    with mpmath.workdps(40):
        found = [
            mpmath.cbrt(abs(v)) * mpmath.sign(v) if op == "cbrt" else getattr(mpmath, op)(v)
            for v in map(mpmath.mpf, x.tolist())
        ]
        exact = np.array([np.longdouble(mpmath.nstr(value, 25)) for value in found])
    expect_within(BOUNDS[op], compute(op, x), exact, [x])


def exact_gamma(op, value):
    if math.isnan(value):
        return value
    if op == "lgamma" and (math.isinf(value) or (value <= 0 and value == math.floor(value))):
        return math.inf
    if op == "gamma" and (value > 1000 or value == 0):
        return math.copysign(math.inf, value)
    if op == "gamma" and value < 0 and value == np.floor(value):
        return math.nan
    with mpmath.workdps(40):
        found = mpmath.gamma(value) if op == "gamma" else mpmath.loggamma(mpmath.mpc(value)).real
        return np.longdouble(mpmath.nstr(found, 25))


@pytest.mark.parametrize(
    ("op", "dtype"), [("gamma", "float32"), ("lgamma", "float32"), ("lgamma", "float64")]
)
def test_gamma_functions_are_within_their_bounds(op, dtype):
    rng = np.random.default_rng(1)
    parts = [rng.uniform(-45, 36, 500), rng.normal(size=300), 10.0 ** rng.uniform(-30, 30, 100)]
    parts += [zero + rng.uniform(-0.3, 0.3, 100) for zero in (1, 2)]
    parts += [zero + rng.normal(size=30) * 1e-4 for zero in (1, 2)]
    parts += [np.arange(-5.0, 36.0), SPECIAL]
    x = np.concatenate(parts).astype(dtype)
    exact = np.array([exact_gamma(op, value) for value in x.tolist()], np.longdouble)
    if (
        dtype == "float64"
    ):  # below 0 its zeros are no numbers, and the error is one of so many digits after the point
        x, exact = x[~(x < 0)], exact[~(x < 0)]
    # From 1/2 to 3/4 the sum of float64 is of the size of 1, and the value of a quarter of that.
    expect_within(BOUNDS[op] if dtype == "float32" else 24.0, compute(op, x), exact, [x])


def test_the_logarithm_of_gamma_beside_its_zeros_below_0():
    x = np.random.default_rng(1).uniform(-20, 0, 1000)
    exact = np.array([float(exact_gamma("lgamma", value)) for value in x.tolist()])
    np.testing.assert_allclose(compute("lgamma", x), exact, rtol=4e-16, atol=4e-15)


@pytest.mark.parametrize("op", BOUNDS)
def test_a_lane_that_the_c_library_computes_changes_no_other(op):
    if op not in functions_of(np.dtype(np.float32)):
        pytest.skip("of float64 alone")
    rng = np.random.default_rng(2)
    args = [rng.uniform(0.1, 0.9, 100).astype(np.float32) for _ in range(PRIMITIVES[op].arity)]
    before = compute(op, *args).copy()
    for place in (0, 15, 16, 64, 99):
        changed = [arg.copy() for arg in args]
        changed[0][place] = 1e30
        after = compute(op, *changed)
        others = np.arange(100) != place
        np.testing.assert_array_equal(after[others], before[others])


@pytest.mark.parametrize("op", ["gamma", "erfc"])
def test_gamma_and_erfc_of_float64_are_those_of_the_c_library(op):
    x = np.linspace(-5.3, 30, 101)
    assert op not in functions_of(x.dtype)
    exact = np.array([getattr(math, op)(each) for each in x])
    np.testing.assert_allclose(compute(op, x), exact, rtol=1e-15)


def test_gamma_of_float64_has_its_poles():
    x = np.array([0.0, -0.0, np.inf, -np.inf, -2.0, np.nan])
    expected = [np.inf, -np.inf, np.inf, np.nan, np.nan, np.nan]
    np.testing.assert_array_equal(compute("gamma", x), expected)


@pytest.mark.skipif(machine.host().triple.split("-")[0] != "x86_64", reason="AVX2 is of x86-64")
@pytest.mark.parametrize("op", ["sin", "atan", "cbrt", "hypot", "fmod", "lgamma"])
def test_bits_are_the_same_whatever_the_width_of_registers(op, monkeypatch):
    args = [arg[::97] for arg in arguments(op, np.float32)]
    wide = compute(op, *args)
    other = machine.Machine("x86_64-unknown-linux-gnu", "x86-64-v3", "+avx2,+fma,+f16c")
    monkeypatch.setattr(machine, "host", lambda: other)
    monkeypatch.setattr(import_module("operad_sdk.vector.compiled"), "host", lambda: other)
    np.testing.assert_array_equal(compute(op, *args), wide)
