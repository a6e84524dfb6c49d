"""Attributes of symbols, and scopes that give them."""

from __future__ import annotations

import pytest

from core.tests.symbol.dense import dense
from operad import sym
from operad.errors import (
    GraphError,
)
from operad.symbol import AttrScope

pytestmark = pytest.mark.usefixtures("operators")


def attributes(symbol):
    """Those of the node behind a symbol."""
    node = symbol.entries[0].node
    return symbol.attr_dict().get(node.name, {})


class TestAttributes:
    def test_are_strings_on_variables_and_operators(self):
        x = sym.var("x", lr_mult=2.5, attr={"__color__": "red"}, __size__="big")
        net = sym.tanh(x, attr={"ctx_group": "dev1"}, name="t")
        assert x.attr("lr_mult") == x.attr("__lr_mult__") == "2.5"
        assert (x.attr("__color__"), x.attr("__size__"), x.attr("nothing")) == ("red", "big", None)
        assert net.attr("__ctx_group__") == "dev1"

    @pytest.mark.parametrize(
        ("attr", "message"),
        [
            ({"__color__": 3}, "'__color__' is 3, expected a string"),
            ({"color": "red"}, "call it '__color__'"),
            ({"no_bias": "True"}, "call it '__no_bias__'"),
            ({"weight_lr_mult": "2"}, "call it '__weight_lr_mult__'"),
        ],
    )
    def test_of_an_operator_that_mxnet_takes_for_parameters_are_refused(self, attr, message):
        with pytest.raises(GraphError, match=message):
            dense(attr=attr)
        with pytest.raises(GraphError, match=message), AttrScope(**attr):
            dense()

    def test_of_variables_are_strings_too(self):
        assert sym.var("x", __size__=3).attr("__size__") == "3"
        with pytest.raises(GraphError, match="expected a string"):
            sym.var("x", attr={"color": 3})

    def test_lists_mirror_known_ones_and_show_the_parameters_that_were_given(self):
        net = dense(weight=sym.var("w", wd_mult=0.5))
        assert attributes(net) == {"num_hidden": "3"}
        assert (net.attr("num_hidden"), net.attr("no_bias")) == ("3", None)
        assert net.attr_dict()["w"] == {"__wd_mult__": "0.5", "wd_mult": "0.5"}

    def test_of_a_call_reach_the_node_and_its_automatic_variables(self):
        net = dense(lr_mult=0, wd_mult=2, __color__="red")
        expected = {"num_hidden": "3", "__lr_mult__": "0", "__wd_mult__": "2", "__color__": "red"}
        expected |= {"lr_mult": "0", "wd_mult": "2"}
        assert net.attr_dict() == {
            "fc1_weight": expected, "fc1_bias": expected, "fc1": expected
        }  # fmt: skip

    def test_a_scalar_is_said_even_where_it_is_the_default(self):
        assert attributes(sym.var("x") + 1.0) == {"scalar": "1.0"}

    def test_a_parameter_is_said_as_it_was_given(self):
        assert attributes(sym.var("x") + 1) == {"scalar": "1"}

    def test_a_type_is_written_as_its_number(self):
        assert sym.var("x", dtype="int32").attr("__dtype__") == "4"

    def test_scopes_nest_and_reach_automatic_variables(self):
        with AttrScope(ctx_group="a", __color__="red"):
            with AttrScope(ctx_group="b"):
                inner = sym.tanh(sym.var("x"), name="in")
            outer = dense("out")
        outside = sym.tanh(sym.var("z"), name="free")
        assert (inner.attr("ctx_group"), inner.attr("__color__")) == ("b", "red")
        assert outer.attr("ctx_group") == "a"
        assert outer.attr_dict()["out_weight"]["__ctx_group__"] == "a"
        assert attributes(outside) == {}
