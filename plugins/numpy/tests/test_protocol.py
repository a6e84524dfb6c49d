"""NumPy's functions and operators on arrays: what an operator computes, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from operad import autograd, nd, registry
from operad.errors import ArgumentError, DTypeError
from operad.ndarray.numpy_protocol import OPERATORS
from operad_numpy import protocol

VALUES = np.float32([0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, 1e-30, 1e30, -7, 3, np.nan, np.inf, -np.inf])
LEFT, RIGHT = (side.ravel() for side in np.meshgrid(VALUES, VALUES))
WHOLE = np.array([0, 1, 3, 5, 2, 7, 9, 0])
X = np.float32([[1, -2, 3], [0.5, 0, -4]])
BOTH_ROUND = {np.divide, np.remainder, np.floor_divide}
"""What the operators give of integers and of division by zero is MXNet's; see docs/differences.md."""


def close(found, expected):
    assert isinstance(found, nd.NDArray)
    np.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.walk
@pytest.mark.parametrize(
    "ufunc",
    [u for u in (*protocol._UNARY, *protocol._EXPRESSIONS) if u is not np.invert],
    ids=lambda u: u.__name__,
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_ufunc_of_one_array_gives_what_numpy_gives(ufunc):
    close(ufunc(nd.array(VALUES)), ufunc(VALUES))


@pytest.mark.walk
@pytest.mark.parametrize(
    "ufunc",
    [u for u in (*protocol._SYMMETRIC, *OPERATORS) if u is not np.matmul],
    ids=lambda u: u.__name__,
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_ufunc_of_two_arrays_gives_what_numpy_gives(ufunc):
    if ufunc.__name__.startswith("bitwise"):
        a, b = LEFT > 0, RIGHT > 0
        close(ufunc(nd.array(a, dtype="bool"), b), ufunc(a, b))
        close(ufunc(a, nd.array(b, dtype="bool")), ufunc(a, b))
        return
    usual = np.isfinite(LEFT) & np.isfinite(RIGHT) & (RIGHT != 0)
    a, b = (LEFT[usual], RIGHT[usual]) if ufunc in BOTH_ROUND else (LEFT, RIGHT)
    expected = ufunc(a, b)
    close(ufunc(nd.array(a), nd.array(b)), expected)
    close(ufunc(a, nd.array(b)), expected)
    close(ufunc(nd.array(a), b), expected)
    close(ufunc(np.float64(2), nd.array(b)), ufunc(np.float32(2), b))


@pytest.mark.parametrize("ufunc", [np.sqrt, np.tanh, np.hypot, np.log])
@pytest.mark.parametrize("dtype", ["int32", "uint8", "bool"])
def test_a_ufunc_whose_operator_would_round_integers_is_refused(ufunc, dtype):
    x = nd.array([1, 3], dtype=dtype)
    with pytest.raises(DTypeError, match=r"astype\('float32'\)"):
        ufunc(*[x] * ufunc.nin)


def test_a_ufunc_that_keeps_integers_is_computed():
    close(np.square(nd.array([1, 3], dtype="int32")), [1, 9])


@pytest.mark.walk
@pytest.mark.parametrize("name", ["mean", "sum", "prod", "max", "min", "std", "var", "any", "all"])
@pytest.mark.parametrize("options", [{}, {"axis": 0}, {"axis": (0, 1)}, {"axis": -1, "keepdims": True}])
@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8", "bool"])
def test_a_reduction_gives_what_numpy_gives(name, options, dtype):
    values = (X * 40 + 200).astype(dtype) if dtype == "uint8" else X.astype(dtype)
    function = getattr(np, name)
    expected = function(values, **options)
    found = function(nd.array(values, dtype=dtype), **options)
    assert found.dtype == expected.dtype
    close(found, np.atleast_1d(expected))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.concatenate([x, x]),
        lambda x: np.concatenate([X, x], axis=1),
        lambda x: np.stack([x, x], axis=-1),
        lambda x: np.transpose(x),
        lambda x: np.transpose(x, axes=(1, 0)),
        lambda x: np.expand_dims(x, 1),
        lambda x: np.squeeze(np.expand_dims(x, 0)),
        lambda x: np.clip(x, -1, 1),
        lambda x: np.dot(x, np.transpose(x)),
        lambda x: np.zeros_like(x),
        lambda x: np.ones_like(x),
        lambda x: np.copy(x),
        lambda x: np.tanh(x) + np.exp(x) * 2,
        lambda x: np.float32([1, 2, 3]) * x,
        lambda x: np.float32(2) ** x,
        lambda x: X @ x.T,
    ],
)
def test_a_function_gives_what_numpy_gives(call):
    close(call(nd.array(X)), call(X))


