from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import mutually_broadcastable_shapes

import operad as od
from operad.errors import DTypeError, ShapeError
from operad_check.testing import check_forward, gradient_check

RNG = np.random.default_rng(31)
SHAPES = [
    ((2, 3), (2, 3)),
    ((2, 3), (3,)),
    ((2, 1), (1, 3)),
    ((1, 3, 1), (2, 1, 2)),
    ((1,), (2, 2)),
    ((0, 3), (1, 3)),
    ((2, 1), (2, 0)),
]
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "mod": np.remainder,
    "power": np.power,
    "hypot": np.hypot,
    "maximum": np.maximum,
    "minimum": np.minimum,
}


def op(name: str) -> Any:
    return getattr(od.nd, f"broadcast_{name}").operator


def operands(lhs: Any, rhs: Any, dtype: str = "float64") -> list[Any]:
    """Positive, with no two equal, and no quotient near an integer."""
    left = 1 + np.arange(np.prod(lhs, dtype=int)).reshape(lhs) / 8
    right = 2.30859375 + RNG.permutation(np.prod(rhs, dtype=int)).reshape(rhs) / 4
    return [left.astype(dtype), right.astype(dtype)]


@pytest.mark.walk
@pytest.mark.parametrize(("lhs", "rhs"), SHAPES, ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_gradients(name: str, lhs: Any, rhs: Any) -> None:
    inputs = operands(lhs, rhs)
    check_forward(op(name), inputs, FUNCTIONS[name](*inputs))
    gradient_check(op(name), inputs, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_narrow_types_stay_narrow(name: str, dtype: str) -> None:
    inputs = operands((2, 1), (1, 3), dtype)
    (output,) = check_forward(op(name), inputs, FUNCTIONS[name](*inputs), rtol=1e-3)
    assert output.dtype == dtype


@given(mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=3), st.data())
def test_shapes_are_numpys(shapes: Any, data: Any) -> None:
    lhs, rhs = shapes.input_shapes
    assert op("add")().infer_shape([lhs, rhs])[1] == [np.broadcast_shapes(lhs, rhs)]


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"broadcast_mul: .* axis 1 is 3 and 4, expected equal lengths or 1"):
        op("mul")().infer_shape([(2, 3), (4,)])


def test_unknown_shapes_are_not_guessed() -> None:
    assert op("add")().infer_shape([(2, 3), None]) == ([(2, 3), None], [None], [])


def test_remainders_are_mxnets() -> None:
    lhs, rhs = np.array([-7, 7, 5, -5.5]), np.array([3, -3, 0, 2.0])
    check_forward(op("mod"), [lhs, rhs], np.array([2, -2, 0, 0.5]))


def test_the_gradient_of_equal_elements_goes_to_the_left() -> None:
    lhs, rhs = np.ones((1, 3)), np.ones((2, 1))
    for name in ("maximum", "minimum"):
        left, right = gradient_check(op(name), [lhs, rhs], [None, np.zeros((2, 1))])
        assert left is not None
        assert right is not None
        assert (left > 0).all()


def test_integers_are_divided_towards_zero_and_raised_through_doubles() -> None:
    lhs = np.array([[-7], [7]], "int32")
    quotient = check_forward(op("div"), [lhs, np.array([2, 0, -2], "int32")])[0]
    np.testing.assert_array_equal(quotient, np.array([[-3, 0, 3], [3, 0, -3]], "int32"))
    power = check_forward(op("power"), [np.array([2, 7], "int32"), np.array([-1, 2], "int32")])[0]
    np.testing.assert_array_equal(power, np.array([0, 49], "int32"))


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("div", ([[7], [-7]], [2, 2]), ([[0], [0]], [0, 0])),
        ("mod", ([[7], [-7]], [3, 3]), ([[0], [0]], [0, 0])),
        ("power", ([[2], [3]], [2, 3]), ([[16], [33]], [11, 34])),
    ],
)
def test_gradients_of_integers_are_mxnets(name: str, values: Any, expected: Any) -> None:
    pytest.importorskip("operad_elemwise", reason="a gradient gets to integers through a cast only")
    leaves = [od.nd.array(value, dtype="float64") for value in values]
    for leaf in leaves:
        leaf.attach_grad()
    with od.autograd.record():
        out = getattr(od.nd, f"broadcast_{name}")(*(od.nd.cast(leaf, dtype="int32") for leaf in leaves))
    out.backward()
    for leaf, gradient in zip(leaves, expected, strict=True):
        np.testing.assert_array_equal(leaf.grad.asnumpy(), gradient)


