"""Files with graphs inside: a round trip, and what a wrong file is told."""

from __future__ import annotations

import json

import numpy as np
import pytest

import operad as od
from operad.errors import FormatError
from plugins.control_flow.tests.loops import draws, ran

x, s, w = (od.sym.var(name) for name in "xsw")
foreach = od.sym.contrib.foreach


def nested():
    """A loop in a branch in a loop, with a weight."""

    def body(row, t):
        inner = foreach(lambda y, u: (y * w + u, u + y), row, t)[0]
        made = od.sym.contrib.cond(od.sym.sum(row) > 0, lambda: inner * 2, lambda: inner - 1)
        return made, t * 0.5

    return od.sym.Group(list(foreach(body, x, s)))


def test_a_file_computes_what_the_symbol_does():
    symbol = nested()
    text = symbol.tojson()
    loaded = od.sym.load_json(text)
    assert loaded.tojson() == text
    values = {"x": draws(4, 3, 2), "s": draws(2), "w": draws(2)}
    for mine, its in zip(ran(symbol, values), ran(loaded, values), strict=True):
        np.testing.assert_equal(mine, its)


def changed(change):
    """Text of a loop's file after `change(node)`, where `node` is the record of the loop."""
    document = json.loads(foreach(lambda row, t: (row * w, t + row), x, s)[0].tojson())
    change(document["nodes"][-1])
    return json.dumps(document)


def parameter(**params):
    return lambda node: node["attrs"].update(params)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda node: node.update(subgraphs=[]), "_foreach has 0 subgraphs, expected 1"),
        (lambda node: node.update(subgraphs=node["subgraphs"] * 2), "_foreach has 2 subgraphs, expected 1"),
        (
            lambda node: node.update(subgraphs=[3]),
            "subgraph 0 of node '_foreach.* is int, expected an object",
        ),
        (
            lambda node: node["subgraphs"][0].update(nodes=[], arg_nodes=[], heads=[]),
            "node '_foreach.*: num_outputs|subgraph 0 of node '_foreach",
        ),
        (
            lambda node: node["subgraphs"][0]["nodes"][1].update(name="x-0"),
            "two inputs of a subgraph have one name",
        ),
        (lambda node: node["subgraphs"][0].update(heads=[[0, 0, 0], [4, 0, 0]]), "an input is an output"),
        (parameter(num_outputs="3"), "num_outputs is 3 and the body has 2 outputs, expected 2"),
        (parameter(num_args="1000000000"), "1000000000 and counts tensors, expected at most"),
        (parameter(in_data_locs="[7]"), "is .7, 2, 1., expected different numbers of 3 inputs"),
        (parameter(in_data_locs="[2]"), "is .2, 2, 1., expected different numbers of 3 inputs"),
        (parameter(in_data_locs="[]"), "expected as many of each, and data"),
    ],
)
def test_a_wrong_file_is_refused_and_the_place_named(change, message):
    with pytest.raises(FormatError, match=message):
        od.sym.load_json(changed(change))


def test_graphs_inside_each_other_without_end_are_refused():
    def depth(count):
        made = x, s
        body = lambda row, t: (row + t, t)  # noqa: E731 - the innermost of many
        for _ in range(count - 1):
            body = lambda row, t, inner=body: (foreach(inner, row, t)[0], t)  # noqa: E731
        return foreach(body, *made)[0].tojson()

    assert od.sym.load_json(depth(16)).list_arguments() == ["x", "s"]
    with pytest.raises(FormatError, match="_foreach stands inside 16 others, expected fewer"):
        od.sym.load_json(depth(17))
