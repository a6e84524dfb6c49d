"""Nodes of one name are distinguished."""

from __future__ import annotations

import pytest

from core.tests.symbol.dense import dense
from operad import nd, sym
from operad.errors import (
    ArgumentError,
    BindError,
)

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


class TestCall:
    def test_replaces_arguments_by_position_or_name(self):
        net = sym.tanh(dense())
        inner = sym.square(sym.var("raw"), name="sq")
        assert net(inner).list_arguments() == ["raw", "fc1_weight", "fc1_bias"]
        assert net(fc1_bias=inner).list_arguments() == ["data", "fc1_weight", "raw"]

    def test_computes_the_composition(self):
        net = sym.var("x") * sym.var("y")
        (out,) = net(x=sym.var("a") + 1).eval(a=nd.array([2]), y=nd.array([5]))
        assert out.asscalar() == 15

    def test_of_a_variable_is_its_replacement(self):
        assert sym.var("x")(x=dense()).list_outputs() == ["fc1_output"]

    def test_may_rename(self):
        assert dense()(sym.var("other"), name="new").list_outputs() == ["new_output"]
        assert dense()(name="new").list_outputs() == ["new_output"]

    def test_refuses_what_it_has_no_place_for(self):
        with pytest.raises(ArgumentError, match="unknown argument 'x'; expected data, fc1_weight, fc1_bias"):
            dense()(x=sym.var("y"))
        with pytest.raises(
            ArgumentError, match="got 4 arguments, expected at most 3: data, fc1_weight, fc1_bias"
        ):
            dense()(*map(sym.var, "abcd"))
        with pytest.raises(ArgumentError, match="2 outputs, expected one"):
            dense()(sym.SineCosine(sym.var("x")))
        with pytest.raises(ArgumentError, match="'data' is given by position and by name"):
            dense()(sym.var("x"), data=sym.var("y"))

    @pytest.mark.parametrize("value", [3, nd.array([1])])
    def test_takes_symbols_only(self, value):
        for call in (lambda: dense()(value), lambda: dense()(fc1_bias=value)):
            with pytest.raises(ArgumentError, match="expected a symbol"):
                call()

    def test_keeps_control_dependencies(self):
        x, first = sym.var("x"), sym.tanh(sym.var("w"), name="first")
        net = sym.square(x, name="second")
        net.entries[0].node.control_deps.append(first.entries[0].node)
        order = ["a", "b", "first", "second"]
        for copied in (net(x=sym.var("a"), w=sym.var("b")), net(sym.var("a"), sym.var("b"), name="second")):
            assert [node.name for node in copied.graph.nodes] == order
