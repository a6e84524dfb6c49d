"""Symbol files that are written: what was said of a graph, as MXNet 1.x lays it out."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from core.tests.graph import networks
from core.tests.graph.operators import AddConst, Centre, Dense, Split, Tanh, apply, var
from operad.errors import GraphError
from operad.graph import Entry, Graph, gradient
from operad_serialization.write_json import to_json
from plugins.serialization.tests.test_read_json import load


@given(networks.networks())
def test_every_forward_graph_survives_a_round_trip(network):
    graph = Graph(network.outputs)
    text = to_json(graph)
    assert to_json(load(text)) == text
    assert [repr(node) for node in load(text).nodes] == [repr(node) for node in graph.nodes]


def test_what_was_said_is_written_and_nothing_else():
    inner = apply(AddConst, "inner", var("x"), attrs={"__color__": "red"}, scalar=1.0)
    nodes = json.loads(to_json(Graph([apply(AddConst, "outer", inner)])))["nodes"]
    assert [node.get("attrs") for node in nodes] == [None, {"scalar": "1.0", "__color__": "red"}, None]


def test_versions_count_the_updates_of_an_auxiliary_state():
    mean = var("mean")
    out = apply(Centre, "second", apply(Centre, "first", var("x"), mean), mean)
    nodes = {node["name"]: node["inputs"] for node in json.loads(to_json(Graph([out])))["nodes"]}
    assert nodes["first"] == [[0, 0, 0], [1, 0, 1]]
    assert nodes["second"] == [[2, 0, 0], [1, 0, 2]]


def test_row_pointers_count_hidden_outputs():
    document = json.loads(to_json(Graph([apply(Tanh, "t", apply(Split, "s", var("x")))])))
    assert document["node_row_ptr"] == [0, 1, 4, 5]


def test_control_dependencies_are_kept():
    x = var("x")
    first, second = apply(Tanh, "first", x), apply(Tanh, "second", x)
    second.node.control_deps.append(first.node)
    loaded = load(to_json(Graph([second])))
    assert [node.name for node in loaded.outputs[0].node.control_deps] == ["first"]


def test_backward_nodes_cannot_be_written():
    x = var("x")
    with pytest.raises(GraphError, match="cannot write 't_backward'"):
        to_json(Graph(gradient([apply(Tanh, "t", x)], [var("head")], [x])))


def test_a_shared_variable_is_one_node_after_loading():
    w = var("w")
    out = apply(Dense, "b", apply(Dense, "a", var("x"), w, hidden=4), w, hidden=4)
    loaded = load(to_json(Graph([out])))
    assert loaded.list_arguments() == ["x", "w"]
    assert loaded.op_nodes[0].args[1] == loaded.op_nodes[1].args[1] == Entry(loaded.arguments[1])
