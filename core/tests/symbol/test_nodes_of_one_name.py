"""Nodes of one name are told apart."""

from __future__ import annotations

import pytest

from operad import nd, sym
from operad.errors import BindError

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

    def test_that_are_variables_are_listed_under_a_number(self):
        with pytest.warns(UserWarning, match="two nodes are called 'x'.*'x_1'"):
            assert self.variables().list_arguments() == ["x", "x_1"]

    @pytest.mark.parametrize(
        ("what", "bound"),
        [
            ("simple_bind", lambda net: net.simple_bind(x=(1,), x_1=(1,))),
            ("bind", lambda net: net.bind(None, {"x": nd.ones(1), "x_1": nd.ones(1)})),
            ("bind", lambda net: net.bind(None, [nd.ones(1), nd.ones(1)])),
            ("bind", lambda net: net.eval(x=nd.ones(1), x_1=nd.ones(1))),
        ],
    )
    def test_that_are_variables_are_not_bound(self, what, bound):
        with pytest.raises(BindError, match=f"{what}: two arguments are called 'x', .*rename one"):
            bound(self.variables())

    def test_that_are_operators_are_bound(self):
        with pytest.warns(UserWarning, match="'act'"):
            (output,) = self.operators().eval(x=nd.array([0.0]))
        assert output.asscalar() == 0

    def test_that_is_one_variable_is_bound_to_one_array(self):
        x = sym.var("x")
        assert sym.Group([x, sym.tanh(x, name="x")]).simple_bind(x=(1,)).arg_dict.keys() == {"x"}

    def test_are_replaced_each_by_its_own_symbol(self):
        with pytest.warns(UserWarning, match="'x'"):
            net = self.variables()(x_1=sym.var("y"))
        assert net.list_arguments() == ["x", "y"]

    def test_an_operator_may_have_the_name_of_a_variable(self):
        net = sym.tanh(sym.var("x"), name="x")
        assert (net.list_arguments(), net.list_outputs()) == (["x"], ["x_output"])
