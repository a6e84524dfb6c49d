"""Errors of the compiled functions, in units in the last place of the correctly rounded value."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

from operad_sdk.mapper import Mapper
from operad_sdk.mapper.builder import Builder
from operad_sdk.mapper.expansions import expanded, replaced
from operad_sdk.mapper.precision import FLOAT32
from operad_sdk.mapper.primitives import PRIMITIVES
from operator_sdk.sdk.tests.accuracy import errors_in_ulps
from operator_sdk.sdk.tests.vector_code import require_vector_code

require_vector_code()

# Bounds, float32 and float64: measured maxima on these samples, rounded up to the next half.
OWN = {
    "exp": (1.5, 1.5),
    "exp2": (1.5, 1.5),
    "expm1": (2.0, 2.5),
    "log": (1.0, 1.0),
    "log1p": (1.0, 1.0),
    "log2": (2.0, 2.0),
    "log10": (2.5, 3.0),
    "sinh": (2.0, 2.0),
    "cosh": (2.0, 2.0),
    "tanh": (3.0, 3.0),
    "erf": (1.5, 3.5),
    "erfc": (7.0, 1.0),
}
OF_VECTOR_CODE = {
    "sin": (1.5, 1.5),
    "cos": (1.5, 1.5),
    "tan": (3.0, 3.0),
    "asin": (2.0, 2.0),
    "acos": (1.5, 1.5),
    "atan": (2.0, 2.0),
    "asinh": (2.0, 2.0),
    "acosh": (2.5, 2.5),
    "atanh": (2.0, 2.0),
    "cbrt": (1.0, 1.0),
    "sqrt": (0.5, 0.5),
}
DTYPES = {"float32": np.float32, "float64": np.float64}


def compiled(op):
    builder = Builder(f"only_{op}", ["x"])
    return Mapper(builder.finish(builder.apply(op, 0))).backend("vector")


def sample(dtype):
    """Every exponent, ranges where functions turn, neighbourhoods of 0 and 1, special values."""
    rng = np.random.default_rng(7)
    n = 40_000
    info = np.finfo(dtype)
    words = np.dtype(f"u{np.dtype(dtype).itemsize}")
    bits = rng.integers(0, np.iinfo(words).max, n, dtype=words, endpoint=True).view(dtype)
    near_zero = rng.uniform(-1, 1, n) * 10 ** rng.uniform(-8, 0, n)
    near_one = 1 + rng.uniform(-0.5, 1, n) * 10 ** rng.uniform(-7, 0, n)
    wide = rng.uniform(-1.05, 1.05, n) * np.log(float(info.max))
    special_values = [0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, info.max, info.min, info.tiny, -info.tiny]
    special_values += [info.smallest_subnormal, -info.smallest_subnormal]
    parts = [rng.normal(size=n), rng.uniform(-20, 20, n), near_zero, near_one, wide, special_values]
    return np.concatenate([bits[np.isfinite(bits)], *(np.asarray(part).astype(dtype) for part in parts)])


def reference(op, x):
    if op == "erf":
        return special.erf(x.astype(np.float64)).astype(np.longdouble)
    if op == "erfc":  # of which SciPy's is 0 where the value is subnormal
        return np.vectorize(math.erfc, otypes=[float])(x).astype(np.longdouble)
    with np.errstate(all="ignore"):
        return PRIMITIVES[op].evaluate(x.astype(np.longdouble))


@pytest.mark.walk
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", [*OWN, *OF_VECTOR_CODE])
def test_error_stays_below_the_stated_bound(op, dtype):
    kind = DTYPES[dtype]
    bound = {**OWN, **OF_VECTOR_CODE}[op][kind is np.float64]
    x = sample(kind)
    check_error(op, x, compiled(op).map(x), bound)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", OWN)
def test_a_processor_without_fused_multiply_add_has_the_same_bound(op, dtype):
    kind = DTYPES[dtype]
    builder = Builder(op, ["x"])
    form = expanded(builder.finish(builder.apply(op, 0)), np.dtype(kind))
    form = replaced(form, {"fma": lambda a, b, c, _: a * b + c}, FLOAT32)  # which rounds twice
    x = sample(kind)
    check_error(op, x, Mapper(form).backend("vector").map(x), OWN[op][kind is np.float64])


def check_error(op, x, found, bound):
    error, finite = errors_in_ulps(found, reference(op, x))
    assert error.max() <= bound, x[finite][error.argmax()]


@pytest.mark.parametrize("op", ["tanh", "erf"])
def test_bounded_functions_stay_within_one(op):
    assert np.abs(compiled(op).map(np.linspace(-50, 50, 400_001).astype(np.float32))).max() == 1.0


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", ["gamma", "lgamma", "power", "atan2", "hypot", "fmod"])
def test_functions_of_two_numbers_and_gamma_agree_with_numpy(op, dtype):
    kind = DTYPES[dtype]
    arity = PRIMITIVES[op].arity
    builder = Builder(f"only_{op}", ["x", "y"][:arity])
    function = Mapper(builder.finish(builder.apply(op, *range(arity))))
    args = [np.linspace(0.1, 6.1, 501).astype(kind), np.linspace(3.0, -3.0, 501).astype(kind)][:arity]
    found, expected = function.backend("vector").map(*args), function.backend("numpy").map(*args)
    np.testing.assert_allclose(found, expected, rtol=20 * np.finfo(kind).eps, atol=20 * np.finfo(kind).eps)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", OWN)
def test_expansion_itself_is_accurate_without_the_compiler(op, dtype):
    # The same formulas on NumPy: what fails here is the formula, not machine code.
    kind = DTYPES[dtype]
    builder = Builder(f"only_{op}", ["x"])
    form = expanded(builder.finish(builder.apply(op, 0)), np.dtype(kind))
    is_own = kind is np.float32 or op not in ("erf", "erfc")
    assert (op not in [step.op for step in form.instructions]) is is_own
    x = np.linspace(0.05, 3.0, 2001).astype(kind)
    np.testing.assert_allclose(
        Mapper(form).backend("numpy").map(x), reference(op, x), rtol=8 * np.finfo(kind).eps
    )
