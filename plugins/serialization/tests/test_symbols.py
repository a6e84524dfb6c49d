"""Symbols in files: what is written is read again, whatever the names."""

from __future__ import annotations

import json
import pickle

import pytest

from core.tests.frames import check_frames
from operad import nd, sym
from operad.errors import ArgumentError, FormatError, OperatorNotFoundError
from operad.operator import shape_meanings
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


def test_nodes_of_one_name_are_saved_under_names_that_address_both():
    net = sym.tanh(sym.tanh(sym.tanh(sym.var("x"), name="act_1"), name="act"), name="act")
    with pytest.warns(UserWarning, match="'act'"):
        inner = net.get_internals()
    with pytest.warns(UserWarning, match="'act'"):
        assert sym.load_json(net.tojson()).get_internals().list_outputs() == inner.list_outputs()


def test_files_of_deep_symbols_do_not_recurse():
    net = sym.var("x")
    for _ in range(5000):
        net = sym.tanh(net)
    assert len(sym.load_json(net.tojson()).get_internals()) == 5001


def test_files_say_which_lengths_are_unknown():
    before = shape_meanings.top
    shape_meanings.top = True, before[1]
    try:
        x = sym.var("x", shape=(-1, 0))
        assert json.loads(x.tojson())["attrs"]["is_np_shape"] == ["int", 1]
        assert sym.load_json(x.tojson()).infer_shape_partial()[0] == [(-1, 0)]
    finally:
        shape_meanings.top = before


FAILING = {
    "a file that is not there": lambda: nd.load("no such file"),
    "a symbol file that is not there": lambda: sym.load("no such file"),
    "no symbol file": lambda: sym.load_json("{"),
}


@pytest.mark.parametrize("call", FAILING.values(), ids=FAILING)
def test_an_error_is_of_the_tree_and_shows_at_most_two_frames_of_ours(call, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    check_frames(call, __file__)
