from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import operad as od
from operad_check.testing import check_forward

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "lesser": np.less,
    "lesser_equal": np.less_equal,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
}


@pytest.mark.walk
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "uint8", "bool"])
def test_gives_one_or_zero_in_the_arrays_type(name: str, dtype: str) -> None:
    lhs, rhs = np.array([[0], [1], [2]]).astype(dtype), np.array([[0, 1, 2, 0]]).astype(dtype)
    op = getattr(od.nd, f"broadcast_{name}").operator
    (output,) = check_forward(op, [lhs, rhs], FUNCTIONS[name](lhs, rhs).astype(dtype))
    assert output.dtype == dtype


@pytest.mark.parametrize("name", FUNCTIONS)
def test_has_no_gradient(name: str) -> None:
    assert getattr(od.nd, f"broadcast_{name}").operator().differentiable_inputs() == [False, False]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_runs_imperatively_and_symbolically(name: str) -> None:
    arrays = {"lhs": od.nd.array([[0], [1]]), "rhs": od.nd.array([1, 2, 0])}
    eager = getattr(od.nd, f"broadcast_{name}")(**arrays).asnumpy()
    symbol = getattr(od.sym, f"broadcast_{name}")(*map(od.sym.var, arrays))
    np.testing.assert_array_equal(symbol.bind(od.cpu(), arrays).forward()[0].asnumpy(), eager)
