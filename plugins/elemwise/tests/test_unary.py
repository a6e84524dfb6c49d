"""Every function of one array: its value against NumPy or SciPy, its gradient, its element types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.special

import operad as od
from operad import registry
from operad.errors import DTypeError
from operad_check.testing import check_forward, gradient_check

RNG = np.random.default_rng(1)


class Function(NamedTuple):
    """A reference, and an interval on which operator and gradient are tried."""

    reference: Callable[..., Any]
    low: float = -2.0
    high: float = 2.0
    reads: tuple[str, ...] = ("in_data",)
    params: Mapping[str, Any] = MappingProxyType({})


VALUE = ("out_data",)
NOTHING: tuple[str, ...] = ()

FUNCTIONS = {
    "abs": Function(np.abs, 0.1),
    "square": Function(np.square),
    "sqrt": Function(np.sqrt, 0.1, reads=VALUE),
    "rsqrt": Function(lambda x: 1 / np.sqrt(x), 0.1, reads=VALUE),
    "cbrt": Function(np.cbrt, 0.1, reads=VALUE),
    "rcbrt": Function(lambda x: 1 / np.cbrt(x), 0.1, reads=VALUE),
    "reciprocal": Function(lambda x: 1 / x, 0.1, reads=VALUE),
    "negative": Function(np.negative, reads=NOTHING),
    "exp": Function(np.exp, reads=VALUE),
    "expm1": Function(np.expm1),
    "log": Function(np.log, 0.1),
    "log10": Function(np.log10, 0.1),
    "log2": Function(np.log2, 0.1),
    "log1p": Function(np.log1p, -0.9),
    "sin": Function(np.sin),
    "cos": Function(np.cos),
    "tan": Function(np.tan, -1.4, 1.4, reads=VALUE),
    "arcsin": Function(np.arcsin, -0.9, 0.9),
    "arccos": Function(np.arccos, -0.9, 0.9),
    "arctan": Function(np.arctan),
    "degrees": Function(np.degrees, reads=NOTHING),
    "radians": Function(np.radians, reads=NOTHING),
    "sinh": Function(np.sinh),
    "cosh": Function(np.cosh),
    "tanh": Function(np.tanh, reads=VALUE),
    "arcsinh": Function(np.arcsinh),
    "arccosh": Function(np.arccosh, 1.2, 3.0),
    "arctanh": Function(np.arctanh, -0.9, 0.9),
    "gamma": Function(scipy.special.gamma, 0.2, 5.0),
    "gammaln": Function(scipy.special.gammaln, 0.2, 8.0),
    "erf": Function(scipy.special.erf),
    "erfinv": Function(scipy.special.erfinv, -0.95, 0.95, reads=VALUE),
    "relu": Function(lambda x: np.maximum(x, 0), 0.1, reads=VALUE),
    "sigmoid": Function(scipy.special.expit, -6, 6, reads=VALUE),
    "hard_sigmoid": Function(
        lambda x: np.clip(0.3 * x + 0.4, 0, 1), -0.9, 1.9, VALUE, {"alpha": 0.3, "beta": 0.4}
    ),
    "softsign": Function(lambda x: x / (1 + np.abs(x))),
    "clip": Function(lambda x: np.clip(x, -1, 0.5), params={"a_min": -1, "a_max": 0.5}),
    "identity": Function(lambda x: x, reads=NOTHING),
}

FLAT = {
    "sign": np.sign,
    "round": lambda x: np.trunc(x + np.copysign(0.5, x)),
    "rint": lambda x: np.ceil(x - 0.5),
    "ceil": np.ceil,
    "floor": np.floor,
    "trunc": np.trunc,
    "fix": np.trunc,
    "logical_not": np.logical_not,
    "zeros_like": np.zeros_like,
    "ones_like": np.ones_like,
    "BlockGrad": lambda x: x,
    "stop_gradient": lambda x: x,
}

TOLERANCE = {"float16": 2e-2, "float32": 2e-6, "float64": 1e-12}


def sample(function: Function, shape: tuple[int, ...], dtype: Any = "float64") -> Any:
    return RNG.uniform(function.low, function.high, shape).astype(dtype)


@pytest.mark.walk
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_computes_the_function_in_the_type_of_its_argument(name: str, dtype: str) -> None:
    function = FUNCTIONS[name]
    data = sample(function, (3, 5), dtype)
    expected = function.reference(data.astype("float64"))
    tolerance = TOLERANCE[dtype]
    (out,) = check_forward(
        registry.get(name), [data], expected, rtol=tolerance, atol=tolerance, **function.params
    )
    assert out.dtype == dtype


@pytest.mark.walk
@pytest.mark.parametrize("name", FUNCTIONS)
def test_has_the_gradient_of_the_function(name: str) -> None:
    function = FUNCTIONS[name]
    gradient_check(registry.get(name), [sample(function, (2, 3))], **function.params)


@pytest.mark.walk
@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in ("gamma", "gammaln", "erf")])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_the_gradient_keeps_the_type_of_the_argument(name: str, dtype: str) -> None:
    function = FUNCTIONS[name]
    x = od.nd.array(sample(function, (4,)), dtype=dtype)
    wide = od.nd.array(x.asnumpy(), dtype="float64")
    gradients = []
    for array in (x, wide):
        array.attach_grad()
        with od.autograd.record():
            y = getattr(od.nd, name)(array, **function.params)
        y.backward()
        gradients.append(array.grad.asnumpy())
    assert gradients[0].dtype == dtype
    tolerance = {"float16": 3e-2, "float32": 1e-4}[dtype]
    np.testing.assert_allclose(*gradients, rtol=tolerance, atol=tolerance)


@pytest.mark.walk
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_gradient_reads_no_more_than_it_needs(name: str) -> None:
    function = FUNCTIONS[name]
    entries = registry.get(name)(**function.params).backward_dependency([True])
    assert tuple(entry.kind for entry in entries if entry.kind != "out_grad") == function.reads


@pytest.mark.walk
@pytest.mark.parametrize("name", FUNCTIONS)
def test_empty_and_strided_arrays_are_no_exception(name: str) -> None:
    function = FUNCTIONS[name]
    op = registry.get(name)
    check_forward(op, [np.zeros((0, 3), "float32")], np.zeros((0, 3)), **function.params)
    data = sample(function, (4, 6))[::2, ::-3]
    check_forward(op, [data], function.reference, rtol=1e-12, atol=1e-12, **function.params)


@pytest.mark.walk
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_single_number_is_an_array(name: str) -> None:
    function = FUNCTIONS[name]
    data = sample(function, ())
    check_forward(registry.get(name), [data], function.reference, rtol=1e-12, atol=1e-12, **function.params)
    gradient_check(registry.get(name), [data], **function.params)


@pytest.mark.parametrize("name", FLAT)
def test_a_single_number_is_rounded(name: str) -> None:
    check_forward(registry.get(name), [np.array(-1.6)], FLAT[name](np.array(-1.6)))


@pytest.mark.walk
@pytest.mark.parametrize("name", FLAT)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "int8"])
def test_flat_functions_have_values_and_no_gradient(name: str, dtype: str) -> None:
    data = np.array([-2.5, -1.5, -0.4, 0, 0.5, 1.5, 2.6]).astype(dtype)
    (out,) = check_forward(registry.get(name), [data], FLAT[name](data.astype("float64")))
    assert out.dtype == dtype
    if data.dtype.kind == "f":
        x = od.nd.array(data, dtype=dtype)
        x.attach_grad()
        with od.autograd.record():
            y = getattr(od.nd, name)(x) + x
        y.backward()
        np.testing.assert_array_equal(x.grad.asnumpy(), np.ones_like(data))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rounding_is_exact_next_to_a_half_and_for_large_numbers(dtype: str) -> None:
    half = np.nextafter(np.array(0.5, dtype), np.array(0, dtype))
    large = np.array(2.0 ** (np.finfo(dtype).nmant) + 1, dtype)
    data = np.array([half, -half, large, -large], dtype)
    for name in ("round", "rint"):
        check_forward(registry.get(name), [data], np.array([0, 0, large, -large]), rtol=0, atol=0)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_sigmoid_overflows_nowhere(dtype: str) -> None:
    data = np.array([-np.inf, -6e4, -20, 20, 6e4, np.inf], dtype)
    expected = scipy.special.expit(data.astype("float64"))
    tolerance = {"float16": 1e-3, "float32": 1e-6, "float64": 1e-12}[dtype]
    smallest = np.finfo(dtype).smallest_subnormal if dtype == "float16" else 1e-38
    (out,) = check_forward(registry.get("sigmoid"), [data], expected, rtol=tolerance, atol=smallest)
    assert np.isfinite(out).all()


@pytest.mark.parametrize("name", ["gamma", "gammaln", "erf", "erfinv"])
@pytest.mark.parametrize("size", [100, 5000])
def test_special_functions_stay_within_their_stated_error(name: str, size: int) -> None:
    low, high, ulps = {
        "gamma": (0.01, 33.0, 16),
        "gammaln": (0.01, 200.0, 8),
        "erf": (-6.0, 6.0, 4),
        "erfinv": (-0.99999, 0.99999, 4),
    }[name]
    for dtype in ("float32", "float64"):
        data = RNG.uniform(low, high, size).astype(dtype)
        expected = getattr(scipy.special, name)(data.astype("float64"))
        floor = 1.0 if name == "gammaln" else 0.0
        unit = np.spacing(np.maximum(np.abs(expected), floor).astype(dtype))
        error = np.abs(getattr(od.nd, name)(od.nd.array(data, dtype=dtype)).asnumpy() - expected) / unit
        assert error.max() <= ulps


def test_of_bounds_that_cross_the_one_that_is_passed_counts() -> None:
    check_forward(registry.get("clip"), [np.array([-2.0, 0.0, 2.0])], [[1.0, -1.0, -1.0]], a_min=1, a_max=-1)


@pytest.mark.parametrize(("name", "slope"), [("abs", 0), ("clip", 1), ("relu", np.nan)])
def test_nan_has_no_sign_and_passes_bounds(name: str, slope: float) -> None:
    x = od.nd.array([np.nan])
    assert od.nd.sign(x).asscalar() == 0
    x.attach_grad()
    with od.autograd.record():
        y = getattr(od.nd, name)(x, **({"a_min": 0, "a_max": 1} if name == "clip" else {}))
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [slope])


def test_erfinv_is_infinite_at_the_ends_and_nan_beyond() -> None:
    got = od.nd.erfinv(od.nd.array([-2.0, -1.0, 1.0, 2.0])).asnumpy()
    np.testing.assert_array_equal(got, [np.nan, -np.inf, np.inf, np.nan])


@pytest.mark.walk
@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in ("hard_sigmoid", "clip")])
@pytest.mark.parametrize("dtype", ["int16", "int32", "int64"])
def test_functions_of_real_numbers_are_rounded_towards_zero_for_integers(name: str, dtype: str) -> None:
    finite = {"arcsin": [0, 1], "arccos": [0, 1], "arctanh": [0], "erfinv": [0]}
    data = np.array(finite.get(name, [1, 2, 5]), dtype)
    expected = np.trunc(FUNCTIONS[name].reference(data.astype("float64")))
    (out,) = check_forward(registry.get(name), [data], expected, rtol=0, atol=0)
    assert out.dtype == dtype


@pytest.mark.parametrize("name", ["exp", "hard_sigmoid", "clip"])
def test_what_is_no_number_says_to_cast(name: str) -> None:
    params = {"a_min": 0, "a_max": 1} if name == "clip" else {}
    with pytest.raises(DTypeError, match=f"{name}: data is bool.*cast"):
        getattr(od.nd, name)(od.nd.array([1, 2], dtype="bool"), **params)


@pytest.mark.parametrize("name", ["abs", "square", "negative", "relu", "clip", "sign"])
def test_integers_stay_integers(name: str) -> None:
    params = {"a_min": -1.5, "a_max": 1e9} if name == "clip" else {}
    expected = {
        "abs": [3, 4],
        "square": [9, 16],
        "negative": [3, -4],
        "relu": [0, 4],
        "clip": [-1, 4],
        "sign": [-1, 1],
    }
    for dtype in ("int8", "int32", "int64"):
        got = getattr(od.nd, name)(od.nd.array([-3, 4], dtype=dtype), **params).asnumpy()
        assert (got.tolist(), got.dtype) == (expected[name], dtype)


def test_infinite_numbers_are_whole() -> None:
    for name in ("round", "rint", "ceil", "floor", "trunc"):
        assert getattr(od.nd, name)(od.nd.array([-np.inf, np.inf])).asnumpy().tolist() == [-np.inf, np.inf]


def test_the_gradient_of_relu_is_nan_where_the_argument_is() -> None:
    x = od.nd.array([np.nan, -1.0, 0.0, 1.0])
    x.attach_grad()
    with od.autograd.record():
        y = od.nd.relu(x)
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [np.nan, 0, 0, 1])


def test_clip_passes_the_gradient_at_its_bounds() -> None:
    x = od.nd.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    x.attach_grad()
    with od.autograd.record():
        y = od.nd.clip(x, a_min=-1, a_max=1)
    y.backward()
    assert x.grad.asnumpy().tolist() == [0, 1, 1, 1, 0]


@pytest.mark.walk
@pytest.mark.parametrize("name", [*FUNCTIONS, *FLAT])
def test_a_symbol_computes_what_the_function_computes(name: str) -> None:
    function = FUNCTIONS.get(name, Function(np.sign))
    x = od.nd.array(sample(function, (2, 3), "float32"))
    symbol = getattr(od.sym, name)(od.sym.var("x"), **function.params)
    eager = getattr(od.nd, name)(x, **function.params)
    np.testing.assert_array_equal(symbol.bind(od.cpu(), {"x": x}).forward()[0].asnumpy(), eager.asnumpy())