def test_hypotenuses_of_integers_are_rounded_towards_zero() -> None:
    check_forward(op("hypot"), [np.array([7, 3], "int32"), np.array([7, 4], "int32")], np.array([9, 5]))


def test_half_precision_gradients_are_summed_in_single_precision() -> None:
    big, small = od.nd.array(np.ones((4096, 1)), dtype="float16"), od.nd.array(np.ones((1,)), dtype="float16")
    small.attach_grad()
    with od.autograd.record():
        total = od.nd.broadcast_add(big, small)
    total.backward()
    assert small.grad is not None
    np.testing.assert_array_equal(small.grad.asnumpy(), np.array([4096], "float16"))


def test_two_element_types_are_refused() -> None:
    with pytest.raises(DTypeError, match="one element type"):
        op("add")().infer_type([np.dtype("float32"), np.dtype("float64")])


@pytest.mark.parametrize(
    ("name", "reads"),
    [
        ("add", ["out_grad"]),
        ("sub", ["out_grad"]),
        ("mul", ["out_grad", "in_data"]),
        ("mod", ["out_grad"]),
    ],
)
def test_the_left_gradient_keeps_only_what_it_reads(name: str, reads: list[str]) -> None:
    assert [entry.kind for entry in op(name)().backward_dependency([True, False])] == reads


@pytest.mark.parametrize("name", [*FUNCTIONS, "plus", "minus"])
def test_runs_imperatively_and_symbolically(name: str) -> None:
    arrays = dict(zip(("lhs", "rhs"), map(od.nd.array, operands((2, 1), (3,))), strict=True))
    eager = getattr(od.nd, f"broadcast_{name}")(**arrays).asnumpy()
    symbol = getattr(od.sym, f"broadcast_{name}")(*map(od.sym.var, arrays))
    np.testing.assert_array_equal(symbol.bind(od.cpu(), arrays).forward()[0].asnumpy(), eager)


def test_arithmetic_of_arrays_comes_here() -> None:
    column, row = od.nd.array([[1], [2]]), od.nd.array([10, 20])
    np.testing.assert_array_equal((column + row).asnumpy(), [[11, 21], [12, 22]])
    np.testing.assert_array_equal((row / column).asnumpy(), [[10, 20], [5, 10]])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arrays_without_axes_have_gradients(name: str) -> None:
    gradient_check(op(name), [np.array(1.125), np.array(2.30859375)], rtol=1e-4, atol=1e-6)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, of infinite and undefined results
def test_a_remainder_by_zero_is_zero_with_mxnets_gradient() -> None:
    lhs, rhs = od.nd.array([-7.0, 7.0]), od.nd.array([0.0, 2.0])
    lhs.attach_grad()
    rhs.attach_grad()
    with od.autograd.record():
        out = od.nd.broadcast_mod(lhs, rhs)
    out.backward()
    assert out.asnumpy().tolist() == [0, 1]
    np.testing.assert_array_equal(lhs.grad.asnumpy(), [1, 1])
    np.testing.assert_array_equal(rhs.grad.asnumpy(), [np.inf, -3])


def test_the_power_zero_is_flat_at_zero() -> None:
    base = od.nd.array([0.0, 2.0])
    base.attach_grad()
    with od.autograd.record():
        out = od.nd.broadcast_power(base, od.nd.array([0.0]))
    out.backward()
    np.testing.assert_array_equal(base.grad.asnumpy(), [0, 0])


def test_powers_and_lengths_have_slopes_where_an_exponent_or_a_length_is_0() -> None:
    base, exponent = od.nd.array([[0.5], [2.0]], dtype="float64"), od.nd.array([[0.0, 1.0]], dtype="float64")
    for array in (base, exponent):
        array.attach_grad()
    with od.autograd.record():
        power = od.nd.broadcast_power(base, exponent)
        (slope,) = od.autograd.grad(power, base, create_graph=True)
    slope.backward()
    # d/db of b a^(b - 1) is a^(b - 1) (1 + b ln a), summed over the bases
    np.testing.assert_allclose(exponent.grad.asnumpy(), [[2.5, 2.0]], rtol=1e-14)
    zeros = od.nd.zeros((2, 2))
    zeros.attach_grad()
    with od.autograd.record():
        length = od.nd.broadcast_hypot(zeros, od.nd.zeros((1, 2)))
    length.backward()
    assert (zeros.grad.asnumpy() == 0).all()
