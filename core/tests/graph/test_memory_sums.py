"""Gradients that are added up in place: into a bound array, and in one buffer."""

from __future__ import annotations

import numpy as np
import pytest

from core.tests.graph import networks
from core.tests.graph.networks import many_uses
from core.tests.graph.operators import AddConst, Dense, Tanh, apply, evaluate, gradient_nodes, var
from core.tests.graph.planned import execute, planned
from operad.errors import GraphError
from operad.graph import Entry
from operad.graph.memory import plan_memory
from operad.op import OpReq

check_plan = pytest.importorskip("operad_passes", reason="it checks memory plans").check_plan


@pytest.mark.parametrize("uses", [1, 2, 5, 8, 12, 24])
def test_gradients_are_added_to_a_bound_array(uses):
    w = var("w")
    outputs = [apply(Dense, f"fc{i}", var(f"x{i}"), w, hidden=2) for i in range(uses)]
    network = networks.Network(
        outputs, [var(f"head{i}") for i in range(uses)], [w], {f"x{i}": (3, 4) for i in range(uses)}
    )
    (grad,) = network.gradients
    values = {name: np.round(4 * value) for name, value in network.values().items()}  # sums are exact
    fresh = evaluate(network.graph, network.shapes, network.types, values)[grad]
    plan = planned(network, requests={grad: OpReq.ADD})
    check_plan(plan)
    found = execute(plan, network.shapes, network.types, values, bound={grad: np.full((2, 4), 5, np.float32)})
    np.testing.assert_array_equal(found[grad], np.float32(5) + fresh)


def test_a_value_to_be_added_may_not_be_read_by_others():
    first = apply(AddConst, "first", var("x"))
    network = networks.Network([apply(Tanh, "t", first)], [None], [], {"x": (3,)})
    with pytest.raises(GraphError, match="'first_output' is to be added to an array"):
        planned(network, requests={first: OpReq.ADD})


def test_a_null_request_leaves_a_value_out_unless_others_read_it():
    first = apply(AddConst, "first", var("x"))
    out = apply(Tanh, "t", first)
    network = networks.Network([out], [None], [], {"x": (3,)})
    plan = plan_memory(
        network.graph, network.shapes, network.types, requests={out: OpReq.NULL, first: OpReq.NULL}
    )
    assert plan.request(out) is OpReq.NULL
    assert plan.request(first) is OpReq.WRITE
    assert set(plan.placement) == {first}


def test_many_gradients_are_added_in_one_buffer():
    trained = many_uses(24)
    outputs = [*trained.outputs, apply(Tanh, "top", trained.gradients[0])]
    network = networks.Network(outputs, [None] * 25, [], {"x": (4, 16)})
    plan = planned(network)
    check_plan(plan)
    nodes = set(gradient_nodes(network.graph))
    gradients = {entry for entry in plan.placement if entry.node in nodes}
    assert len(gradients) == 24
    assert len({plan.placement[entry] for entry in gradients}) == 1
    assert sorted(plan.request(entry).name for entry in gradients) == ["ADD"] * 23 + ["WRITE"]


@pytest.mark.parametrize("request_", [OpReq.WRITE, OpReq.ADD])
def test_gradients_of_a_bound_array_are_added_in_it(request_):
    network = many_uses(24)
    bound = dict.fromkeys(network.outputs, OpReq.WRITE) | {network.gradients[0]: request_}
    plan = plan_memory(network.graph, network.shapes, network.types, requests=bound)
    check_plan(plan)
    assert plan.planned_bytes == 0
    requests = [plan.request(Entry(node)) for node in gradient_nodes(network.graph)]
    assert requests == [request_] + [OpReq.ADD] * 23
