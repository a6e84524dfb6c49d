"""Functions of `nd` and `sym` that are no operators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ArgumentError, ShapeError

A, B = np.array([[1.0, -2, 3], [0, 5, 2]], np.float32), np.array([[2.0, 2, 2]], np.float32)
BINARY = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide,
    "true_divide": np.divide, "modulo": np.mod, "power": np.power, "maximum": np.maximum,
    "minimum": np.minimum, "equal": np.equal, "not_equal": np.not_equal, "greater": np.greater,
    "greater_equal": np.greater_equal, "lesser": np.less, "lesser_equal": np.less_equal,
    "logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor,
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(BINARY))
def test_a_function_takes_arrays_and_numbers_on_either_side(name: str) -> None:
    function, expected = getattr(od.nd, name), BINARY[name]
    a, b = od.nd.array(A), od.nd.array(B)
    for given, by_numpy in (((a, b), (A, B)), ((a, 2.0), (A, 2.0)), ((2.0, b), (2.0, B))):
        np.testing.assert_allclose(function(*given).asnumpy(), expected(*by_numpy), rtol=1e-6)
    assert function(3, 2) == expected(3.0, 2.0)
    with pytest.raises(ArgumentError, match=f"{name}: got 'text'"):
        function(a, "text")


@pytest.mark.parametrize("name", ["maximum", "minimum", "hypot", "pow"])
def test_symbols_have_four_of_them(name: str) -> None:
    expected = {"pow": np.power, "hypot": np.hypot}.get(name) or getattr(np, name)
    x, y = od.sym.var("x"), od.sym.var("y")
    arrays = {"x": od.nd.array(np.abs(A)), "y": od.nd.array(np.abs(A) + 1)}
    for symbol, by_numpy in (
        (getattr(od.sym, name)(x, y), expected(np.abs(A), np.abs(A) + 1)),
        (getattr(od.sym, name)(x, 2), expected(np.abs(A), 2)),
        (getattr(od.sym, name)(2, x), expected(2, np.abs(A))),
    ):
        used = {key: arrays[key] for key in symbol.list_arguments()}
        np.testing.assert_allclose(symbol.eval(**used)[0].asnumpy(), by_numpy, rtol=1e-6)


@pytest.mark.parametrize(("source", "destination"), [(0, -1), ((0, 1), (2, 0)), (-1, 0), ((2,), (1,))])
def test_moveaxis_equals_numpys(source: Any, destination: Any) -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    moved = od.nd.moveaxis(od.nd.array(x), source, destination)
    np.testing.assert_array_equal(moved.asnumpy(), np.moveaxis(x, source, destination))


@pytest.mark.parametrize(("source", "destination"), [(3, 0), ((0, 0), (1, 2)), ((0, 1), (0,))])
def test_moveaxis_refuses_what_is_no_order(source: Any, destination: Any) -> None:
    with pytest.raises(ShapeError, match="moveaxis"):
        od.nd.moveaxis(od.nd.ones((2, 3, 4)), source, destination)


def test_split_v2_cuts_between_places_and_into_equal_parts() -> None:
    x = np.arange(12.0).reshape(6, 2)
    for given in (3, (1, 4)):
        parts = od.nd.split_v2(od.nd.array(x), given)
        symbol = od.sym.split_v2(od.sym.var("x"), given)
        for part, by_symbol, expected in zip(
            parts, symbol.eval(x=od.nd.array(x)), np.split(x, given), strict=True
        ):
            np.testing.assert_array_equal(part.asnumpy(), expected)
            np.testing.assert_array_equal(by_symbol.asnumpy(), expected)
    with pytest.raises(ShapeError, match="got 4 sections, expected a divisor"):
        od.nd.split_v2(od.nd.array(x), 4)


def test_symbols_that_make_values() -> None:
    for symbol, expected in (
        (od.sym.full((2, 2), 3), np.full((2, 2), 3.0)),
        (od.sym.arange(2, 8, 2), np.arange(2, 8, 2.0)),
        (od.sym.linspace(0, 1, 5), np.linspace(0, 1, 5)),
        (od.sym.eye(2, 3, 1), np.eye(2, 3, 1)),
    ):
        np.testing.assert_array_equal(symbol.eval()[0].asnumpy(), expected.astype(np.float32))
    np.testing.assert_array_equal(od.nd.linspace(0, 1, 5).asnumpy(), np.linspace(0, 1, 5))


def test_from_numpy_shares_memory_which_it_then_protects() -> None:
    x = np.arange(3, dtype=np.float32)
    shared, copied = od.nd.from_numpy(x), od.nd.from_numpy(x.copy(), zero_copy=False)
    shared += 1
    assert shared.asnumpy().tolist() == x.tolist() == [1, 2, 3]
    assert copied.asnumpy().tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="read-only"):
        x[0] = 9
    with pytest.raises(ArgumentError, match="not contiguous"):
        od.nd.from_numpy(np.ones((2, 3)).T)


def test_parts_hold_operators_by_prefix_and_list_them() -> None:
    assert od.nd.linalg.gemm2 is od.nd.linalg.gemm2
    assert "gemm2" in dir(od.nd.linalg)
    assert od.nd._internal._plus_scalar(od.nd.ones(1), scalar=2).asscalar() == 3
    assert od.sym.linalg.gemm2(od.sym.var("a"), od.sym.var("b")).list_arguments() == ["a", "b"]
    with pytest.raises(AttributeError, match="_contrib_nonsense"):
        _ = od.nd.contrib.nonsense


def test_operators_tell_their_arguments() -> None:
    told = od.operator.get_operator_arguments("Activation")
    assert told.names == ["data", "act_type"]
    assert told.types[1].endswith("required")
    assert "Activation" in od.operator.get_all_registered_operators()
