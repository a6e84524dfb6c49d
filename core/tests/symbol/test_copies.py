"""Copies of symbols are made in memory; pickles by a plugin."""

from __future__ import annotations

import copy
import pickle
import warnings
from types import SimpleNamespace

import pytest

from operad import sym
from operad.symbol import AttrScope, NameManager, Symbol

pytestmark = pytest.mark.usefixtures("operators")


@pytest.fixture
def net():
    with NameManager(), AttrScope(ctx_group="dev1"):
        net = sym.Dense(sym.var("data", lr_mult=2), num_hidden=3, no_bias=True, name="fc1")
        net = sym.Centre(net, momentum=0.25, name="c")
        net = sym.Group([sym.SineCosine(net, name="sc")[1], net])
    net.entries[0].node.control_deps.append(net.entries[1].node)
    return net


def said(symbol):
    """Everything about the graph but which nodes it is made of."""
    nodes = symbol.graph.nodes
    number = {node: i for i, node in enumerate(nodes)}
    return (
        [(number[node], index) for node, index in symbol.entries],
        [
            (
                type(node), node.name, node.attrs, getattr(node, "op", None),
                [(number[other], index) for other, index in node.inputs],
                [number[other] for other in node.control_deps],
            )
            for node in nodes
        ],
    )  # fmt: skip


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copies_are_equal(net, copied):
    assert said(copied(net)) == said(net)


def test_a_deep_copy_shares_no_node(net):
    before = said(copy.deepcopy(net))
    again = copy.deepcopy(net)
    assert not set(again.graph.nodes) & set(net.graph.nodes)
    for internal in again.get_internals():
        internal.entries[0].node.attrs["__mark__"] = "1"
    assert said(net) == before


def test_a_deep_copy_of_nodes_of_one_name_keeps_their_names():
    net = sym.Group([sym.var("x"), sym.var("x")])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = copy.deepcopy(net)
    assert [entry.node.name for entry in again.entries] == ["x", "x"]
    assert again.entries[0].node is not again.entries[1].node


@pytest.fixture
def without_plugins(monkeypatch):
    monkeypatch.setattr("operad.registry.entries.find_attribute", lambda owner, name: None)
    monkeypatch.setattr("operad.registry.methods.find_attribute", lambda owner, name: None)


@pytest.mark.usefixtures("without_plugins")
def test_a_symbol_that_cannot_be_pickled_says_which_package_can(net):
    with pytest.raises(AttributeError, match=r"'tojson'.* pip install .*serialization"):
        pickle.dumps(net)


@pytest.mark.usefixtures("without_plugins")
def test_a_pickle_that_cannot_be_read_says_which_package_can():
    make, text = Symbol.__reduce__(SimpleNamespace(tojson=lambda: "{}"))
    with pytest.raises(AttributeError, match=r"'load_json'.* pip install .*serialization"):
        make(*text)
