"""Nodes of one name are told apart."""

from __future__ import annotations

import pytest

from operad import nd, sym

pytestmark = pytest.mark.usefixtures("operators")


class TestNodesOfOneName:
    def operators(self):
        return sym.tanh(sym.tanh(sym.tanh(sym.var("x"), name="act_1"), name="act"), name="act")

    def variables(self):
        return sym.Group([sym.var("x"), sym.tanh(sym.var("x"), name="x")])

    def test_are_listed_under_names_that_address_both(self):
        net = self.operators()
        with pytest.warns(UserWarning, match="two nodes are called 'act'.*'act_2'"):
            inner = net.get_internals()
        assert inner.list_outputs() == ["x", "act_1_output", "act_output", "act_2_output"]
        assert inner["act_2_output"].name == "act_2"

    def test_are_bound_each_to_its_own_array(self):
        net = self.variables()
        with pytest.warns(UserWarning, match="two nodes are called 'x'.*'x_1'"):
            assert net.list_arguments() == ["x", "x_1"]
        with pytest.warns(UserWarning, match="'x'"):
            first, second = net.eval(x=nd.array([1.0]), x_1=nd.array([0.0]))
        assert (first.asscalar(), second.asscalar()) == (1.0, 0.0)

    def test_are_replaced_each_by_its_own_symbol(self):
        with pytest.warns(UserWarning, match="'x'"):
            net = self.variables()(x_1=sym.var("y"))
        assert net.list_arguments() == ["x", "y"]

    def test_an_operator_may_have_the_name_of_a_variable(self):
        net = sym.tanh(sym.var("x"), name="x")
        assert (net.list_arguments(), net.list_outputs()) == (["x"], ["x_output"])
