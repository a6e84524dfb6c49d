"""Operators of Python between symbols and numbers."""

from __future__ import annotations

import numpy as np
import pytest

from operad import Symbol, nd, sym
from operad.errors import (
    ShapeError,
    UnsupportedError,
)
from operad.symbol import NameManager

pytestmark = pytest.mark.usefixtures("operators")


@pytest.fixture(autouse=True)
def fresh_names():
    with NameManager():
        yield


class TestArithmetic:
    def test_between_symbols_is_of_equal_shapes(self):
        a, b = sym.var("a"), sym.var("b")
        with pytest.raises(ShapeError):
            (a + b).infer_shape(a=(2, 3), b=(3,))
        (out,) = ((a + b) * a - b).eval(a=nd.array([3]), b=nd.array([4]))
        assert out.asscalar() == 17

    def test_scalars_stand_on_either_side(self):
        a = sym.var("a")
        for net in (10 - a * 2 - 1, np.float32(10) - np.float64(2) * a - 1):
            assert isinstance(net, Symbol)
            assert net.eval(a=nd.array([3]))[0].asscalar() == 3
        assert (-a).eval(a=nd.array([3]))[0].asscalar() == -3

    def test_automatic_names_are_mxnets(self):
        a, b = sym.var("a"), sym.var("b")
        names = [net.name for net in (a + b, a - b, a * b, a + 1, 1 - a, a * 2, -a, a == b, a > 1, a + b)]
        assert names == ["_plus0", "_minus0", "_mul0", "_plusscalar0", "_rminusscalar0", "_mulscalar0",
                         "_mulscalar1", "_equal0", "_greater_scalar0", "_plus1"]  # fmt: skip

    def test_a_symbol_is_neither_true_nor_false(self):
        with pytest.raises(UnsupportedError, match="truth value"):
            bool(sym.var("a") == sym.var("b"))

    def test_what_is_no_number_is_a_type_error(self):
        for other in ("x", None, 1j):
            with pytest.raises(TypeError):
                sym.var("a") + other
