"""States that stand among the arguments have their place in a file."""

from __future__ import annotations

import json

import numpy as np

import operad as od
from core.tests.op.test_input_order import DATA, MEAN, RATE, expected, installed  # noqa: F401 - a fixture


def test_a_file_keeps_the_place_of_a_state():
    made = od.sym.state_between(*map(od.sym.var, "dmr"), name="step")
    record = json.loads(made.tojson())
    names = [node["name"] for node in record["nodes"]]
    assert [names[node] for node, *_ in record["nodes"][-1]["inputs"]] == ["d", "m", "r"]
    symbol = od.sym.load_json(made.tojson())
    assert (symbol.list_arguments(), symbol.list_auxiliary_states()) == (["d", "r"], ["m"])
    mean = od.nd.array(MEAN)
    executor = symbol.bind(od.cpu(), {"d": od.nd.array(DATA), "r": od.nd.array(RATE)}, aux_states={"m": mean})
    np.testing.assert_array_equal(executor.forward()[0].asnumpy(), expected()[0])
    np.testing.assert_array_equal(mean.asnumpy(), expected()[1])
