"""Symbols in files: what is written is read again, whatever the names."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

from operad import nd, sym
from operad.errors import (
    ArgumentError,
    FormatError,
    OperatorNotFoundError,
)
from operad.symbol import AttrScope, NameManager

pytestmark = pytest.mark.usefixtures("operators")


@pytest.fixture(autouse=True)
def fresh_names():
    with NameManager():
        yield


class TestFiles:
    def build(self):
        with AttrScope(ctx_group="dev1"):
            net = sym.Dense(sym.var("data", lr_mult=2), num_hidden=3, no_bias=True, name="fc1")
        net = sym.Centre(net, momentum=0.25, name="c")
        return sym.Group([sym.SineCosine(net, name="sc")[1], net])

    @pytest.mark.parametrize(
        "copied",
        [
            lambda s: sym.load_json(s.tojson()),
            lambda s: pickle.loads(pickle.dumps(s)),
            copy.copy,
            copy.deepcopy,
        ],
    )
    def test_round_trips_keep_everything(self, copied):
        net = self.build()
        again = copied(net)
        assert again.tojson() == net.tojson()
        assert again.list_arguments() == net.list_arguments()
        assert again.list_auxiliary_states() == ["c_mean"]
        assert again.list_outputs() == ["sc_cosine", "c_output"]
        assert again.attr_dict() == net.attr_dict()

    def test_are_written_whole_and_read_back(self, tmp_path):
        net = self.build()
        net.save(tmp_path / "net-symbol.json")
        assert sym.load(str(tmp_path / "net-symbol.json")).tojson() == net.tojson()
        assert json.loads((tmp_path / "net-symbol.json").read_text())["attrs"]["mxnet_version"] == [
            "int",
            10901,
        ]

    @pytest.mark.parametrize("text", ["", "[]", "{", '{"nodes": []}', '{"nodes": [{}], "heads": []}', "\0"])
    def test_that_are_none_are_refused(self, text):
        with pytest.raises(FormatError):
            sym.load_json(text)

    @pytest.mark.parametrize("content", [b"\xff\xfe\x80", b"{", b"{}", b'{"nodes": [5], "heads": []}'])
    def test_that_are_none_are_refused_with_the_files_name(self, tmp_path, content):
        path = tmp_path / "net-symbol.json"
        path.write_bytes(content)
        with pytest.raises(FormatError, match=r"symbol file '.*net-symbol\.json'"):
            sym.load(path)

    def test_that_are_no_text_are_refused(self):
        with pytest.raises(ArgumentError, match="the symbol file: got int, expected text"):
            sym.load_json(5)

    def test_of_operators_that_are_missing_name_them(self):
        text = self.build().tojson().replace('"SineCosine"', '"SineCosineTangent"')
        with pytest.raises(OperatorNotFoundError, match="SineCosineTangent"):
            sym.load_json(text)


class TestNodesOfOneName:
    def operators(self):
        return sym.tanh(sym.tanh(sym.tanh(sym.var("x"), name="act_1"), name="act"), name="act")

    def variables(self):
        return sym.Group([sym.var("x"), sym.tanh(sym.var("x"), name="x")])

    def test_are_listed_and_saved_under_names_that_address_both(self):
        net = self.operators()
        with pytest.warns(UserWarning, match="two nodes are called 'act'.*'act_2'"):
            inner = net.get_internals()
        assert inner.list_outputs() == ["x", "act_1_output", "act_output", "act_2_output"]
        assert inner["act_2_output"].name == "act_2"
        with pytest.warns(UserWarning, match="'act'"):
            assert sym.load_json(net.tojson()).get_internals().list_outputs() == inner.list_outputs()

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
