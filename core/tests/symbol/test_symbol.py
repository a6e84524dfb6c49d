"""Symbols: composition, names, inference, files."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from operad import nd, sym
from operad.errors import (
    ArgumentError,
    DTypeError,
    GraphError,
    OperadError,
    OperatorNotFoundError,
    ShapeError,
)
from operad.symbol import AttrScope, NameManager

pytestmark = pytest.mark.usefixtures("operators")


@pytest.fixture(autouse=True)
def fresh_names():
    with NameManager():
        yield


def dense(name="fc1", **inputs):
    return sym.Dense(**{"data": sym.var("data"), **inputs}, num_hidden=3, name=name)


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


class TestOutputs:
    def test_hidden_ones_do_not_show(self):
        both = sym.SineCosine(sym.var("x"), name="sc")
        assert len(both) == 2
        assert both.list_outputs() == ["sc_sine", "sc_cosine"]
        assert both.get_internals().list_outputs() == ["x", "sc_sine", "sc_cosine"]

    def test_are_chosen_by_number_name_or_slice(self):
        both = sym.SineCosine(sym.var("x"), name="sc")
        assert (
            both[1].list_outputs()
            == both[-1].list_outputs()
            == both["sc_cosine"].list_outputs()
            == ["sc_cosine"]
        )
        assert both[:1].list_outputs() == ["sc_sine"]
        assert [one.list_outputs() for one in both] == [["sc_sine"], ["sc_cosine"]]

    @pytest.mark.parametrize(
        ("key", "kind", "message"),
        [
            (2, IndexError, "output 2"),
            (-3, IndexError, "output -3"),
            ("no", GraphError, "no output is called 'no'"),
            (slice(2, None), IndexError, "no output in slice"),
        ],
    )
    def test_that_do_not_exist_are_refused(self, key, kind, message):
        with pytest.raises(kind, match=message) as caught:
            sym.SineCosine(sym.var("x"))[key]
        assert isinstance(caught.value, OperadError)

    def test_group_and_internals(self):
        net = sym.tanh(dense(), name="act")
        inner = net.get_internals()
        assert inner.list_outputs() == ["data", "fc1_weight", "fc1_bias", "fc1_output", "act_output"]
        group = sym.Group([inner["fc1_output"], net])
        assert group.list_outputs() == ["fc1_output", "act_output"]
        assert group.name is None
        with pytest.raises(ArgumentError, match="Group"):
            sym.Group([])

    def test_an_ambiguous_name_is_refused(self):
        net = dense()
        with pytest.raises(GraphError, match="2 outputs are called"):
            sym.Group([net, net])["fc1_output"]

    def test_children_are_the_direct_inputs(self):
        net = sym.tanh(dense(), name="act")
        assert net.get_children().list_outputs() == ["fc1_output"]
        assert net.get_children().get_children().list_outputs() == ["data", "fc1_weight", "fc1_bias"]
        assert sym.var("x").get_children() is None


class TestInferShape:
    def test_goes_both_ways(self):
        args, outs, aux = sym.Centre(dense(), name="c").infer_shape(data=(8, 5))
        assert (args, outs, aux) == ([(8, 5), (3, 5), (3,)], [(8, 3)], [(3,)])
        args, outs, _ = dense().infer_shape(data=(8, 0), fc1_weight=(3, 5))
        assert (args[0], outs) == ((8, 5), [(8, 3)])

    def test_by_position_skips_none(self):
        assert dense().infer_shape((8, 5), None, (3,))[1] == [(8, 3)]

    def test_that_stays_incomplete_gives_nothing(self):
        assert dense().infer_shape() == (None, None, None)
        assert dense().infer_shape(data=(0, 5)) == (None, None, None)

    def test_partially_gives_what_is_known(self):
        args, outs, _ = dense().infer_shape_partial(data=(0, 5))
        assert (args, outs) == ([(None, 5), (3, 5), (3,)], [(None, 3)])
        assert sym.tanh(sym.var("x")).infer_shape_partial() == ([()], [()], [])

    def test_a_clash_raises_even_where_no_output_needs_it(self):
        inner = dense()
        with pytest.raises(ShapeError, match="Dense 'fc1': weight has shape"):
            sym.tanh(inner).infer_shape(data=(8, 5), fc1_weight=(3, 4))
        with pytest.raises(ShapeError, match="Dense 'fc1'"):
            inner.infer_shape_partial(fc1_weight=(4, 0))

    def test_attributes_of_variables_count(self):
        assert dense(data=sym.var("x", shape=(8, 5))).infer_shape()[1] == [(8, 3)]

    @pytest.mark.parametrize("shape", [(2.5, 3), "ab", 2.5])
    def test_refuses_axes_that_are_no_integers(self, shape):
        for call in (dense().infer_shape, dense().simple_bind):
            with pytest.raises(ShapeError, match="expected integers"):
                call(data=shape)
        with pytest.raises(ShapeError, match="expected integers"):
            sym.var("x", shape=shape)

    @pytest.mark.parametrize(
        ("args", "named", "message"),
        [
            ([(8, 5)], {"fc1_bias": (3,)}, "not both"),
            ([], {"x": (1,)}, "unknown argument 'x'; expected data"),
            ([(1, 1)] * 4, {}, "got 4 arguments, expected at most 3"),
        ],
    )
    def test_refuses_names_it_does_not_have(self, args, named, message):
        with pytest.raises(ArgumentError, match=message):
            dense().infer_shape(*args, **named)


class TestInferType:
    def test_gives_dtypes_or_nothing(self):
        args, outs, _ = sym.Cast(dense(), dtype="float16").infer_type(data="float64")
        assert ([t.name for t in args], [t.name for t in outs]) == (["float64"] * 3, ["float16"])
        assert dense().infer_type() == (None, None, None)
        both = sym.Group([sym.tanh(sym.var("x")), sym.tanh(sym.var("y"))])
        assert both.infer_type_partial(x="float64") == (["float64", None], ["float64", None], [])

    def test_a_clash_raises(self):
        with pytest.raises(DTypeError, match="Dense 'fc1'"):
            dense().infer_type(data="float64", fc1_weight="float32")


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
        with pytest.raises(GraphError, match=message):
            dense()._set_attr(**attr)
        with pytest.raises(GraphError, match=message), AttrScope(**attr):
            dense()

    def test_of_variables_are_strings_too(self):
        assert sym.var("x", __size__=3).attr("__size__") == "3"
        with pytest.raises(GraphError, match="expected a string"):
            sym.var("x", attr={"color": 3})

    def test_lists_mirror_known_ones_and_show_the_parameters_that_were_given(self):
        net = dense(weight=sym.var("w", wd_mult=0.5))
        assert net.list_attr() == {"num_hidden": "3"}
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
        assert (sym.var("x") + 1).list_attr() == {"scalar": "1.0"}

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
        assert outside.list_attr() == {}


@pytest.mark.parametrize("name", [3, b"x", sym])
def test_a_name_is_a_string(name):
    with pytest.raises(TypeError, match=r"the name is .* expected a string"):
        sym.tanh(sym.var("x"), name=name)


def test_repr_names_the_symbol_or_its_outputs():
    assert repr(dense()) == "<Symbol fc1>"
    assert repr(sym.Group([dense(), sym.var("x")])) == "<Symbol group [fc1_output, x]>"


def test_deep_symbols_do_not_recurse():
    net = sym.var("x")
    for _ in range(5000):
        net = sym.tanh(net)
    assert net.list_arguments() == ["x"]
    assert net.infer_shape(x=(2,))[1] == [(2,)]
    assert len(copy.deepcopy(net).get_internals()) == 5001
    assert len(net(x=sym.var("y")).get_internals()) == 5001
    exe = net.simple_bind(x=(2,))
    exe.forward(is_train=True, x=[1, 2])
    exe.backward(nd.array([1, 1]))
    assert exe.grad_dict["x"].asnumpy().all()


def test_operators_are_methods() -> None:
    x = sym.var("x", shape=(2, 3))
    assert x.tanh(name="act").list_outputs() == ["act_output"]
    assert x.astype("float16").infer_type(x="float32")[1] == [np.dtype("float16")]
    with pytest.raises(AttributeError, match="works on arrays"):
        _ = x.asnumpy
