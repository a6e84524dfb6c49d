"""Operators as functions of symbols."""

from __future__ import annotations

import pytest

from core.tests.symbol.dense import dense
from operad import sym
from operad.errors import (
    ArgumentError,
    OperatorNotFoundError,
)

pytestmark = pytest.mark.usefixtures("operators")


def nodes_of(symbol):
    """What each node is and says."""
    return [(node, node.name, dict(node.attrs), list(node.inputs)) for node in symbol.graph.nodes]


class TestComposition:
    def test_missing_arguments_become_variables(self):
        net = sym.tanh(sym.Dense(sym.var("data"), num_hidden=3), name="out")
        assert net.list_arguments() == ["data", "dense0_weight", "dense0_bias"]
        assert net.list_outputs() == ["out_output"]
        assert net.name == "out"

    def test_states_become_variables_of_their_own_kind(self):
        net = sym.Centre(sym.var("x"), name="c")
        assert net.list_arguments() == ["x"]
        assert net.list_auxiliary_states() == ["c_mean"]
        assert net.list_inputs() == ["x", "c_mean"]

    def test_arguments_come_by_position_or_name(self):
        x, w, b = sym.var("x"), sym.var("w"), sym.var("b")
        for net in (
            sym.Dense(x, w, b, num_hidden=3),
            sym.Dense(bias=b, weight=w, data=x, num_hidden=3),
            sym.Dense([x, w, b], 3),
        ):
            assert net.list_arguments() == ["x", "w", "b"]

    def test_optional_arguments_follow_parameters(self):
        assert sym.Dense(sym.var("x"), num_hidden=3, no_bias=True, name="d").list_arguments() == [
            "x",
            "d_weight",
        ]

    def test_composing_leaves_the_parts_as_they_were(self):
        first = dense()
        before = nodes_of(first)
        sym.tanh(first)
        first(data=sym.var("other"), name="renamed")
        assert nodes_of(first) == before

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (lambda x: sym.tanh(x, x), "got 2 arguments, expected at most 1: data"),
            (lambda x: sym.tanh(x, data=x), "'data' is given by position and by name"),
            (lambda x: sym.tanh(y=x), "unknown argument 'y'; expected data"),
            (lambda x: sym.tanh(sym.SineCosine(x)), "got a symbol of 2 outputs.*sine.*by index"),
            (lambda x: sym.tanh(3), "neither a tensor nor one of its 0 parameters"),
            (lambda x: x + sym.SineCosine(x), "argument 'rhs' got a symbol of 2 outputs, expected one"),
        ],
    )
    def test_wrong_arguments_are_named(self, call, message):
        with pytest.raises(ArgumentError, match=message):
            call(sym.var("x"))

    def test_an_unknown_operator_gets_a_suggestion(self):
        with pytest.raises(OperatorNotFoundError, match="did you mean 'elemwise_add'"):
            sym.elemwise_addd(sym.var("x"), sym.var("y"))

    def test_a_variable_needs_a_string(self):
        with pytest.raises(ArgumentError, match="expected a string"):
            sym.var(3)
        with pytest.raises(ArgumentError, match="unknown argument 'shap'"):
            sym.var("x", shap=(2,))
