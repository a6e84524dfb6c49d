"""Symbols: composition, names, inference, files."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from core.tests.symbol.dense import dense
from operad import nd, sym
from operad.errors import (
    ArgumentError,
    DTypeError,
    GraphError,
    OperadError,
    ShapeError,
)

pytestmark = pytest.mark.usefixtures("operators")


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
        assert (args, outs) == ([(0, 5), (3, 5), (3,)], [(0, 3)])
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

    def test_a_clash_raises(self):
        with pytest.raises(DTypeError, match="Dense 'fc1'"):
            dense().infer_type(data="float64", fc1_weight="float32")


@pytest.mark.parametrize("name", [3, b"x", sym])
def test_a_name_is_a_string(name):
    with pytest.raises(TypeError, match=r"the name is .* expected a string"):
        sym.tanh(sym.var("x"), name=name)


def test_repr_names_the_symbol_or_its_outputs():
    assert repr(dense()) == "<Symbol fc1>"
    assert repr(sym.Group([dense(), sym.var("x")])) == "<Symbol group [fc1, x]>"


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
    with pytest.raises(AttributeError, match=r"a symbol has no values.*bind it"):
        _ = x.asnumpy