NOT_NUMPYS = {
    "rint": "rounds halves another way", "sign": "has a sign of NaN", "pad": "takes other modes and widths",
    "identity": "gives its argument", "unravel_index": "takes and gives one array",
    "ravel_multi_index": "takes one array",
}  # fmt: skip
"""Operators with a name of NumPy's that compute something else, and what."""


def test_every_operator_with_a_name_of_numpys_is_reached_by_it():
    tables = (OPERATORS, protocol._UNARY, protocol._EXPRESSIONS, protocol._SYMMETRIC, protocol._AS_NUMPY)
    ufuncs = {ufunc for table in tables for ufunc in table}
    added = set(registry.attribute_names("numpy"))
    names = [name for name in registry.list_operators() if callable(getattr(np, name, None))]
    missed = {
        name for name in names if getattr(np, name) not in ufuncs and getattr(np, name).__name__ not in added
    }
    assert missed == set(NOT_NUMPYS)


def test_what_only_looks_at_values_works_on_copies():
    x = nd.array(X)
    assert np.allclose(x, X)
    assert np.array_equal(X, x)
    assert (np.shape(x), np.ndim(x), np.size(x)) == ((2, 3), 2, 6)
    np.testing.assert_array_equal(x, X)
    np.testing.assert_allclose(x + 1, X + 1)


def test_indices_and_rounded_numbers_are_those_of_operators():
    x = nd.array(X)
    assert np.round(nd.array([0.5, -0.5, 1.2])).asnumpy().tolist() == [1, -1, 1]
    for call in (np.argmax, lambda x: np.argmin(x, axis=1)):
        found = call(x)
        assert (type(found), found.dtype) == (nd.NDArray, np.float32)
        np.testing.assert_array_equal(found.asnumpy(), np.atleast_1d(call(X)))
    with pytest.raises(TypeError, match=r"numpy\.round with these arguments"):
        np.round(x, 1)


def test_gradients_flow_through_numpys_functions():
    x = nd.array(X)
    x.attach_grad()
    with autograd.record():
        y = np.mean(np.square(x) + np.concatenate([x[:1], x[1:]]), axis=0)
    y.backward()
    close(x.grad, X + 0.5)


def in_place(values):
    values += nd.array([1, 2, 3])


@pytest.mark.parametrize(
    "call",
    [
        np.sign, np.rint, np.gradient, np.linalg.qr, np.add.reduce,
        lambda x: np.add(x, x, out=x), lambda x: np.tanh(x, dtype="float64"),
        lambda x: np.sum(x, dtype="int8"), lambda x: np.mean(x, axis=()), lambda x: np.copyto(x, 1),
        lambda _: in_place(X.copy()),
        lambda x: np.concatenate([x, x], axis=0, out=x), lambda x: np.dot(nd.zeros((2, 2, 2)), x),
        lambda x: np.divmod(x, 2),
    ],
)  # fmt: skip
def test_what_no_operator_computes_as_numpy_does_is_a_type_error_with_the_next_step(call):
    with pytest.raises(TypeError, match=r"^numpy\.\w+.*(x\.asnumpy\(\)|leave it out|x @ y)") as caught:
        call(nd.array(X))
    assert isinstance(caught.value, ArgumentError)
