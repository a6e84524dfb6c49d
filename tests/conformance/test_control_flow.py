"""Loops and branches compute what MXNet 1.9.1 does, from its files and from a program's symbols."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import operad as od
from tests.conformance.control_flow import record
from tests.conformance.control_flow.programs import PROGRAMS, run

RECORD = record.load()
each_program = pytest.mark.parametrize("name", PROGRAMS)


def made(name: str) -> tuple[Any, Any]:
    with od.name.NameManager():
        return PROGRAMS[name](od)


def check(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert found["arguments"] == expected["arguments"]
    for kind in ("outputs", "predicted"):
        for mine, its in zip(found[kind], expected[kind], strict=True):
            np.testing.assert_allclose(mine, its, rtol=1e-5, atol=1e-6)
    for argument, grad in expected["grads"].items():
        np.testing.assert_allclose(found["grads"][argument], grad, rtol=1e-5, atol=1e-5, err_msg=argument)


@each_program
def test_a_program_computes_what_mxnet_does(name: str) -> None:
    symbol, shapes = made(name)
    check(run(od, symbol, shapes), RECORD[name]["own"])


@each_program
def test_mxnets_file_computes_what_mxnet_does(name: str) -> None:
    _, shapes = made(name)
    check(run(od, od.sym.load_json(RECORD[name]["file"]), shapes), RECORD[name]["own"])


@each_program
def test_mxnet_computes_the_same_with_operads_file(name: str) -> None:
    symbol, _ = made(name)
    assert record.digest(symbol.tojson()) == RECORD[name]["digest"], "the file changed: record it again"
    check(RECORD[name]["other"], RECORD[name]["own"])


@each_program
def test_a_file_is_mxnets_but_for_numbers_in_words(name: str) -> None:
    symbol, _ = made(name)
    assert nodes(symbol.tojson()) == nodes(RECORD[name]["file"])


def nodes(text: str) -> list[Any]:
    """Nodes of a file: operator, inputs, subgraphs, and the parameters that say how these hang together."""
    return [_node(record) for record in json.loads(text)["nodes"]]


def _node(node: dict[str, Any]) -> tuple[Any, ...]:
    attrs = {
        key: value
        for key, value in node.get("attrs", {}).items()
        if key.endswith(("_locs", "_args", "out_data"))
    }
    inner = [[_node(each) for each in graph["nodes"]] for graph in node.get("subgraphs", [])]
    return node["op"], node["inputs"], attrs, inner
